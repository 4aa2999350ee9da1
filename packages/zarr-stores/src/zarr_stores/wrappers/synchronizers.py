"""Locks of keys for threads and processes, as in zarr-python 2."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from zarr_core.extension import StoreError, check_key, key_lock
from zarr_core.stores.local_files import file_lock

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from contextlib import AbstractContextManager

__all__ = ["ProcessSynchronizer", "Synchronizer", "ThreadSynchronizer"]

_thread = threading.local()


@contextmanager
def _reentrant(owner: Hashable, key: str, lock: AbstractContextManager[object]) -> Iterator[None]:
    """Hold a lock unless this thread does: two nested stores may have the same synchronizer."""
    held: set[object] = vars(_thread).setdefault("held", set())
    name = os.getpid(), owner, key  # a forked child does not hold the locks of its parent
    if name in held:
        yield
        return
    with lock:
        held.add(name)
        try:
            yield
        finally:
            held.discard(name)


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
        return _reentrant(self, item, key_lock(self, check_key(item)))


class ProcessSynchronizer:
    """File locks that exclude threads of all processes that use the same directory.

    Parameters
    ----------
    path : str or os.PathLike
        Directory of the lock files.  If the processes run on several machines, it must be on
        a shared file system.  The name of a lock file is a digest of the key.

    Notes
    -----
    The locks of a killed process are released.  The locks are those of ``fcntl.flock``,
    which network file systems such as NFS, Lustre and GPFS support.

    Raises
    ------
    StoreError
        If a lock file cannot be created.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.path.abspath(os.fspath(path))
        """Absolute path of the directory."""

    def __getitem__(self, item: str) -> AbstractContextManager[None]:
        return _reentrant(self, item, self._file_lock(check_key(item)))

    @contextmanager
    def _file_lock(self, key: str) -> Iterator[None]:
        name = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        with ExitStack() as stack:
            try:
                stack.enter_context(file_lock(os.path.join(self.path, name[:2], name[2:])))
            except OSError as error:
                raise StoreError(f"cannot be locked: {error}", self.path, key) from error
            yield

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProcessSynchronizer):
            return NotImplemented
        return os.path.realpath(self.path) == os.path.realpath(other.path)

    def __hash__(self) -> int:
        return hash(os.path.realpath(self.path))

    def __repr__(self) -> str:
        return f"ProcessSynchronizer({self.path!r})"
