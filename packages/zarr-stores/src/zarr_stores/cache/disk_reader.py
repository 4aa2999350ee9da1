"""Reader of a value that is partly cached on disk."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, ByteReader, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_stores.cache.disk_cache import DiskCacheStore
    from zarr_stores.cache.disk_directory import Directory
    from zarr_stores.cache.disk_entry import Entry

    Run = tuple[int, int]


class CachedReader(ByteReader):
    """Reader of one generation of a value, some blocks of which are cached."""

    def __init__(
        self,
        store: DiskCacheStore,
        directory: Directory,
        key: str,
        entry: Entry,
        state: tuple[str, int],
        inner: ByteReader | None,
        opened: float,
    ) -> None:
        self._store = store
        self._directory = directory
        self._key = key
        self._entry = entry
        self.size = entry.size or 0
        self._state = state
        self._inner = inner
        self._opened = opened
        self._guard = threading.Lock()
        self.generation = entry.generation or None
        self.max_concurrency = store.max_concurrency
        if inner is not None:
            directory.gap_bytes = inner.gap_bytes
        self.gap_bytes = directory.gap_bytes

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        missing = [
            (start, buffer, run) for start, buffer in parts for run in self._read(start, buffer)
        ]
        incomplete = len({id(buffer) for _, buffer, _ in missing})
        self._directory.count(hits=len(parts) - incomplete, misses=incomplete)
        if missing:
            self._fetch(missing)

    def _read(self, start: int, buffer: memoryview) -> list[Run]:
        try:
            return self._entry.read(start, buffer)
        except OSError:
            self._directory.count(errors=1)
            step = self._entry.block_bytes
            return [(start // step, -(-(start + len(buffer)) // step))]

    def _fetch(self, missing: Sequence[tuple[int, memoryview, Run]]) -> None:
        """Read runs of blocks from the inner store and cache them."""
        begin, end = self._entry.bounds(*missing[0][2])
        inner = self._reader(ByteRange(begin, end - begin))
        fetched = []
        for start, buffer, run in missing:
            begin, end = self._entry.bounds(*run)
            inside = start <= begin and end <= start + len(buffer)
            memory = (
                buffer[begin - start : end - start]
                if inside
                else memoryview(bytearray(end - begin))
            )
            fetched.append((begin, memory))
        inner.read_into(fetched)
        for (start, buffer, run), (begin, memory) in zip(missing, fetched, strict=True):
            low, high = max(start, begin), min(start + len(buffer), begin + len(memory))
            if high - low != len(memory):
                buffer[low - start : high - start] = memory[low - begin : high - begin]
            self._keep(run[0], memory)

    def _keep(self, first: int, memory: memoryview) -> None:
        try:
            # Counted before the write, so that old files are removed first.
            self._directory.add(len(memory))
            self._entry.write(first, memory)
            self._entry.used(time.time(), validated=self._opened)
        except OSError:
            self._directory.count(errors=1)

    def _reader(self, first: ByteRange) -> ByteReader:
        with self._guard:
            if self._inner is None:
                path, changes = self._state
                if self._directory.changes(path) != changes:
                    raise ValueReplacedError(
                        "the value was replaced while it was read", self._store, self._key
                    )
                self._opened = time.time()
                self._inner = self._store.reopen(self._key, self._entry, first)
                self.gap_bytes = self._directory.gap_bytes = self._inner.gap_bytes
            return self._inner

    def close(self) -> None:
        with self._guard:
            inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()
