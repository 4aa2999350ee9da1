"""Reader of a value on a server, some parts of which are already in memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from zarr_core.extension import ByteReader, StoreReadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_stores.databases.server_store import ServerStore


class PartialReader(ByteReader):
    """Base class of readers that keep the parts received with the first request."""

    def __init__(
        self, store: ServerStore, key: str, size: int, held: Sequence[tuple[int, bytes]]
    ) -> None:
        self._store, self._key = store, key
        self.size = size
        self._held = held
        self.max_concurrency = store.max_concurrency

    @abstractmethod
    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        """Return parts of the generation of the value that was opened."""

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        requested = []
        for start, buffer in parts:
            end = start + len(buffer)
            self.check_part(start, len(buffer))
            for first, data in self._held:
                if first <= start and end <= first + len(data):
                    buffer[:] = memoryview(data)[start - first : end - first]
                    break
            else:
                if buffer:
                    requested.append((start, buffer))
        if not requested:
            return
        lengths = [len(buffer) for _, buffer in requested]
        found = self._fetch([start for start, _ in requested], lengths)
        if [len(data) for data in found] != lengths:
            raise StoreReadError(
                "the server returned fewer bytes than requested", self._store, self._key
            )
        for (_, buffer), data in zip(requested, found, strict=True):
            buffer[:] = data
