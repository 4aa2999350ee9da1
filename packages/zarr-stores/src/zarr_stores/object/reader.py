"""Reader of parts of one generation of an object."""

from __future__ import annotations

import threading
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ByteReader, StoreReadError
from zarr_core.threads import parallel_for

from zarr_stores.object.response import generation_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_stores.object.client import Client

_NOTHING = memoryview(b"")
_MOST_UNREQUESTED = 1 << 28  # bytes that a server without ranges sends for a part


class ObjectReader(ByteReader):
    """Reader of an object of known size and generation, with some of its bytes in memory."""

    gap_nbytes = 1 << 18

    def __init__(
        self,
        client: Client,
        key: str,
        result: Any,
        max_concurrency: int,
        verified: bool = True,
    ) -> None:
        self._client = client
        self._store, self._key = client.location, key
        self.meta = result.meta
        """Properties of the object from the service."""
        self.size = result.meta["size"]
        self._start, self._stop = result.range
        self._result = result
        self._held = _NOTHING
        self._lock = threading.Lock()
        self.max_concurrency = max_concurrency
        self.generation = generation_of(result.meta)
        self._verified = verified

    def _held_part(self, start: int, stop: int) -> memoryview | None:
        """Return a part that the first response contains, which is received if necessary."""
        if start == stop:
            return _NOTHING
        with self._lock:
            if not self._start <= start <= stop <= self._stop:
                return None
            if self._result is not None:
                unrequested = self._stop - self._start > max(_MOST_UNREQUESTED, 2 * (stop - start))
                if unrequested and not self._client.has_ranges:
                    raise StoreReadError(
                        f"the server does not support range requests, and the value has {self.size} "
                        "bytes; copy the store to a local directory, or use a server that supports "
                        "them, such as zarr-core serve",
                        self._store,
                        self._key,
                    )
                result = self._forget()
                self._held = self._client.body(self._key, result)
                self._start, self._stop = result.range
            return self._held[start - self._start : stop - self._start]

    def _forget(self) -> Any:
        """Return and release the first response; its range is requested again if it fails."""
        result, self._result = self._result, None
        self._stop = self._start
        return result

    def read(self, start: int, length: int) -> memoryview:
        self.check_part(start, length)
        held = self._held_part(start, start + length)
        return self._fetch(start, start + length) if held is None else held

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        if len(parts) == 1 and self._read_first_response(*parts[0]):
            return
        missing = []
        for start, buffer in parts:
            held = self._held_part(start, start + len(buffer))
            if held is None:
                missing.append((start, buffer))
            else:
                buffer[:] = held
        if missing:
            groups = group_parts(missing, self.gap_nbytes)
            parallel_for(groups, self._read_group, len(missing) > 1, self.max_concurrency)

    def _read_first_response(self, start: int, buffer: memoryview) -> bool:
        """Read the first response directly into a buffer if it is exactly the requested part."""
        with self._lock:
            if self._result is None or (start, start + len(buffer)) != (self._start, self._stop):
                return False
            result = self._forget()
        self._client.body_into(self._key, result, buffer)
        return True

    def _read_group(self, parts: list[tuple[int, memoryview]]) -> None:
        first = parts[0][0]
        if len(parts) == 1:
            self._client.fetch_into(self._key, self.meta, first, parts[0][1])
            self._verified = True
            return
        data = self._fetch(first, max(start + len(buffer) for start, buffer in parts))
        for start, buffer in parts:
            buffer[:] = data[start - first : start - first + len(buffer)]

    def _fetch(self, start: int, stop: int) -> memoryview:
        data = self._client.fetch(self._key, self.meta, start, stop)
        self._verified = True
        return data

    def verify(self) -> None:
        if not self._verified:
            self._client.verify(self._key, self.meta)
            self._verified = True

    def close(self) -> None:
        with self._lock:
            if self._result is not None:
                self._forget()


def group_parts(
    parts: list[tuple[int, memoryview]], gap_nbytes: int
) -> list[list[tuple[int, memoryview]]]:
    """Group parts that are read with one request."""
    parts = sorted(parts, key=lambda part: part[0])
    ends = accumulate((start + len(buffer) for start, buffer in parts), max)
    groups: list[list[tuple[int, memoryview]]] = []
    end = None
    for part, stop in zip(parts, ends, strict=True):
        if end is not None and part[0] - end <= gap_nbytes:
            groups[-1].append(part)
        else:
            groups.append([part])
        end = stop
    return groups
