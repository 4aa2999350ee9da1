"""A store that caches the values of another store in memory."""

from __future__ import annotations

import pickle
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    WrapperStore,
    check_prefix,
)

from zarr_stores._reader_store import ReaderStore
from zarr_stores.cache.caching_store import MemoryCachingStore
from zarr_stores.cache.pool import CacheInfo, CachePool, OpenedValue
from zarr_stores.cache.reader import CachedReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import Buffer, ByteReader, Store
    from zarr_core.interfaces.store import Listing, Values


__all__ = ["CacheInfo", "CachePool", "LRUCacheStore"]

_WHOLE = ByteRange(0)
_LISTINGS = "\0"
"""The key of the listings of a store in a pool; not a valid key of a value."""


class LRUCacheStore(ReaderStore, MemoryCachingStore):
    """A cache of values, parts of values and listings with least-recently-used eviction.

    Parameters
    ----------
    inner : Store
        The store.
    max_bytes : int, CachePool or None
        Maximum size of the cached values and listings in bytes; None for no limit.  Larger values are
        passed on and not cached.  A :class:`CachePool` is shared with other stores.
    check : {"never", "generation"} or float
        When to compare the generation of a cached value with ``inner.generation``: never, for data
        that does not change; at every use, which costs a small request; or if the last comparison
        is older than this number of seconds.

    Notes
    -----
    Changes made through this object are visible immediately.  Changes made by others are
    visible after the next comparison of generations, or after one of the three ``invalidate``
    methods; until then a read may return an old value.  :meth:`generation` returns the generation
    in the inner store, and removes an older value from the cache.  Missing keys are not cached.
    Listings are cached only with ``check="never"``.

    Values are returned without a copy, as read-only buffers.  A part is found in the cache
    if it has the same start and length as an earlier one, or if the whole value is cached.
    All reads of an open value return the same generation.  If the readers of the inner store
    have a generation, a value is opened there only for parts that are not cached; otherwise
    it is always opened there.

    Pickles and copies have an empty cache around the same store.

    Raises
    ------
    StoreError
        If an argument is not valid.
    """

    def __init__(
        self,
        inner: Store,
        max_bytes: int | CachePool | None,
        check: Literal["never", "generation"] | float = "never",
    ) -> None:
        super().__init__(inner, max_bytes, check)
        self.in_memory = True
        self._prefix = self._memory.prefix_of(inner) if self._shared else ""
        self._checks = check != "never"
        self._age = 0.0 if isinstance(check, str) else float(check)
        self._compares_generations = False

    # --- the cache ---

    def invalidate(self) -> None:
        """Remove all values and listings from the cache."""
        self.invalidate_values()
        self.invalidate_keys()

    def invalidate_values(self) -> None:
        """Remove all values, and with them all listings, from the cache."""
        self._memory.forget_all(self._prefix)

    def invalidate_keys(self) -> None:
        """Remove all listings from the cache."""
        self._memory.forget(self._prefix + _LISTINGS)

    def _invalidate(self, key: str) -> None:
        self._memory.forget(self._prefix + key)
        self.invalidate_keys()

    @contextmanager
    def _invalidate_below(self, prefix: str) -> Iterator[None]:
        try:
            yield
        finally:
            self.invalidate()

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        if self._checks:
            return super().get(key)
        name = self._prefix + key
        held = self._memory.use(name)
        if held is not None:
            return held
        change = self._memory.missed(name)
        value = self.inner.get(key)
        return None if value is None else self._memory.keep(name, _WHOLE, value, change)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        if self._checks:
            return super().get_limited(key, limit)
        name = self._prefix + key
        held = self._memory.use(name)
        if held is not None:
            return len(held) if len(held) > limit else held
        change = self._memory.missed(name)
        value = self.inner.get_limited(key, limit)
        if value is None or isinstance(value, int):
            return value
        return self._memory.keep(name, _WHOLE, value, change)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        requested = list(key_ranges)
        if self._checks:
            return super().get_partial_values(requested)
        prefix, find = self._prefix, self._memory.find
        values: Values = [find(prefix + key, part) for key, part in requested]
        if None not in values:
            return values
        gaps = [number for number, value in enumerate(values) if value is None]
        changes = [self._memory.changes(prefix + requested[number][0]) for number in gaps]
        read = self.inner.get_partial_values([requested[number] for number in gaps])
        for number, value, change in zip(gaps, read, changes, strict=True):
            if value is not None:
                key, part = requested[number]
                values[number] = self._memory.keep(prefix + key, part, value, change)
        return values

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        if self._checks:
            return self._open_checked(key, first)
        name = self._prefix + key
        held = self._memory.use(name)
        if held is not None:
            return BufferByteReader(held)
        memory = self._memory
        change = memory.changes(name)
        known = memory.opened(name)
        if known is not None and known.generation is not None:
            return CachedReader(self, memory, key, name, known, change, None)
        reader = self.inner.open_value(key, first)
        if reader is None:
            return None
        if isinstance(reader, BufferByteReader) and memory.fits(reader.size):  # already in memory
            return BufferByteReader(memory.keep(name, _WHOLE, reader.read(0, reader.size), change))
        known = OpenedValue(
            reader.size, reader.generation, reader.max_concurrency, reader.gap_nbytes
        )
        memory.set_opened(name, known, change)
        return CachedReader(self, memory, key, name, known, change, reader)

    def exists(self, key: str) -> bool:
        return self._size(key) is not None or self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        size = self._size(key)
        return self.inner.getsize(key) if size is None else size

    def _size(self, key: str) -> int | None:
        if self._checks:
            return None
        name = self._prefix + key
        held = self._memory.peek(name)
        if held is not None:
            return len(held)
        known = self._memory.opened(name)
        return None if known is None or known.generation is None else known.size

    # --- comparing generations ---

    def generation(self, key: str) -> str | None:
        found = self.inner.generation(key)
        name = self._prefix + key
        known = self._memory.opened(name)
        if known is None or known.generation != found:
            self._memory.forget(name)
        return found

    def _open_checked(self, key: str, first: ByteRange | None) -> ByteReader | None:
        """Open a value of which cached parts have the current generation."""
        memory, name = self._memory, self._prefix + key
        change = memory.changes(name)
        known = memory.opened(name)
        now = time.monotonic()
        if known is not None:
            if now - known.checked >= self._age:
                if self.inner.generation(key) == known.generation:
                    known = known._replace(checked=now)
                    memory.set_opened(name, known, change)
                else:
                    memory.forget(name)
                    known, change = None, memory.changes(name)
            if known is not None:
                return CachedReader(self, memory, key, name, known, change, None)
        # If readers have no generation, it is requested before: it is never later than the value.
        generation = self.inner.generation(key) if self._compares_generations else None
        reader = self.inner.open_value(key, first)
        if reader is None:
            return None
        if reader.generation is not None:
            generation = reader.generation
        elif not self._compares_generations:
            self._compares_generations = True
            reader.close()
            return self._open_checked(key, first)
        elif generation is None:  # the value is new
            return reader
        known = OpenedValue(reader.size, generation, reader.max_concurrency, reader.gap_nbytes, now)
        memory.set_opened(name, known, change)
        return CachedReader(self, memory, key, name, known, change, reader)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        found = self._listing("all", prefix, lambda: tuple(self.inner.list_prefix(prefix)))
        return iter(found)

    list_sizes = WrapperStore.list_sizes  # not cached

    def list_dir(self, prefix: str) -> Listing:
        keys, prefixes = self._listing("dir", prefix, lambda: self.inner.list_dir(prefix))
        return [*keys], [*prefixes]

    def _listing(self, kind: str, prefix: str, work: Any) -> Any:
        check_prefix(prefix)
        if self._checks:  # listings have no generation
            return work()
        name, part = self._prefix + _LISTINGS, (kind, prefix)
        held = self._memory.find(name, part)
        if held is not None:
            return pickle.loads(held)
        change = self._memory.changes(name)
        found = work()
        self._memory.keep(name, part, pickle.dumps(found, 5), change)
        return found

    # --- the object ---
