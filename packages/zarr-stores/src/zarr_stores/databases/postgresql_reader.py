"""Reader of parts of one generation of a value in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ValueReplacedError

from zarr_stores._partial_reader import PartialReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_stores.databases.postgresql import PostgreSQLStore


class RowReader(PartialReader):
    """Reader of a large value; raises an error after the value is replaced."""

    def __init__(
        self, store: PostgreSQLStore, key: str, size: int, generation: str, start: int, held: bytes,
        read: Callable[[list[int], list[int]], list[bytes]],
    ) -> None:  # fmt: skip
        super().__init__(store, key, size, [(start, held)])
        self.generation = generation
        self._read = read

    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        found = self._read(starts, lengths)
        if not found:
            raise ValueReplacedError(
                "the value was replaced while it was read", self._store, self._key
            )
        return found
