"""A store that lets nobody change the one behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_stores._refusing import RefusingStore
from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from zarr_core.extension import Store

__all__ = ["ReadOnlyStore"]


class ReadOnlyStore(RefusingStore, WrapperStore):
    """Passes on what reads, refuses what changes.

    Parameters
    ----------
    inner : Store
        The store; others that hold it may still write to it.

    Raises
    ------
    StoreReadOnlyError
        By every operation that would change something.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.read_only = True
