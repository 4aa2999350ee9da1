"""Readers of values that are partly cached."""

from __future__ import annotations

import threading
from abc import abstractmethod
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, ByteReader

from zarr_stores._reader_store import replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer, WrapperStore

    from zarr_stores.cache.pool import CachePool, Changes, OpenedValue


class ReopeningReader(ByteReader):
    """Reader of one generation of a value, opened in the inner store only for parts it lacks."""

    def __init__(self, store: WrapperStore, key: str, inner: ByteReader | None) -> None:
        self._store = store
        self._key = key
        self._inner = inner
        self._guard = threading.Lock()

    def _opened(self, first: ByteRange) -> ByteReader:
        with self._guard:
            if self._inner is None:
                self._inner = self._reopen(first)
            return self._inner

    @abstractmethod
    def _reopen(self, first: ByteRange) -> ByteReader:
        """Open the value in the inner store; an error if it has another generation."""

    def close(self) -> None:
        with self._guard:
            inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()


class CachedReader(ReopeningReader):
    """Reader of one generation of a value, parts of which may be cached in memory."""

    def __init__(
        self,
        store: WrapperStore,
        memory: CachePool,
        key: str,
        name: str,
        opened: OpenedValue,
        changes: Changes,
        inner: ByteReader | None,
    ) -> None:
        super().__init__(store, key, inner)
        self._memory = memory
        self._name = name
        self._changes = changes
        self.size, self.generation, self.max_concurrency, self.gap_nbytes = opened[:4]

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        missing = []
        for start, buffer in parts:
            held = self._held(start, len(buffer))
            if held is None:
                missing.append((start, buffer))
            else:
                buffer[:] = held
        if missing:
            start, buffer = missing[0]
            self._opened(ByteRange(start, len(buffer))).read_into(missing)
        for start, buffer in missing:
            if self._memory.fits(len(buffer)):
                part = ByteRange(start, len(buffer))
                self._memory.keep(self._name, part, bytes(buffer), self._changes)

    def read(self, start: int, length: int) -> memoryview:
        held = self._held(start, length)
        if held is not None:
            return memoryview(held)
        part = ByteRange(start, length)
        value = self._opened(part).read(start, length)
        return memoryview(self._memory.keep(self._name, part, value, self._changes))

    def _held(self, start: int, length: int) -> Buffer | None:
        self.check_part(start, length)
        # The cache may hold a later generation than this reader's.
        return self._memory.find(self._name, ByteRange(start, length), self._changes)

    def _reopen(self, first: ByteRange) -> ByteReader:
        reader: ByteReader | None = self._store.inner.open_value(self._key, first)
        generation = None if reader is None else reader.generation
        if generation is None:  # the known one is from the store, too
            generation = self._store.inner.generation(self._key)
        if reader is not None and (reader.size, generation) == (self.size, self.generation):
            return reader
        if reader is not None:
            reader.close()
        self._memory.forget(self._name)
        raise replaced(self._store, self._key)
