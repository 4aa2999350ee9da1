"""Parallel loops: threads take tasks from a common iterator, without a future per task."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from itertools import chain, islice
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from zarr_core.config import config
from zarr_core.thread_pool import MAX_THREADS, Job, submit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.errors import StoreError

T = TypeVar("T")
R = TypeVar("R")

_TRIALS = 4  # timed tasks
MAX_UNCONFIRMED = 1_000_000  # keys that are collected; a call may write more than fit into memory
_ROUNDS = 16  # of max_concurrency tasks, after which concurrent_map returns results


class _Local(threading.local):
    sharing = 0
    """Number of threads that share the work of this thread; 0 if it has none."""


_local = _Local()


def thread_count() -> int:
    """Return the number of threads for one call, including the calling thread; at least 1."""
    count = config.settings.threads
    if count is None:
        affinity = getattr(os, "sched_getaffinity", None)
        count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, count)


def available_threads() -> int:
    """Return the number of threads that a call of this thread may use now; at least 1.

    1 if this thread already shares the work of another call.
    """
    return 1 if _local.sharing or config.settings.threads in (0, 1) else thread_count()


def parallel_for(
    tasks: Iterable[T],
    work: Callable[[T], None],
    parallel: bool | None = True,
    threads: int | None = None,
    pieces: int = 1,
    min_task_seconds: float = 45e-6,
) -> None:
    """Call ``work`` on each task, in several threads if that is faster.

    Parameters
    ----------
    tasks : iterable
        The tasks; taken in order, as late as possible.
    work : callable
        The function.
    parallel : bool or None
        Whether threads are faster; None to decide by timing the first tasks.
    threads : int, optional
        Number of threads for tasks that wait, such as requests to a store with latency; by default
        that of the processors.
    pieces : int
        Number of pieces of a task, between which threads may wait for each other; for timing.
    min_task_seconds : float
        Minimum duration of a piece for which threads are faster.

    Raises
    ------
    BaseException
        The first failure, or an interrupt, after all threads have stopped.

    Notes
    -----
    A nested ``parallel_for`` uses only its own thread, since the processors are busy.  With
    ``threads``, it uses threads, but all nested calls together about that many.
    """
    left = iter(tasks)
    busy = _local.sharing and threads is None
    alone = parallel is False or busy or config.settings.threads in (0, 1)
    if not alone and (parallel or _is_slow(left, work, min_task_seconds * pieces)):
        count = thread_count() if threads is None else threads
        count = min(max(1, count // max(1, _local.sharing)), MAX_THREADS)
        first = list(islice(left, count))
        left = chain(first, left)
        if len(first) > 1:
            _run_in_threads(left, work, len(first))
            return
    for task in left:
        work(task)


@contextmanager
def in_one_thread(also_requests: bool = False) -> Iterator[None]:
    """Use only this thread in every ``parallel_for`` without ``threads``.

    For programs that already use all processors, such as Dask workers.  With ``also_requests``,
    requests to stores with latency are not concurrent either.
    """
    outer = _local.sharing
    _local.sharing = max(sys.maxsize if also_requests else 1, outer)
    try:
        yield
    finally:
        _local.sharing = outer


def concurrent_map(
    tasks: Iterable[T], work: Callable[[T], R], max_concurrency: int | None
) -> Iterator[tuple[T, R]]:
    """Return tasks in their order, each with the result of ``work``.

    ``max_concurrency`` limits concurrent calls; results are returned in batches of several times
    this number.  If it is None, for a store without latency, the function is called lazily.
    """
    if max_concurrency is None:
        yield from ((task, work(task)) for task in tasks)
        return
    left = iter(tasks)
    while some := list(islice(left, max_concurrency * _ROUNDS)):
        results: list[R] = [None] * len(some)  # type: ignore[list-item]  # set below

        def put(number: int, some: list[T] = some, results: list[R] = results) -> None:
            results[number] = work(some[number])

        parallel_for(range(len(some)), put, True, max_concurrency)
        yield from zip(some, results, strict=True)


class UnconfirmedKeys:
    """Collects the keys that a call that stores many values does not store after a failure.

    After the first failure, the call adds the keys of its other tasks instead of executing them.
    If nothing fails, a task only tests ``keys``.  Several threads may add keys.
    """

    __slots__ = ("_error", "keys")

    def __init__(self) -> None:
        self.keys: list[str] = []
        """Keys whose values may not be stored; not empty after a failure."""
        self._error: StoreError | None = None

    def fail(self, keys: Iterable[str], error: StoreError) -> None:
        """Add the keys of a request that failed."""
        self._error = self._error or error
        self.keys += keys

    def skip(self, key: str) -> None:
        """Add a key that is not stored after a failure.

        Raises
        ------
        StoreError
            If there are too many keys, so that the call ends.
        """
        if len(self.keys) >= MAX_UNCONFIRMED:
            self.check()
        self.keys.append(key)

    def check(self) -> None:
        """Raise the first failure, with all keys in ``unconfirmed``."""
        if self._error is not None:
            self._error.unconfirmed = tuple(dict.fromkeys(self.keys))
            raise self._error


def _is_slow(tasks: Iterator[T], work: Callable[[T], None], seconds: float) -> bool:
    """Call ``work`` on the first tasks; return whether each takes at least ``seconds``.

    Several tasks are timed, since a single one may be slow for other reasons.
    """
    for task in islice(tasks, _TRIALS):
        start = perf_counter()
        work(task)
        if perf_counter() - start < seconds:
            return False
    return True


def _run_in_threads(tasks: Iterator[T], work: Callable[[T], None], count: int) -> None:
    initial = _local.sharing
    guard = threading.Lock()
    end = object()
    failures: list[BaseException] = []

    def drain() -> None:
        outer = _local.sharing
        _local.sharing = count * max(1, outer)
        try:
            while not failures:
                with guard:
                    task = next(tasks, end)
                if task is end:
                    return
                work(task)  # type: ignore[arg-type]  # not the sentinel
        except BaseException as failure:
            failures.append(failure)
        finally:
            _local.sharing = outer

    others: list[Job] = []
    try:
        for _ in range(count - 1):
            others.append(Job(drain))
            submit(others[-1])
    except RuntimeError:
        pass  # no new threads: this one does all work
    except BaseException as interrupt:
        failures.append(interrupt)
    try:
        drain()
    except BaseException as interrupt:
        failures.append(interrupt)
    # Also after an interrupt, no thread may still write into memory of the caller.
    stopped = False
    while not stopped:
        try:
            for other in others:
                other.cancel_or_wait()
            _local.sharing = initial  # an interrupt may have prevented it in drain
            stopped = True
        except BaseException as interrupt:
            failures.append(interrupt)
    if failures:
        # An interrupt takes precedence over a failure.
        raise next((it for it in failures if not isinstance(it, Exception)), failures[0])


def _after_fork() -> None:
    _local.sharing = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
