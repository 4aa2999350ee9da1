"""Parallel loops: threads take tasks from a common iterator, without a future per task."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from contextvars import copy_context
from itertools import chain, islice
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, TypeVar

from zarr_core.config import config
from zarr_core.errors import unconfirmed_note
from zarr_core.system_calls import call_after_fork
from zarr_core.thread_pool import MAX_THREADS, Job, left_behind, submit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zarr_core.errors import StoreError

T = TypeVar("T")
R = TypeVar("R")

_TRIALS = 4  # timed tasks
MAX_UNCONFIRMED = 1_000_000  # keys that are collected; a call may write more than fit into memory
MAX_INTERRUPTED = 100_000  # keys after an interrupt, which must not take long
_ROUNDS = 16  # of max_concurrency tasks, after which concurrent_map returns results


class _Local(threading.local):
    sharing = 0
    """Number of threads that share the work of this thread; 0 if it has none."""
    call: _Call | None = None
    """The call of the main thread for which this thread works."""


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
        Minimum duration of a piece for which threads are faster, as measured with the GIL.

    Raises
    ------
    BaseException
        The first failure, or an interrupt, after all threads have stopped.  With ``threads``, an
        interrupt does not wait for threads that are :class:`waiting` for a server.

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
            _run_in_threads(left, work, len(first), waits=threads is not None)
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

    @contextmanager
    def follow(
        self, tasks: Iterable[T], work: Callable[[T], None], key: Callable[[T], str]
    ) -> Iterator[tuple[Iterator[T], Callable[[T], None]]]:
        """Add the keys of the tasks that may not be stored to an interrupt of the block.

        Returns the tasks and the function with which the block must replace its own.
        """
        pending: dict[str, None] = {}

        def begin() -> Iterator[T]:
            for task in tasks:
                pending[key(task)] = None
                yield task

        def work_on(task: T) -> None:
            work(task)
            pending.pop(key(task), None)

        left = begin()
        try:
            yield left, work_on
        except INTERRUPTS as interrupt:
            for _ in islice(left, MAX_INTERRUPTED):
                pass  # adds the keys of all other tasks
            name_unconfirmed(interrupt, [*self.keys, *pending])
            raise

    def check(self) -> None:
        """Raise the first failure, with all keys in ``unconfirmed``."""
        if self._error is not None:
            self._error.unconfirmed = tuple(dict.fromkeys(self.keys))
            raise self._error


INTERRUPTS = (KeyboardInterrupt, SystemExit)
"""Exceptions that signals raise."""


def name_unconfirmed(interrupt: BaseException, keys: Iterable[str]) -> None:
    """Add the keys of values that may not be stored to an interrupt, unless it has some."""
    if not hasattr(interrupt, "unconfirmed"):
        names = tuple(dict.fromkeys(islice(keys, MAX_INTERRUPTED)))
        interrupt.unconfirmed = names  # type: ignore[attr-defined]  # as errors have
        if names:
            interrupt.add_note(unconfirmed_note(names))


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


def _run_in_threads(
    tasks: Iterator[T], work: Callable[[T], None], count: int, *, waits: bool
) -> None:
    initial = _local.sharing
    guard = threading.Lock()
    end = object()
    failures: list[BaseException] = []
    # The main thread, which gets the signals, only waits for threads that send requests.
    leader = waits and _is_main()
    call = _Call() if leader else _local.call

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
        for _ in range(count if leader else count - 1):
            others.append(Job(drain if call is None else call.member(drain)))
            submit(others[-1])
    except RuntimeError:
        leader = False  # no new threads: this one does all work
    except BaseException as interrupt:
        failures.append(interrupt)
    if not leader:
        try:
            drain()
        except BaseException as interrupt:
            failures.append(interrupt)
    # Also after an interrupt, no thread may still write into memory of the caller.
    stopped = False
    while not stopped:
        try:
            if leader and call is not None:
                call.wait(others, failures)
            else:
                with waiting():
                    for other in others:
                        other.cancel_or_wait()
            _local.sharing = initial  # an interrupt may have prevented it in drain
            stopped = True
        except Abandoned:
            raise
        except BaseException as interrupt:
            failures.append(interrupt)
    if failures:
        # An interrupt takes precedence over a failure.
        raise next((it for it in failures if not isinstance(it, Exception)), failures[0])


# --- interrupts ---


class Abandoned(BaseException):
    """Ends a thread whose call was interrupted while the thread waited."""


class _Call:
    """Threads that work for the main thread, which can leave those that wait for a server.

    A thread that waits (:class:`waiting`) does not use memory of the caller.  After an interrupt,
    it raises :class:`Abandoned` instead of continuing.
    """

    def __init__(self) -> None:
        self.is_left = False
        self.running: set[int] = set()
        self.waiting: set[int] = set()
        self.guard = threading.Lock()

    def member(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return a function that calls ``work`` in a thread of this call, with its context."""
        context = copy_context()

        def run() -> None:
            thread = threading.get_ident()
            with self.guard:
                if self.is_left:
                    return
                self.running.add(thread)
            outer, _local.call = _local.call, self
            try:
                context.run(work)
            finally:
                _local.call = outer
                with self.guard:
                    self.running.discard(thread)
                    self.waiting.discard(thread)
                    left_behind.discard(thread)

        return run

    def wait(self, jobs: Sequence[Job], failures: Sequence[BaseException] = ()) -> None:
        """Wait for jobs; after an interrupt, not for threads that wait for a server."""
        if any(not isinstance(it, Exception | Abandoned) for it in failures):
            self.leave(jobs)
        else:
            for job in jobs:
                job.wait()

    def leave(self, jobs: Sequence[Job]) -> None:
        """Cancel jobs; wait only for threads that do not wait for a server."""
        for job in jobs:
            job.cancel()
        with self.guard:
            self.is_left = True
            left_behind.update(self.running)
        while not self.running <= self.waiting:
            sleep(1e-3)


class waiting:  # noqa: N801 - used as a function is: with waiting("a server")
    """Mark a block that waits for a server or another thread, and uses no memory of the caller.

    If the call is interrupted, it does not wait for the end of the block, where :class:`Abandoned`
    is raised.  ``what`` is for messages to the user.

    In the main thread, an interrupt ends the block only if it waits in Python; see
    :func:`call_interruptibly`.
    """

    __slots__ = ("_call", "_thread", "_what")

    def __init__(self, what: object = None) -> None:
        self._what = what

    def __enter__(self) -> None:
        thread = self._thread = threading.get_ident()
        call = _local.call
        if call is not None:
            with call.guard:
                if thread in call.waiting:
                    call = None  # within another block, or after it
                else:
                    call.waiting.add(thread)
                    if call.is_left:
                        raise Abandoned
        self._call = call
        if self._what is not None:
            if thread in _waits:
                self._what = None
            else:
                _waits[thread] = monotonic(), self._what

    def __exit__(self, *_: object) -> None:
        if self._what is not None:
            _waits.pop(self._thread, None)
        call = self._call
        if call is not None:
            with call.guard:
                if call.is_left:
                    raise Abandoned
                call.waiting.discard(self._thread)


_waits: dict[int, tuple[float, object]] = {}


def longest_wait() -> tuple[float, str] | None:
    """Return the seconds for which a thread has been waiting, and for what; None if none waits."""
    oldest = min(list(_waits.values()), key=lambda it: it[0], default=None)
    return None if oldest is None else (monotonic() - oldest[0], str(oldest[1]))


def call_interruptibly(work: Callable[[], R], what: object) -> R:
    """Call a function that waits for a server in compiled code, which ignores interrupts.

    In the main thread, the function is called in another thread, and an interrupt ends only the
    waiting.  Therefore it must not use memory that others may change or reuse meanwhile.

    Parameters
    ----------
    work : callable
        Sends the request, and returns the response.
    what : object
        What is waited for, for messages.
    """
    if not _is_main():
        with waiting(what):
            return work()
    found: list[R] = []

    def run() -> None:
        with waiting():
            found.append(work())

    with waiting(what):
        call_for(None, run)
    return found[0]


def call_for(seconds: float | None, work: Callable[[], None]) -> bool:
    """Call a function in another thread; return False if it is left, after a time.

    It is left when it waits for a server: see :class:`waiting`.
    """
    call = _Call()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    job = Job(call.member(run))
    try:
        submit(job)
    except RuntimeError:  # no new threads
        run()
        finished = True
    else:
        try:
            finished = job.wait(-1 if seconds is None else seconds)
        except BaseException:
            call.leave([job])
            raise
    if not finished:
        call.leave([job])
    elif failures:
        raise failures.pop()  # no reference cycle
    return finished


def acquire_interruptibly(lock: threading.Lock) -> None:
    """Acquire a lock that another thread may hold while it waits for a server."""
    if lock.acquire(blocking=False):
        return
    acquired = False
    try:
        with waiting():
            acquired = lock.acquire()
    except Abandoned:
        if acquired:
            lock.release()
        raise


def _is_main() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _after_fork() -> None:
    _local.sharing = 0
    _local.call = None
    _waits.clear()


call_after_fork(_after_fork)
