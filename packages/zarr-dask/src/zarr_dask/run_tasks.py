"""Run tasks with a cluster, an executor or a scheduler of Dask."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Executor, wait
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.messages import log

from zarr_dask import _dask

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 3
"""The number of tasks per thread that are submitted in advance."""


def run_tasks(
    where: Any,
    work: Callable[[T], R],
    tasks: Iterable[T],
    done: Callable[[T, R], object],
    retries: int,
) -> None:
    """Run all tasks in any order, with a limited number at a time; call ``done`` with each result.

    ``where`` is a client of ``distributed``, an executor of ``concurrent.futures`` or the name of a
    scheduler of Dask; None for the current client or, without one, the configured scheduler.
    ``work`` may be called more than once for a task, up to ``retries`` times after it failed or its
    worker was lost.  The error of the last one is raised.
    """
    client = _dask.current_client() if where is None else where
    results: Generator[tuple[T, R], None, None]
    if _dask.is_client(client):
        results = _on_cluster(client, work, iter(tasks), retries)
    elif isinstance(where, Executor):
        results = _on_executor(where, Retry(work, retries), iter(tasks))
    elif where is None or isinstance(where, str):
        results = _on_scheduler(where, Retry(work, retries), iter(tasks))
    else:
        raise TypeError(
            "client must be a client of distributed, an executor of concurrent.futures, the name of "
            f"a scheduler of Dask or None, not {where!r}"
        )
    with closing(results):
        for task, result in results:
            done(task, result)


def _on_cluster(
    client: Any, work: Callable[[T], R], tasks: Iterator[T], retries: int
) -> Generator[tuple[T, R], None, None]:
    _dask.check_picklable(work)
    pending: dict[Any, tuple[T, int]] = {}
    finished = _dask.as_completed(client)

    def submit(task: T, left: int) -> None:
        future = client.submit(work, task, pure=False, retries=retries)
        pending[future] = (task, left)
        finished.add(future)

    try:
        while True:
            room = max(1, _AHEAD * sum(client.nthreads().values())) - len(pending)
            for task in islice(tasks, max(0, room)):
                submit(task, retries)
            if not pending:
                return
            for future in finished.next_batch():
                task, left = pending.pop(future)
                if left and _dask.was_lost(future):
                    submit(task, left - 1)
                else:
                    yield task, future.result()
    finally:
        client.cancel(list(pending))


def _on_executor(
    executor: Executor, work: Callable[[T], R], tasks: Iterator[T]
) -> Generator[tuple[T, R], None, None]:
    room = _AHEAD * int(getattr(executor, "_max_workers", None) or 8)
    pending: dict[Any, T] = {}
    try:
        while True:
            for task in islice(tasks, max(0, room - len(pending))):
                pending[executor.submit(work, task)] = task
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                yield pending.pop(future), future.result()
    finally:
        for future in pending:
            future.cancel()
        wait(pending)


def _on_scheduler(
    name: str | None, work: Callable[[T], R], tasks: Iterator[T]
) -> Generator[tuple[T, R], None, None]:
    while batch := list(islice(tasks, _dask.BATCH)):
        yield from zip(batch, _dask.compute(work, batch, name), strict=True)


class Retry:
    """A function that is called again if it fails."""

    def __init__(self, work: Callable[[Any], Any], retries: int) -> None:
        self._work = work
        self._retries = retries

    def __call__(self, task: Any) -> Any:
        for left in reversed(range(self._retries + 1)):
            try:
                return self._work(task)
            except Exception as error:
                if not left:
                    raise
                log("retries", "%s failed (%s); repeating the task", task, error)
        return None
