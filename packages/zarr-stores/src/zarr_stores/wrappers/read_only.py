"""A read-only view of another store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import WrapperStore

from zarr_stores._immutable import ImmutableStore

if TYPE_CHECKING:
    from zarr_core.extension import Store

__all__ = ["ReadOnlyStore"]


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
