"""A store with a lock for each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import Store, WrapperStore

if TYPE_CHECKING:
    from zarr_core.extension import Buffers, Change

    from zarr_stores.wrappers.synchronizers import Synchronizer

__all__ = ["SynchronizedStore"]


class SynchronizedStore(WrapperStore):
    """A wrapper that holds the lock of a key while its value is changed.

    Use it if several processes write to the same chunks and the store excludes only threads of
    one process: mappings on shared file systems, fsspec, servers without conditional writes.
    Directories and databases do not need it.

    Parameters
    ----------
    inner : Store
        The store.
    synchronizer : Synchronizer
        :class:`~zarr_stores.wrappers.synchronizers.ProcessSynchronizer`,
        :class:`~zarr_stores.wrappers.synchronizers.ThreadSynchronizer`, or any object that returns a
        lock for a key, such as the synchronizers of zarr-python 2.

    Notes
    -----
    All writers must use the same locks.  Reads take no lock; during a write they return what
    the inner store returns, usually the old or the new value.  ``erase_prefix`` takes no
    locks.
    """

    def __init__(self, inner: Store, synchronizer: Synchronizer) -> None:
        super().__init__(inner)
        self.synchronizer = synchronizer
        """The synchronizer."""

    def set(self, key: str, value: Buffers) -> None:
        with self.synchronizer[key]:
            self.inner.set(key, value)

    def update(self, key: str, change: Change) -> None:
        with self.synchronizer[key]:
            self.inner.update(key, change)

    def erase(self, key: str) -> None:
        with self.synchronizer[key]:
            self.inner.erase(key)

    erase_prefix = WrapperStore.erase_prefix  # without locks, as documented

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.synchronizer
