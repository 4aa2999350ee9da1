"""Parallel loops: threads take tasks from a common iterator, without a future per task.

An interrupt (Ctrl-C) can occur between any two instructions of the main thread.  Therefore threads
communicate only by operations that the interpreter executes in one step, of sets, ``deque`` and
``SimpleQueue``, or that can be repeated.

The pool is not a ``concurrent.futures.ThreadPoolExecutor``, with which reads of four chunks took up
to 1.27 of the time, and which joins its threads at exit, even if a server never answers.
"""

from __future__ import annotations

import atexit
import os
import threading
from _thread import start_new_thread
from collections import deque
from contextlib import contextmanager, suppress
from contextvars import copy_context
from itertools import chain, islice
from operator import itemgetter
from queue import Empty, SimpleQueue
from threading import get_ident
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, TypeVar

from zarr_core.config import config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

T = TypeVar("T")
R = TypeVar("R")

MAX_THREADS = 256
"""Maximum number of threads; further work waits."""

_TRIALS = 4  # timed tasks
_ROUNDS = 16  # of max_concurrency tasks, after which concurrent_map returns results
_SHUTDOWN_SECONDS = 0.5
_SIGNAL_SECONDS = 0.5  # until a thread that waits looks for signals again


class _Local(threading.local):
    sharing = 0
    """Number of threads that share the work of this thread; 0 if it has none."""
    call: _Call | None = None
    """The outermost call for which this thread of the pool works."""


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
    return 1 if _local.sharing else thread_count()


def parallel_for(
    tasks: Iterable[T],
    work: Callable[[T], None],
    parallel: bool | None = True,
    threads: int | None = None,
    pieces: int = 1,
    min_task_seconds: float = 45e-6,
) -> None:
    """Call ``work`` on each task, in several threads if that is faster; take tasks as late as possible.

    Parameters
    ----------
    parallel : bool or None
        Whether threads are faster; None to decide by timing the first tasks.
    threads : int, optional
        Number of threads for tasks that wait, such as requests to a store with latency; by default
        that of the processors.
    pieces, min_task_seconds : int, float
        Number of pieces of a task, between which threads may wait for each other, and the minimum
        duration of a piece for which threads are faster, as measured with the GIL.

    Notes
    -----
    The first failure, or an interrupt, is raised after all threads have stopped.  With ``threads``,
    an interrupt does not wait for threads that are :class:`waiting` for a server.  A nested call
    uses only its own thread, since the processors are busy.  With ``threads``, it uses threads, but
    all nested calls together about that many.
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
            only_waits = threads is not None and _is_main()
            _run_in_threads(left, work, len(first), only_waits=only_waits)
            return
    for task in left:
        work(task)


@contextmanager
def in_one_thread() -> Iterator[None]:
    """Use only this thread in every ``parallel_for`` without ``threads``.

    For programs that already use all processors, such as Dask workers.
    """
    outer = _local.sharing
    _local.sharing = max(1, outer)
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
    results: dict[int, R] = {}

    def put(item: tuple[int, T]) -> None:
        results[item[0]] = work(item[1])

    while batch := list(islice(left, max_concurrency * _ROUNDS)):
        parallel_for(enumerate(batch), put, True, max_concurrency)
        for number, task in enumerate(batch):
            yield task, results.pop(number)


def _is_slow(tasks: Iterator[T], work: Callable[[T], None], seconds: float) -> bool:
    """Call ``work`` on the first tasks, as one may be slow by chance; return whether all are slow."""
    for task in islice(tasks, _TRIALS):
        start = perf_counter()
        work(task)
        if perf_counter() - start < seconds:
            return False
    return True


def _run_in_threads(
    tasks: Iterator[T],
    work: Callable[[T], object],
    count: int,
    *,
    only_waits: bool,
    seconds: float | None = None,
) -> bool:
    """Call ``work`` on each task in threads; return False if they are left, after a time.

    With ``only_waits``, this thread waits for ``count`` others: it is the main thread, which gets
    the signals, and they send requests.  Otherwise it works, too.
    """
    # 1. Every thread drains the tasks: it takes the next one as soon as it is done with another.
    # 2. This thread drains them, too, or waits for signals.
    # 3. The first failure closes the call: the threads finish their tasks and take no others.
    # 4. This thread waits for all others, again after every interrupt.  After an interrupt, it
    #    leaves those that wait for a server.
    initial = _local.sharing
    guard = threading.Lock()
    end = object()
    failures: list[BaseException] = []
    call = _Call(None if only_waits else _local.call)

    def drain() -> None:
        outer = _local.sharing
        _local.sharing = count * max(1, outer)
        try:
            while not call.is_closed:
                with guard:
                    task = next(tasks, end)
                if task is end:
                    return
                work(task)  # type: ignore[arg-type]  # not the sentinel
        except BaseException as failure:
            failures.append(failure)
        finally:
            call.is_closed = True
            _local.sharing = outer

    try:
        for _ in range(count if only_waits else count - 1):
            call.start(drain)
    except RuntimeError:
        only_waits = False  # no new threads: this one does all work
    except BaseException as interrupt:
        failures.append(interrupt)
    # Also after an interrupt, no thread may still write into memory of the caller.
    while True:
        try:
            if not only_waits:
                if not call.is_closed and not failures:
                    drain()
                call.is_closed = True
                with waiting():
                    call.join()
            elif any(not isinstance(error, Exception | Abandoned) for error in failures):
                call.leave()
            elif not call.join(seconds):
                call.leave()
                return False
            _local.sharing = initial  # an interrupt may have prevented it in drain
            break
        except Abandoned:
            raise
        except BaseException as interrupt:
            failures.append(interrupt)
    if failures:
        # An interrupt takes precedence over a failure.
        interrupts = (error for error in failures if not isinstance(error, Exception))
        raise next(interrupts, failures[0])
    return True


# --- calls and interrupts ---


INTERRUPTS = (KeyboardInterrupt, SystemExit)
"""Exceptions that signals raise."""


class Abandoned(BaseException):
    """Ends a thread whose call was interrupted while the thread waited."""


class _Call:
    """Threads of the pool that work for one call.

    After an interrupt, the main thread leaves those that wait for a server (:class:`waiting`),
    which do not use memory of the caller: they raise :class:`Abandoned` instead of continuing.
    The threads of a call within another (``outer``) are left with those of the outermost.
    """

    __slots__ = ("_ended", "is_closed", "is_left", "outermost", "running", "waiting")

    def __init__(self, outer: _Call | None = None) -> None:
        self.outermost = outer or self
        self.is_closed = False  # nothing is left to do for threads that have not begun
        self.is_left = False
        self.running: set[int] = set()
        self.waiting: set[int] = set()
        self._ended: SimpleQueue[None] = SimpleQueue()

    def start(self, work: Callable[[], None]) -> None:
        """Call a function, which must not raise, in another thread, with the present context."""
        context, outermost = copy_context(), self.outermost

        def run() -> None:
            thread = get_ident()
            self.running.add(thread)
            outermost.running.add(thread)
            try:
                if not (self.is_closed or outermost.is_left):
                    _local.call = outermost
                    context.run(work)
            finally:
                _local.call = None
                outermost.running.discard(thread)
                outermost.waiting.discard(thread)
                _left_behind.discard(thread)
                self.running.discard(thread)
                self._ended.put(None)

        _pool.submit(run)

    def join(self, seconds: float | None = None) -> bool:
        """Wait until everything is done, or for a time; return whether it is done."""
        end = None if seconds is None else monotonic() + seconds
        while self.running or not self.is_closed:
            # A signal just before the system call does not end it.
            rest = _SIGNAL_SECONDS if end is None else end - monotonic()
            if rest <= 0:
                return False
            with suppress(Empty):
                self._ended.get(timeout=min(rest, _SIGNAL_SECONDS))
        return True

    def leave(self) -> None:
        """Wait only for threads that do not wait for a server; others replace those that do."""
        self.is_closed = self.is_left = True
        _left_behind.update(self.running)
        while not self.running <= self.waiting:
            sleep(1e-3)


@contextmanager
def waiting(what: object = None) -> Iterator[None]:
    """Mark a block that waits for a server or another thread, and uses no memory of the caller.

    If the call is interrupted, it does not wait for the end of the block, where :class:`Abandoned`
    is raised.  ``what`` is for messages to the user.

    In the main thread, an interrupt ends the block only if it waits in Python; compiled code that
    waits for a server is called with :func:`call_for`.
    """
    thread, call = get_ident(), _local.call
    if call is not None:
        if thread in call.waiting:
            call = None  # within another block, or after it
        else:
            call.waiting.add(thread)
            if call.is_left:
                raise Abandoned
    is_named = what is not None and thread not in _waits
    if is_named:
        _waits[thread] = monotonic(), what
    try:
        yield
    finally:
        if is_named:
            _waits.pop(thread, None)
        if call is not None:
            # First: the caller, which leaves before it looks, must see a thread that continues.
            call.waiting.discard(thread)
            if call.is_left:
                call.waiting.add(thread)
                raise Abandoned


_waits: dict[int, tuple[float, object]] = {}


def longest_wait() -> tuple[float, str] | None:
    """Return the seconds for which a thread has been waiting, and for what; None if none waits."""
    oldest = min(list(_waits.values()), key=itemgetter(0), default=None)
    return None if oldest is None else (monotonic() - oldest[0], str(oldest[1]))


def call_for(seconds: float | None, work: Callable[[], None]) -> bool:
    """Call a function in another thread; return False if it is left, after a time.

    It is left when it waits for a server: see :class:`waiting`.
    """
    return _run_in_threads(iter((None,)), lambda _: work(), 1, only_waits=True, seconds=seconds)


def interruptible(lock: threading.Lock) -> AbstractContextManager[object]:
    """Return a context manager for a lock that another thread holds while it waits for a server."""
    # Interrupts, which only the main thread gets, cannot occur between the steps of the lock itself.
    return lock if _is_main() else _held(lock)


@contextmanager
def _held(lock: threading.Lock) -> Iterator[None]:
    acquired = lock.acquire(blocking=False)
    try:
        if not acquired:
            with waiting():
                acquired = lock.acquire()
        yield
    finally:
        if acquired:
            lock.release()


def _is_main() -> bool:
    return get_ident() == threading.main_thread().ident


# --- the threads of this process ---


class _ThreadPool:
    """Threads that start when none is idle, and end before the interpreter does."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._idle: deque[None] = deque()  # an item for each thread without a job
        self._ended: deque[None] = deque()  # an item for each thread that has ended
        self._started = 0
        self._is_closed = False

    def submit(self, job: Callable[[], None]) -> None:
        if self._is_closed:
            raise RuntimeError("the interpreter is shutting down")
        try:
            self._idle.pop()
        except IndexError:
            if self._started - len(_left_behind) < MAX_THREADS:
                start_new_thread(self._run_jobs, ())
                self._started += 1
        self._jobs.put(job)

    def _run_jobs(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # may hold much memory
            self._idle.append(None)
        self._ended.append(None)

    def close(self) -> None:
        """End all threads, and wait for those that do not wait for a server."""
        self._is_closed = True
        end = monotonic() + _SHUTDOWN_SECONDS
        for _ in range(self._started):
            self._jobs.put(None)
        while len(self._ended) < self._started and monotonic() < end:
            sleep(1e-5)


_pool = _ThreadPool()
# Threads whose request still runs, although the call was interrupted.
_left_behind: set[int] = set()
atexit.register(lambda: _pool.close())


def call_after_fork(function: Callable[[], object]) -> None:
    """Call a function in the child process of each fork, such as to replace locks.

    Threads do not survive a fork, but locks that they held stay locked in the child process.
    """
    if hasattr(os, "register_at_fork"):  # not in WebAssembly
        os.register_at_fork(after_in_child=function)


def _after_fork() -> None:
    global _pool
    _pool = _ThreadPool()
    _left_behind.clear()
    _local.sharing = 0
    _local.call = None
    _waits.clear()


call_after_fork(_after_fork)
