"""Locks of keys, among threads or among processes, as zarr-python 2 has them."""

from __future__ import annotations

import importlib
import os
import threading
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from zarr_core.extension import StoreError, check_key, key_lock

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from contextlib import AbstractContextManager

    from zarr_core.extension import Store

__all__ = ["ProcessSynchronizer", "Synchronizer", "ThreadSynchronizer"]

# Seconds between attempts to have a lock that another process has: at first, at most.
_DELAY = 0.001
_MOST_DELAY = 0.02


class _Here(threading.local):
    def __init__(self) -> None:
        self.held: set[tuple[Hashable, str]] = set()


_here = _Here()


@contextmanager
def _alone(place: Hashable, key: str) -> Iterator[bool]:
    """Keep other threads away from a key; whether this one did not do that already.

    A store with locks may be around another with the same: who has one need not wait for it.
    """
    held, name = _here.held, (place, key)
    if name in held:
        yield False
        return
    with key_lock(place, key):
        held.add(name)
        try:
            yield True
        finally:
            held.discard(name)


def _after_fork() -> None:
    _here.held.clear()  # the child has no lock


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Synchronizer(Protocol):
    """Has a lock for each key: ``with synchronizer[key]: ...``."""

    def __getitem__(self, item: str, /) -> AbstractContextManager[Any]:
        """The lock of a key, to be held by the ``with`` statement."""


class ThreadSynchronizer:
    """Locks that exclude the threads of one process from each other.

    Notes
    -----
    Two of these have nothing to do with each other; a pickled one becomes another one.
    Every store has as much by itself: a store takes this one for those who have it in
    their programs.
    """

    def __getitem__(self, item: str) -> AbstractContextManager[Any]:
        return _alone(self, check_key(item))

    def wrap(self, store: Store) -> Store:
        """The store with these locks; what ``open(..., synchronizer=...)`` calls."""
        return _synchronized(store, self)


class ProcessSynchronizer:
    """File locks, which exclude the threads of all processes that use a directory.

    Parameters
    ----------
    path : str or os.PathLike
        The directory; on a file system that all processes see, if they run on several
        machines.  An empty file stays in it for each key that was locked, under a name
        that tells nothing of the key.

    Notes
    -----
    A process that is killed leaves nothing locked.  The locks are those of
    ``fcntl.lockf``, which file systems in networks have: NFS, Lustre, GPFS.  Requires the
    package ``fasteners``.

    Raises
    ------
    StoreError
        If ``fasteners`` is not installed; while locking, if there can be no file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.path.abspath(os.fspath(path))
        """Absolute path of the directory."""
        try:
            self._lock = importlib.import_module("fasteners").InterProcessLock
        except ImportError as error:
            raise StoreError(
                "file locks need the package fasteners: pip install zarr-stores[locks]", self.path
            ) from error

    def __getitem__(self, item: str) -> AbstractContextManager[None]:
        return self._held(check_key(item))

    def wrap(self, store: Store) -> Store:
        """The store with these locks; what ``open(..., synchronizer=...)`` calls."""
        return _synchronized(store, self)

    @contextmanager
    def _held(self, key: str) -> Iterator[None]:
        # Such a lock belongs to the process, and goes when any descriptor of the file is
        # closed in it: of its threads one at a time may try.
        with _alone((ProcessSynchronizer, os.path.realpath(self.path)), key) as new:
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


def _synchronized(store: Store, synchronizer: Synchronizer) -> Store:
    from zarr_stores.synchronized import SynchronizedStore  # noqa: PLC0415 - which knows these

    return SynchronizedStore(store, synchronizer)
