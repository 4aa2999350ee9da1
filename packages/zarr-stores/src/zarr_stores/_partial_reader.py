"""Parts of values: in memory, from file objects, and from servers."""

from __future__ import annotations

import errno
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ByteReader, StoreReadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer

    from zarr_stores.databases.server_store import ServerStore


def copy_held(
    held: Sequence[tuple[int, Buffer]], parts: Sequence[tuple[int, memoryview]]
) -> list[tuple[int, memoryview]]:
    """Fill the buffers of parts that are in memory; return the other parts.

    Parts of both arguments are pairs of an offset and bytes.
    """
    missing = []
    for start, buffer in parts:
        end = start + len(buffer)
        for first, data in held:
            if first <= start and end <= first + len(data):
                buffer[:] = memoryview(data)[start - first : end - first]
                break
        else:
            if buffer:
                missing.append((start, buffer))
    return missing


def read_from_file(file: Any, parts: Sequence[tuple[int, memoryview]]) -> None:
    """Fill the buffers of parts from a seekable file object, which may return less than requested."""
    for start, buffer in parts:
        file.seek(start)
        done = 0
        while done < len(buffer):
            data = file.read(len(buffer) - done)
            if not data:
                raise OSError(errno.EIO, "the file is truncated")
            buffer[done : done + len(data)] = data
            done += len(data)


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
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        requested = copy_held(self._held, parts)
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
