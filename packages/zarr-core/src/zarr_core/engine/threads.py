"""Doing independent pieces of work in several threads.

One task a thread that takes pieces from a common queue, not one future a piece.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import TYPE_CHECKING, TypeVar

from zarr_core.config import config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")

_MOST_THREADS = 256


class _Here(threading.local):
    working = False


_here = _Here()
_pool: ThreadPoolExecutor | None = None


def thread_count() -> int:
    """Threads that work on one call, the caller's included; at least 1."""
    count = config.settings.threads
    if count is None:
        affinity = getattr(os, "sched_getaffinity", None)
        count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, count)


def run(
    tasks: Sequence[T],
    work: Callable[[T], None],
    parallel: bool = True,
    threads: int | None = None,
) -> None:
    """Call ``work`` on each task, in several threads if that may pay.

    Parameters
    ----------
    tasks : sequence
        The pieces; taken in order.
    work : callable
        What to do with each.
    parallel : bool
        False to work in this thread alone.
    threads : int, optional
        How many threads, where that is not a question of processors: requests
        in flight to a remote store.

    Raises
    ------
    BaseException
        The first failure, or an interrupt, after every thread has come to rest.

    Notes
    -----
    Within a piece of work, another ``run`` stays in its thread.
    """
    count = 1
    if parallel and len(tasks) > 1 and not _here.working and config.settings.threads not in (0, 1):
        count = min(thread_count() if threads is None else threads, len(tasks), _MOST_THREADS)
    if count > 1:
        _share(tasks, work, count)
        return
    for task in tasks:
        work(task)


def _share(tasks: Sequence[T], work: Callable[[T], None], count: int) -> None:
    queue = deque(tasks)
    failures: list[BaseException] = []

    def drain() -> None:
        _here.working = True
        try:
            while not failures:
                try:
                    task = queue.popleft()
                except IndexError:
                    return
                work(task)
        except BaseException as failure:
            failures.append(failure)
        finally:
            _here.working = False

    others: list[Future[None]] = []
    try:
        try:
            for _ in range(count - 1):
                others.append(_executor().submit(drain))  # noqa: PERF401 - those before a failure stay
        except RuntimeError:
            pass  # the interpreter is shutting down: no new threads, this one does the work
        drain()
    except BaseException as interrupt:
        failures.append(interrupt)
    # Also after an interrupt: nobody may still write into the caller's memory.  Who has
    # not begun yet, as the pool is busy with other calls, has nothing left to do.
    for other in others:
        while not (other.cancel() or other.done()):
            try:
                other.exception()
            except BaseException as interrupt:
                failures.append(interrupt)
    if failures:
        # Not to lose an interrupt that came after a failure.
        raise next((it for it in failures if not isinstance(it, Exception)), failures[0])


def _executor() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - lazy: brings logging

        _pool = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="zarr-core")
    return _pool


def _after_fork() -> None:
    global _pool
    _pool = None
    _here.working = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
