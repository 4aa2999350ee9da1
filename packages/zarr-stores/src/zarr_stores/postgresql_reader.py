"""Reading parts of one value in PostgreSQL, all of the same version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import StoreReadError, ValueReader, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_stores.postgresql import PostgreSQLStore


class RowReader(ValueReader):
    """A large value; once it is replaced nothing more is read of it.

    Parameters
    ----------
    store, key
        Where it is.
    size : int
        Length of the value.
    version : str
        What the row is known by.
    start, held : int, bytes
        A part that is here already.
    """

    def __init__(
        self, store: PostgreSQLStore, key: str, size: int, version: str, start: int, held: bytes
    ) -> None:
        self._store, self._key = store, key
        self._size = size
        self.version = version
        self._start, self._held = start, memoryview(held)
        self.requests = store.requests

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        asked = []
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self._size:
                raise StoreReadError(
                    f"bytes {start} to {end} of a value of {self._size} bytes",
                    self._store,
                    self._key,
                )
            if self._start <= start and end <= self._start + len(self._held):
                buffer[:] = self._held[start - self._start : end - self._start]
            elif buffer:
                asked.append((start, buffer))
        if not asked:
            return
        starts, lengths = [start for start, _ in asked], [len(buffer) for _, buffer in asked]
        found = self._store.read_parts(self._key, self.version or "", starts, lengths)
        if found is None:
            raise ValueReplacedError("was replaced while it was read", self._store, self._key)
        for (_, buffer), data in zip(asked, found, strict=True):
            buffer[:] = data
