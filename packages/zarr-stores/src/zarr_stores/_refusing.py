"""What a store does that nobody can change."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn

from zarr_core.extension import Store, StoreReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import Buffer, Change, Pieces


class RefusingStore(Store):
    """A store that refuses every operation that would change something.

    Attributes
    ----------
    why : str
        What the error says.
    """

    read_only = True
    why: ClassVar[str] = "the store is open for reading only"

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
        raise StoreReadOnlyError(self.why, store=self, key=key)
