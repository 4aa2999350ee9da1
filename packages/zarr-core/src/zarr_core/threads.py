"""Doing independent pieces of work in several threads.

One task a thread that takes pieces from a common queue, not one future a piece.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from itertools import chain, islice
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from zarr_core.config import config
from zarr_core.workers import MOST, Job, give

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")
R = TypeVar("R")

_TRIALS = 4
_ROUNDS = 16  # of requests in flight, after which who waits for them hears of it


class _Here(threading.local):
    among = 0
    """How many threads share the work that this one is at; 0 if it is at none."""


_here = _Here()


def thread_count() -> int:
    """Threads that work on one call, the caller's included; at least 1."""
    count = config.settings.threads
    if count is None:
        affinity = getattr(os, "sched_getaffinity", None)
        count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, count)


def run(
    tasks: Iterable[T],
    work: Callable[[T], None],
    parallel: bool | None = True,
    threads: int | None = None,
    pieces: int = 1,
    pays: float = 45e-6,
) -> None:
    """Call ``work`` on each task, in several threads if that pays.

    Parameters
    ----------
    tasks : iterable
        What to work on; taken in order, as late as possible.
    work : callable
        What to do with each.
    parallel : bool or None
        Whether it pays; None to find out with the first tasks.
    threads : int, optional
        How many threads, where that is not a question of processors: requests
        in flight to a store with latency.
    pieces : int
        Of how many pieces a task consists, between which threads may have to wait
        for each other; only for finding out.
    pays : float
        Seconds that a piece must take for threads to pay; below, they wait for each
        other too often.

    Raises
    ------
    BaseException
        The first failure, or an interrupt, after every thread has come to rest.

    Notes
    -----
    Within a piece of work, another ``run`` stays in its thread: the processors are busy
    already.  Not so if ``threads`` is given: those wait, for the most part, and all of
    them together are about as many.
    """
    left = iter(tasks)
    busy = _here.among and threads is None
    alone = parallel is False or busy or config.settings.threads in (0, 1)
    if not alone and (parallel or _pays(left, work, pays * pieces)):
        count = thread_count() if threads is None else threads
        count = min(max(1, count // max(1, _here.among)), MOST)
        first = list(islice(left, count))
        left = chain(first, left)
        if len(first) > 1:
            _share(left, work, len(first))
            return
    for task in left:
        work(task)


@contextmanager
def in_one_thread() -> Iterator[None]:
    """Have every ``run`` of this thread stay in it, but for requests in flight.

    For who shares the processors out already: one of many workers.
    """
    outer = _here.among
    _here.among = max(1, outer)
    try:
        yield
    finally:
        _here.among = outer


def in_flight(
    tasks: Iterable[T], work: Callable[[T], R], requests: int | None
) -> Iterator[tuple[T, R]]:
    """Tasks in their order, each with what ``work`` gives for it.

    Parameters
    ----------
    tasks : iterable
        What to work on.
    work : callable
        Asks a store.
    requests : int or None
        How many to have in flight; some rounds of them are finished before the first of
        these is given.  None, for a store without latency, to do each when it is asked for.
    """
    if requests is None:
        yield from ((task, work(task)) for task in tasks)
        return
    left = iter(tasks)
    while some := list(islice(left, requests * _ROUNDS)):
        results: list[R] = [None] * len(some)  # type: ignore[list-item]  # until it is there

        def put(number: int, some: list[T] = some, results: list[R] = results) -> None:
            results[number] = work(some[number])

        run(range(len(some)), put, True, requests)
        yield from zip(some, results, strict=True)


def _pays(tasks: Iterator[T], work: Callable[[T], None], seconds: float) -> bool:
    """Do the first tasks, to see whether they take long enough.

    What one thread does for a piece in Python, the others must wait for.  Several
    tasks are asked because one may have been slow for another reason: directories
    to be made, a processor that others use.
    """
    for task in islice(tasks, _TRIALS):
        start = perf_counter()
        work(task)
        if perf_counter() - start < seconds:
            return False
    return True


def _share(tasks: Iterator[T], work: Callable[[T], None], count: int) -> None:
    outermost = _here.among
    guard = threading.Lock()
    end = object()
    failures: list[BaseException] = []

    def drain() -> None:
        outer = _here.among
        _here.among = count * max(1, outer)
        try:
            while not failures:
                with guard:
                    task = next(tasks, end)
                if task is end:
                    return
                work(task)  # type: ignore[arg-type]  # it is not the end
        except BaseException as failure:
            failures.append(failure)
        finally:
            _here.among = outer

    others: list[Job] = []
    try:
        for _ in range(count - 1):
            others.append(Job(drain))
            give(others[-1])
    except RuntimeError:
        pass  # no new threads: this one does the work
    except BaseException as interrupt:
        failures.append(interrupt)
    try:
        drain()
    except BaseException as interrupt:
        failures.append(interrupt)
    # Also after an interrupt: nobody may still write into the caller's memory.  Who has
    # not begun yet, as all threads are busy with other calls, has nothing left to do.
    settled = False
    while not settled:
        try:
            for other in others:
                other.settle()
            _here.among = outermost  # an interrupt may have come before that was done
            settled = True
        except BaseException as interrupt:
            failures.append(interrupt)
    if failures:
        # Not to lose an interrupt that came after a failure.
        raise next((it for it in failures if not isinstance(it, Exception)), failures[0])


def _after_fork() -> None:
    _here.among = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
