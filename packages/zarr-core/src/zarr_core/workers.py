"""Threads that wait for jobs, kept for the next call.

Not ``concurrent.futures``: its locks are taken in Python, so an interrupt (Ctrl-C) may come
between taking one and noting it, whereafter the pool stands still and the program never
ends.  What is used here is done in one step of the interpreter (``deque.pop``,
``dict.setdefault``, ``SimpleQueue.put``) or may be done again.  When the interpreter ends, the
threads do: one within another must not leave any.
"""

from __future__ import annotations

import atexit
import os
from _thread import _count as threads_there
from _thread import allocate_lock, start_new_thread
from collections import deque
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 256
"""Threads at the most; further jobs wait for one that is free."""

_PATIENCE = 0.5  # seconds; what still works then, works for a thread that is no better


class Job:
    """Something to be called once, by a thread that is free or by nobody.

    Parameters
    ----------
    work : callable
        What to call; must not raise.
    """

    __slots__ = ("_finished", "_owner", "_running", "_work")

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._owner: dict[str, str] = {}
        self._finished = False
        self._running = allocate_lock()
        self._running.acquire()

    def do(self) -> None:
        """Call it, unless the giver has taken it back."""
        if self._owner.setdefault("owner", "worker") != "worker":
            return
        try:
            self._work()
        finally:
            self._finished = True  # before the lock: who is interrupted with it looks here
            self._running.release()

    def settle(self) -> None:
        """Take it back if nobody has begun it, else wait until it is done.

        Can be called again after an interrupt.
        """
        if self._owner.setdefault("owner", "giver") == "giver":
            return
        while not self._finished:
            self._running.acquire()


class _Crew:
    """The threads of one process."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.free: deque[None] = deque()
        """One for each thread that is free and has nothing promised to it."""
        self.started = 0
        self.begun: deque[None] = deque()
        """One for each thread that runs."""
        self.dismissed = False

    def give(self, job: Job) -> None:
        if self.dismissed:
            raise RuntimeError("the interpreter is ending")
        self.jobs.put(job)
        try:
            self.free.pop()
        except IndexError:
            if self.started < MOST:
                start_new_thread(self.serve, ())
                self.started += 1

    def serve(self) -> None:
        self.begun.append(None)
        while (job := self.jobs.get()) is not None:
            job.do()
            del job  # may hold much
            self.free.append(None)

    def dismiss(self) -> None:
        """Let all threads end, and wait until they have."""
        self.dismissed = True
        patient = monotonic() + _PATIENCE
        while len(self.begun) < self.started and monotonic() < patient:
            sleep(1e-5)
        there = threads_there()
        for _ in range(self.started):
            self.jobs.put(None)
        while threads_there() > there - self.started and monotonic() < patient:
            sleep(1e-5)


_crew = _Crew()


def give(job: Job) -> None:
    """Let a thread do a job.

    Raises
    ------
    RuntimeError
        There can be no further thread: the interpreter is shutting down, or the system
        has none.  The job may still be done by one that is there.
    """
    _crew.give(job)


def _at_exit() -> None:
    _crew.dismiss()


atexit.register(_at_exit)


def _after_fork() -> None:
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
