"""A store that caches the values of another store in memory."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import BufferByteReader, ByteRange, Store, StoreError, check_prefix

from zarr_stores._after_fork import register_after_fork
from zarr_stores.cache_memory import MemoryCache, OpenedValue
from zarr_stores.cache_reader import CachedReader
from zarr_stores.caching_store import CachingStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import Buffer, ByteReader

    from zarr_stores.wrapper import Listing, Values

__all__ = ["CacheInfo", "LRUCacheStore"]

_WHOLE = ByteRange(0)


class CacheInfo(NamedTuple):
    """Statistics of a cache."""

    hits: int
    """Number of reads answered from the cache."""
    misses: int
    """Number of reads that required the inner store."""
    nbytes: int
    """Size of the cached values in bytes."""
    max_bytes: int | None
    """Maximum size of the cached values in bytes; None for no limit."""


class LRUCacheStore(CachingStore):
    """A cache of values, parts of values and listings with least-recently-used eviction.

    Parameters
    ----------
    inner : Store
        The store.
    max_bytes : int or None
        Maximum size of the cached values in bytes; None for no limit.  Larger values are
        passed on and not cached.

    Notes
    -----
    Changes made through this object are visible immediately.  Changes made by others are
    visible after one of the three ``invalidate`` methods; until then a read may return an
    old value.  Missing keys are not cached.

    Values are returned without a copy, as read-only buffers.  A part is found in the cache
    if it has the same start and length as an earlier one, or if the whole value is cached.
    All reads of an open value return the same generation.  If the readers of the inner store
    have a generation, a value is opened there only for parts that are not cached; otherwise
    it is always opened there.

    Pickles and copies have an empty cache around the same store.

    Raises
    ------
    StoreError
        If ``max_bytes`` is negative.
    """

    def __init__(self, inner: Store, max_bytes: int | None) -> None:
        super().__init__(inner)
        if max_bytes is not None and max_bytes < 0:
            raise StoreError(f"max_bytes must not be negative: {max_bytes}", store=inner)
        self.in_memory = True
        self._max_bytes = max_bytes
        self._memory = MemoryCache(max_bytes)
        self._listings: dict[tuple[str, str], Any] = {}
        self._listing_changes = 0
        self._guard = threading.Lock()
        register_after_fork(self, LRUCacheStore._reinitialize)

    def _reinitialize(self) -> None:
        self._guard = threading.Lock()

    # --- the cache ---

    def cache_info(self) -> CacheInfo:
        """Return the hits, the misses, the size and the maximum size of the cache."""
        memory = self._memory
        return CacheInfo(memory.hits, memory.misses, memory.nbytes, self._max_bytes)

    def invalidate(self) -> None:
        """Remove all values and listings from the cache."""
        self.invalidate_values()
        self.invalidate_keys()

    def invalidate_values(self) -> None:
        """Remove all values from the cache."""
        self._memory.forget_all()

    def invalidate_keys(self) -> None:
        """Remove all listings from the cache."""
        with self._guard:
            self._listings.clear()
            self._listing_changes += 1

    def _invalidate(self, key: str) -> None:
        self._memory.forget(key)
        self.invalidate_keys()

    @contextmanager
    def _invalidate_below(self, *prefixes: str) -> Iterator[None]:
        try:
            yield
        finally:
            self.invalidate()

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        held = self._memory.use(key)
        if held is not None:
            return held
        change = self._memory.missed(key)
        value = self.inner.get(key)
        return None if value is None else self._memory.keep(key, _WHOLE, value, change)

    def get_limited(self, key: str, limit: int) -> Buffer | int | None:
        held = self._memory.use(key)
        if held is not None:
            return len(held) if len(held) > limit else held
        change = self._memory.missed(key)
        value = self.inner.get_limited(key, limit)
        if value is None or isinstance(value, int):
            return value
        return self._memory.keep(key, _WHOLE, value, change)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        requested = list(key_ranges)
        find = self._memory.find
        values: Values = [find(key, part) for key, part in requested]
        if None not in values:
            return values
        gaps = [number for number, value in enumerate(values) if value is None]
        changes = [self._memory.changes(requested[number][0]) for number in gaps]
        read = self.inner.get_partial_values([requested[number] for number in gaps])
        for number, value, change in zip(gaps, read, changes, strict=True):
            if value is not None:
                values[number] = self._memory.keep(*requested[number], value, change)
        return values

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        return Store.get_into(self, key, buffer)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        held = self._memory.use(key)
        if held is not None:
            return BufferByteReader(held)
        memory = self._memory
        change = memory.changes(key)
        known = memory.opened(key)
        if known is not None and known.generation is not None:
            return CachedReader(self, memory, key, known, change, None)
        reader = self.inner.open_value(key, first)
        if reader is None:
            return None
        if isinstance(reader, BufferByteReader) and memory.fits(reader.size):  # already in memory
            return BufferByteReader(memory.keep(key, _WHOLE, reader.read(0, reader.size), change))
        known = OpenedValue(
            reader.size, reader.generation, reader.max_concurrency, reader.gap_bytes
        )
        memory.set_opened(key, known, change)
        return CachedReader(self, memory, key, known, change, reader)

    def exists(self, key: str) -> bool:
        return self._size(key) is not None or self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        size = self._size(key)
        return self.inner.getsize(key) if size is None else size

    def _size(self, key: str) -> int | None:
        held = self._memory.peek(key)
        if held is not None:
            return len(held)
        known = self._memory.opened(key)
        return None if known is None or known.generation is None else known.size

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        found = self._listing("all", prefix, lambda: tuple(self.inner.list_prefix(prefix)))
        return iter(found)

    def list(self) -> Iterator[str]:
        return self.list_prefix("")

    def list_dir(self, prefix: str) -> Listing:
        keys, prefixes = self._listing("dir", prefix, lambda: self.inner.list_dir(prefix))
        return [*keys], [*prefixes]

    def _listing(self, kind: str, prefix: str, work: Any) -> Any:
        check_prefix(prefix)
        with self._guard:
            found = self._listings.get((kind, prefix))
            change = self._listing_changes
        if found is None:
            found = work()
            with self._guard:
                if change == self._listing_changes:
                    self._listings[kind, prefix] = found
        return found

    # --- the object ---

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self._max_bytes
