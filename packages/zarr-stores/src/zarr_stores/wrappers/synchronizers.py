"""Locks of keys for threads and processes, as in zarr-python 2."""

from __future__ import annotations

import importlib
import os
import threading
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from zarr_core.extension import StoreError, check_key, key_lock
from zarr_core.threads import call_after_fork

from zarr_stores.remedies import required

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from contextlib import AbstractContextManager

__all__ = ["ProcessSynchronizer", "Synchronizer", "ThreadSynchronizer"]

# First and longest delay between attempts to acquire a lock of another process, in seconds.
_DELAY = 0.001
_MOST_DELAY = 0.02


class _HeldLocks(threading.local):
    def __init__(self) -> None:
        self.held: set[tuple[Hashable, str]] = set()


_thread_locks = _HeldLocks()


@contextmanager
def _lock_among_threads(owner: Hashable, key: str) -> Iterator[bool]:
    """Lock a key among threads; yield whether this thread did not hold the lock already.

    Two nested stores may have the same synchronizer, so the lock is reentrant.
    """
    held, name = _thread_locks.held, (owner, key)
    if name in held:
        yield False
        return
    with key_lock(owner, key):
        held.add(name)
        try:
            yield True
        finally:
            held.discard(name)


def _after_fork() -> None:
    _thread_locks.held.clear()  # the child process holds no locks


call_after_fork(_after_fork)


class Synchronizer(Protocol):
    """Protocol of objects with a lock for each key: ``with synchronizer[key]: ...``."""

    def __getitem__(self, item: str, /) -> AbstractContextManager[Any]:
        """Return the lock of a key, for a ``with`` statement."""


class ThreadSynchronizer:
    """Locks that exclude the threads of one process from each other.

    Notes
    -----
    The locks of two objects are independent, including those of a pickled copy.  Every store
    already excludes threads from each other; this class exists for compatibility with
    zarr-python 2.
    """

    def __getitem__(self, item: str) -> AbstractContextManager[Any]:
        return _lock_among_threads(self, check_key(item))


class ProcessSynchronizer:
    """File locks that exclude threads of all processes that use the same directory.

    Parameters
    ----------
    path : str or os.PathLike
        Directory of the lock files.  If the processes run on several machines, it must be on
        a shared file system.  For each locked key an empty file remains in it, whose name is
        a digest of the key.

    Notes
    -----
    The locks of a killed process are released.  The locks are those of ``fcntl.lockf``,
    which network file systems such as NFS, Lustre and GPFS support.  Requires the package
    ``fasteners``.

    Raises
    ------
    StoreError
        If ``fasteners`` is not installed, or if a lock file cannot be created.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.path.abspath(os.fspath(path))
        """Absolute path of the directory."""
        with required("fasteners", "locks", self.path):
            self._lock = importlib.import_module("fasteners").InterProcessLock

    def __getitem__(self, item: str) -> AbstractContextManager[None]:
        return self._held(check_key(item))

    @contextmanager
    def _held(self, key: str) -> Iterator[None]:
        # These locks belong to the process, and closing any descriptor of the file releases
        # them.  Therefore only one thread at a time tries to acquire one.
        with _lock_among_threads((ProcessSynchronizer, os.path.realpath(self.path)), key) as new:
            if not new:
                yield
                return
            name = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
            lock = self._lock(os.path.join(self.path, name[:2], name[2:]))
            try:
                lock.acquire(delay=_DELAY, max_delay=_MOST_DELAY)
            except (OSError, RuntimeError) as error:  # fasteners raises threading.ThreadError
                raise StoreError(f"cannot be locked: {error}", self.path, key) from error
            try:
                yield
            finally:
                lock.release()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProcessSynchronizer):
            return NotImplemented
        return os.path.realpath(self.path) == os.path.realpath(other.path)

    def __hash__(self) -> int:
        return hash(os.path.realpath(self.path))

    def __repr__(self) -> str:
        return f"ProcessSynchronizer({self.path!r})"

    def __reduce__(self) -> tuple[type[ProcessSynchronizer], tuple[str]]:
        return type(self), (self.path,)
