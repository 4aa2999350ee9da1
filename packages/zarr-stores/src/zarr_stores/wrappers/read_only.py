"""Read-only stores, and a read-only view of another store."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn

from zarr_core.extension import Store, StoreReadOnlyError, WrapperStore

if TYPE_CHECKING:
    from zarr_core.extension import Buffers, Change

__all__ = ["ReadOnlyStore"]


class ImmutableStore(Store):
    """A store in which every operation that changes data raises an error."""

    read_only = True
    read_only_reason: ClassVar[str] = "the store is open for reading only"

    def set(self, key: str, value: Buffers) -> None:
        self._require_writable(key)

    def update(self, key: str, change: Change) -> None:
        self._require_writable(key)

    def erase(self, key: str) -> None:
        self._require_writable(key)

    def _require_writable(self, key: str) -> NoReturn:
        raise StoreReadOnlyError(self.read_only_reason, store=self, key=key)


class ReadOnlyStore(ImmutableStore, WrapperStore):
    """A wrapper that passes on reads and rejects changes.

    Parameters
    ----------
    inner : Store
        The store; it can still be changed directly.

    Raises
    ------
    StoreReadOnlyError
        By every operation that changes data.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.read_only = True
