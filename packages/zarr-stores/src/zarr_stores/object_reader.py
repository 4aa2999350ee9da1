"""Reading parts of one object, all of the same version."""

from __future__ import annotations

import threading
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreReadError, ValueReader, run_in_threads

from zarr_stores.object_version import word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_stores.object_client import Client

_NOTHING = memoryview(b"")


class ObjectReader(ValueReader):
    """An object whose size and version are known, and some of its bytes.

    Parameters
    ----------
    client : Client
        What asks the service.
    key : str
        The key.
    result : GetResult
        The answer to the request that found the object; its body is taken when it is needed.
    requests : int
        How many requests to keep in flight.
    gap_bytes : int
        Unneeded bytes between two parts that are read rather than skipped.
    """

    def __init__(
        self, client: Client, key: str, result: Any, requests: int, gap_bytes: int
    ) -> None:
        self._client = client
        self._key = key
        self.meta = result.meta
        """What the service said of the object."""
        self._size: int = result.meta["size"]
        self._start, self._stop = result.range
        self._result = result
        self._held = _NOTHING
        self._taking = threading.Lock()
        self.requests = requests
        self.gap_bytes = gap_bytes
        self.version = word(result.meta)

    @property
    def size(self) -> int:
        return self._size

    def _in_memory(self, start: int, stop: int) -> tuple[int, memoryview]:
        """What came with the first request of a part: where that begins, and its bytes."""
        with self._taking:
            first, last = max(start, self._start), min(stop, self._stop)
            if first >= last:
                return start, _NOTHING
            if self._result is not None:
                result = self._forget()
                self._held = self._client.body(self._key, result)
                self._start, self._stop = result.range
            return first, self._held[first - self._start : last - self._start]

    def _forget(self) -> Any:
        """Give the first answer away; if its body does not come, it is asked for anew."""
        result, self._result = self._result, None
        self._stop = self._start
        return result

    def read(self, start: int, length: int) -> memoryview:
        self._check(start, length)
        _, piece = self._in_memory(start, start + length)
        if len(piece) == length:
            return piece
        return super().read(start, length) if piece else self._fetch(start, start + length)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self._check(start, len(buffer))
        if len(parts) == 1 and self._taken_at_once(*parts[0]):
            return
        left = [rest for start, buffer in parts for rest in self._from_memory(start, buffer)]
        if not left:
            return
        run_in_threads(
            joined(left, self.gap_bytes), self._read_joined, len(left) > 1, self.requests
        )

    def _taken_at_once(self, start: int, buffer: memoryview) -> bool:
        """Take what came with the first request straight into its place, if it is just that."""
        with self._taking:
            if self._result is None or (start, start + len(buffer)) != (self._start, self._stop):
                return False
            result = self._forget()
        self._client.body_into(self._key, result, buffer)
        return True

    def _from_memory(self, start: int, buffer: memoryview) -> list[tuple[int, memoryview]]:
        """Copy what is in memory; what of the part is left."""
        first, piece = self._in_memory(start, start + len(buffer))
        before, after = first - start, first - start + len(piece)
        buffer[before:after] = piece
        left = [(start, buffer[:before]), (start + after, buffer[after:])]
        return [(begin, rest) for begin, rest in left if rest]

    def _read_joined(self, parts: list[tuple[int, memoryview]]) -> None:
        first = parts[0][0]
        data = self._fetch(first, max(start + len(buffer) for start, buffer in parts))
        for start, buffer in parts:
            buffer[:] = data[start - first : start - first + len(buffer)]

    def _fetch(self, start: int, stop: int) -> memoryview:
        return self._client.fetch(self._key, self.meta, start, stop)

    def _check(self, start: int, length: int) -> None:
        if start < 0 or start + length > self._size:
            raise StoreReadError(
                f"bytes {start} to {start + length} of a value of {self._size} bytes",
                self._client.place,
                self._key,
            )

    def close(self) -> None:
        with self._taking:
            if self._result is not None:
                self._forget()


def joined(
    parts: list[tuple[int, memoryview]], gap_bytes: int
) -> list[list[tuple[int, memoryview]]]:
    """Parts in groups that one request each reads.

    Parameters
    ----------
    parts : list of (int, memoryview)
        Where each begins, and where it goes.
    gap_bytes : int
        Unneeded bytes between two parts that are read rather than skipped.
    """
    parts = sorted(parts, key=lambda part: part[0])
    ends = accumulate((start + len(buffer) for start, buffer in parts), max)
    groups: list[list[tuple[int, memoryview]]] = []
    end = None
    for part, stop in zip(parts, ends, strict=True):
        if end is not None and part[0] - end <= gap_bytes:
            groups[-1].append(part)
        else:
            groups.append([part])
        end = stop
    return groups
