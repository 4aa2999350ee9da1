"""Tasks given to whoever works: a cluster, an executor, one of Dask's schedulers."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Executor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_dask import _dask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 3
"""Tasks for each thread that are given out before earlier ones are done."""


def run(
    where: Any,
    work: Callable[[T], R],
    tasks: Iterable[T],
    done: Callable[[T, R], object],
    retries: int,
) -> None:
    """Have every task done, in any order, a few at a time.

    Parameters
    ----------
    where : Client, Executor, str or None
        A client of ``distributed``, an executor of ``concurrent.futures``, the name of one of
        Dask's schedulers; None for the client that is in use, if there is one, or else what
        Dask is set to.
    work : callable
        Does one.  May be called for a task more than once.
    tasks : iterable
        Taken as late as possible.
    done : callable
        Called with each task and its result, from this thread.
    retries : int
        How often a task that failed, or whose worker was lost, is tried again.

    Raises
    ------
    Exception
        What a task failed with, in the end.
    """
    client = _dask.current_client() if where is None else where
    if _dask.is_client(client):
        _on_cluster(client, work, iter(tasks), done, retries)
    elif isinstance(where, Executor):
        _on_executor(where, work, iter(tasks), done, retries)
    elif where is None or isinstance(where, str):
        _on_scheduler(where, work, iter(tasks), done, retries)
    else:
        raise TypeError(
            "client is a client of distributed, an executor of concurrent.futures, the name of a "
            f"scheduler of Dask or None, not {where!r}"
        )


def _on_cluster(
    client: Any,
    work: Callable[[T], R],
    tasks: Iterator[T],
    done: Callable[[T, R], object],
    retries: int,
) -> None:
    _dask.check_travels(work)
    under_way: dict[Any, tuple[T, int]] = {}
    finished = _dask.as_completed(client)

    def give(task: T, left: int) -> None:
        future = client.submit(work, task, pure=False, retries=retries)
        under_way[future] = (task, left)
        finished.add(future)

    try:
        while True:
            room = max(1, _AHEAD * sum(client.nthreads().values())) - len(under_way)
            for task in islice(tasks, max(0, room)):
                give(task, retries)
            if not under_way:
                return
            for future in finished.next_batch():
                task, left = under_way.pop(future)
                if left and _dask.was_lost(future):
                    give(task, left - 1)
                else:
                    done(task, future.result())
    finally:
        client.cancel(list(under_way))


def _on_executor(
    executor: Executor,
    work: Callable[[T], R],
    tasks: Iterator[T],
    done: Callable[[T, R], object],
    retries: int,
) -> None:
    again = Again(work, retries)
    room = _AHEAD * int(getattr(executor, "_max_workers", None) or 8)
    under_way: dict[Any, T] = {}
    try:
        while True:
            for task in islice(tasks, max(0, room - len(under_way))):
                under_way[executor.submit(again, task)] = task
            if not under_way:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                done(under_way.pop(future), future.result())
    finally:
        for future in under_way:
            future.cancel()
        wait(under_way)


def _on_scheduler(
    name: str | None,
    work: Callable[[T], R],
    tasks: Iterator[T],
    done: Callable[[T, R], object],
    retries: int,
) -> None:
    again = Again(work, retries)
    while batch := deque(islice(tasks, _dask.BATCH)):
        for task, result in zip(batch, _dask.compute(again, batch, name), strict=True):
            done(task, result)


class Again:
    """Work that is tried again if it fails.

    Parameters
    ----------
    work : callable
        What to do with a task.
    retries : int
        How often again.
    """

    def __init__(self, work: Callable[[Any], Any], retries: int) -> None:
        self._work = work
        self._retries = retries

    def __call__(self, task: Any) -> Any:
        for left in reversed(range(self._retries + 1)):
            try:
                return self._work(task)
            except Exception:
                if not left:
                    raise
        return None
