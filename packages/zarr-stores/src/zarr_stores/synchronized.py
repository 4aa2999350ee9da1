"""A store whose changes of one key are made one after the other, by whomever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import Store

from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import Buffer, Change, Pieces

    from zarr_stores.synchronizers import Synchronizer

__all__ = ["SynchronizedStore"]


class SynchronizedStore(WrapperStore):
    """Holds the lock of a key while its value is changed.

    For stores that exclude only the threads of one process from each other, where several
    processes write into the same chunks: mappings on shared file systems, fsspec,
    servers without conditional writes.  Directories and databases need no help.

    Parameters
    ----------
    inner : Store
        The store.
    synchronizer : Synchronizer
        :class:`~zarr_stores.synchronizers.ProcessSynchronizer`,
        :class:`~zarr_stores.synchronizers.ThreadSynchronizer`, or anything that gives a
        lock for a key, such as those of zarr-python 2.

    Notes
    -----
    All who write must use it.  Reading takes no lock, and sees what the inner store
    shows of a value that is being written: of most, the old one or the new one.
    ``erase_prefix`` is not held back by locks, nor does it hold any.
    """

    def __init__(self, inner: Store, synchronizer: Synchronizer) -> None:
        super().__init__(inner)
        self.synchronizer = synchronizer
        """What has the locks."""

    def set(self, key: str, value: Pieces) -> None:
        with self.synchronizer[key]:
            self.inner.set(key, value)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        Store.set_partial_values(self, key_start_values)

    def update(self, key: str, change: Change) -> None:
        with self.synchronizer[key]:
            self.inner.update(key, change)

    def erase(self, key: str) -> None:
        with self.synchronizer[key]:
            self.inner.erase(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        Store.erase_values(self, keys)

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.synchronizer
