"""A thread pool that is safe to interrupt.

``concurrent.futures`` takes locks in Python: an interrupt (Ctrl-C) between acquiring a lock and
recording it blocks the pool, and the program never ends.  This module uses only operations that
the interpreter executes in one step (``deque.pop``, ``dict.setdefault``, ``SimpleQueue.put``) or
that can be repeated.  All threads end before the interpreter does.
"""

from __future__ import annotations

import atexit
from _thread import _count as running_threads
from _thread import allocate_lock, start_new_thread
from collections import deque
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING

from zarr_core.system_calls import call_after_fork

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_THREADS = 256
"""Maximum number of threads; further jobs wait."""

_SHUTDOWN_SECONDS = 0.5
_SIGNAL_SECONDS = 0.5  # until a thread that waits looks for signals again

left_behind: set[int] = set()
"""Threads whose request still runs, although the call was interrupted; others replace them."""


class Job:
    """A function that is called at most once, and must not raise."""

    __slots__ = ("_finished", "_owner", "_running", "_work")

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._owner: dict[str, str] = {}
        self._finished = False
        self._running = allocate_lock()
        self._running.acquire()

    def run(self) -> None:
        """Call the function, unless the job was cancelled."""
        if self._owner.setdefault("owner", "thread") != "thread":
            return
        try:
            self._work()
        finally:
            self._finished = True  # before the release: see cancel_or_wait
            self._running.release()

    def cancel_or_wait(self) -> None:
        """Cancel the job if it has not started, otherwise wait until it is finished.

        Can be called again after an interrupt.
        """
        if self._owner.setdefault("owner", "caller") == "caller":
            return
        self.wait()

    def cancel(self) -> None:
        """Cancel the job if it has not started."""
        self._owner.setdefault("owner", "caller")

    def wait(self, seconds: float = -1) -> bool:
        """Wait until the job is finished, or for a time; return whether it is finished."""
        # A signal just before the system call does not end it.
        interval = _SIGNAL_SECONDS if seconds < 0 else seconds
        while not self._finished:
            if not self._running.acquire(timeout=interval) and seconds >= 0:
                return False
        return True


class _ThreadPool:
    """The threads of one process."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.idle: deque[None] = deque()
        """One item for each idle thread without a job."""
        self.started = 0
        self.running: deque[None] = deque()
        """One item for each thread that has started."""
        self.closed = False

    def submit(self, job: Job) -> None:
        if self.closed:
            raise RuntimeError("the interpreter is shutting down")
        self.jobs.put(job)
        try:
            self.idle.pop()
        except IndexError:
            if self.started - len(left_behind) < MAX_THREADS:
                start_new_thread(self._run_jobs, ())
                self.started += 1

    def _run_jobs(self) -> None:
        self.running.append(None)
        while (job := self.jobs.get()) is not None:
            job.run()
            del job  # may hold much memory
            self.idle.append(None)

    def close(self) -> None:
        """End all threads and wait for them."""
        self.closed = True
        deadline = monotonic() + _SHUTDOWN_SECONDS
        while len(self.running) < self.started and monotonic() < deadline:
            sleep(1e-5)
        count = running_threads()
        for _ in range(self.started):
            self.jobs.put(None)
        while running_threads() > count - self.started and monotonic() < deadline:
            sleep(1e-5)


_pool = _ThreadPool()


def submit(job: Job) -> None:
    """Run a job in a thread.

    Raises a RuntimeError if no further thread can be started: the interpreter is shutting down, or
    a limit of the system is reached.  An existing thread may still run the job.
    """
    _pool.submit(job)


def _at_exit() -> None:
    _pool.close()


atexit.register(_at_exit)


def _after_fork() -> None:
    global _pool
    _pool = _ThreadPool()
    left_behind.clear()


call_after_fork(_after_fork)
