"""A store that lets nobody change the one behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from zarr_core.extension import StoreReadOnlyError

from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import Buffer, Change, Pieces, Store

__all__ = ["ReadOnlyStore"]


class ReadOnlyStore(WrapperStore):
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

    def set(self, key: str, value: Pieces) -> None:
        self._refuse(key)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        self._refuse("")

    def update(self, key: str, change: Change) -> None:
        self._refuse(key)

    def erase(self, key: str) -> None:
        self._refuse(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        self._refuse("")

    def erase_prefix(self, prefix: str) -> None:
        self._refuse(prefix)

    def move_prefix(self, prefix: str, target: str) -> bool:
        self._refuse(prefix)

    def _refuse(self, key: str) -> NoReturn:
        raise StoreReadOnlyError("the store is open for reading only", store=self, key=key)
