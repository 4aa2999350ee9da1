"""Base class of read-only stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn

from zarr_core.extension import Store, StoreReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import Buffer, Buffers, Change


class ImmutableStore(Store):
    """A store in which every operation that changes data raises an error."""

    read_only = True
    read_only_reason: ClassVar[str] = "the store is open for reading only"

    def set(self, key: str, value: Buffers) -> None:
        self._raise_read_only(key)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        self._raise_read_only("")

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        self._raise_read_only("")

    def update(self, key: str, change: Change) -> None:
        self._raise_read_only(key)

    def erase(self, key: str) -> None:
        self._raise_read_only(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        self._raise_read_only("")

    def erase_prefix(self, prefix: str) -> None:
        self._raise_read_only(prefix)

    def _raise_read_only(self, key: str) -> NoReturn:
        raise StoreReadOnlyError(self.read_only_reason, store=self, key=key)
