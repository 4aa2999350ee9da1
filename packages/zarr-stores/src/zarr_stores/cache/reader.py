"""Reader of a value that is partly cached in memory."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from zarr_core.extension import ByteRange, ByteReader, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer, WrapperStore

    from zarr_stores.cache.pool import CachePool, Changes, OpenedValue


class CachedReader(ByteReader):
    """Reader of one generation of a value, parts of which may be cached."""

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
        self._store = store
        self._memory = memory
        self._key = key
        self._name = name
        self._changes = changes
        self._inner = inner
        self._guard = threading.Lock()
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
            self._reader(*missing[0]).read_into(missing)
        for start, buffer in missing:
            if self._memory.fits(len(buffer)):
                part = ByteRange(start, len(buffer))
                self._memory.keep(self._name, part, bytes(buffer), self._changes)

    def read(self, start: int, length: int) -> memoryview:
        held = self._held(start, length)
        if held is not None:
            return memoryview(held)
        value = self._reader(start, length).read(start, length)
        part = ByteRange(start, length)
        return memoryview(self._memory.keep(self._name, part, value, self._changes))

    def _held(self, start: int, length: int) -> Buffer | None:
        self.check_part(start, length)
        # The cache may hold a later generation than this reader's.
        return self._memory.find(self._name, ByteRange(start, length), self._changes)

    def _reader(self, start: int, wanted: int | memoryview) -> ByteReader:
        with self._guard:
            if self._inner is None:
                length = wanted if isinstance(wanted, int) else len(wanted)
                reader = self._store.inner.open_value(self._key, ByteRange(start, length))
                generation = None if reader is None else reader.generation
                if generation is None:  # the known one is from the store, too
                    generation = self._store.inner.generation(self._key)
                if reader is None or (reader.size, generation) != (self.size, self.generation):
                    if reader is not None:
                        reader.close()
                    self._memory.forget(self._name)
                    raise ValueReplacedError(
                        "the value was replaced while it was read", self._store, self._key
                    )
                self._inner = reader
            return self._inner

    def close(self) -> None:
        with self._guard:
            inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()
