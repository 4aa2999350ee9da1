"""A value on a server, of which a part came with the request that found it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from zarr_core.extension import StoreReadError, ValueReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_stores._server import ServerStore


class HeldReader(ValueReader):
    """Inherit from this, and fetch what is not here yet.

    Parameters
    ----------
    store, key
        Where it is.
    size : int
        Length of the value.
    held : sequence of (int, bytes)
        Parts that are here already, each with its start.
    """

    def __init__(
        self, store: ServerStore, key: str, size: int, held: Sequence[tuple[int, bytes]]
    ) -> None:
        self._store, self._key = store, key
        self._size = size
        self._held = held
        self.requests = store.requests

    @property
    def size(self) -> int:
        return self._size

    @abstractmethod
    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        """Parts of the value, all of the version that was opened."""

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        asked = []
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self._size:
                reason = f"bytes {start} to {end} of a value of {self._size} bytes"
                raise StoreReadError(reason, self._store, self._key)
            for first, data in self._held:
                if first <= start and end <= first + len(data):
                    buffer[:] = memoryview(data)[start - first : end - first]
                    break
            else:
                if buffer:
                    asked.append((start, buffer))
        if not asked:
            return
        lengths = [len(buffer) for _, buffer in asked]
        found = self._fetch([start for start, _ in asked], lengths)
        if [len(data) for data in found] != lengths:
            raise StoreReadError("fewer bytes came than there are", self._store, self._key)
        for (_, buffer), data in zip(asked, found, strict=True):
            buffer[:] = data
