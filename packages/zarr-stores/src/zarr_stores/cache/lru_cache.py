"""A store that caches the values of another store in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from zarr_core.extension import BufferByteReader, WrapperStore

from zarr_stores.cache.caching_store import MemoryCachingStore, StoreCache
from zarr_stores.cache.pool import CacheInfo, CachePool

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Buffer, ByteRange, ByteReader, Store

__all__ = ["CacheInfo", "CachePool", "LRUCacheStore"]


class LRUCacheStore(MemoryCachingStore):
    """A cache of values with least-recently-used eviction.

    Parameters
    ----------
    inner : Store
        The store.
    max_bytes : int, CachePool or None
        Maximum size of the cached values in bytes; None for no limit.  Larger values are passed on
        and not cached.  A :class:`CachePool` is shared with other stores.
    check : {"never", "generation"} or float
        When to compare the generation of a cached value with ``inner.generation``: never, for data
        that does not change; at every use, which costs a small request; or if the last comparison
        is older than this number of seconds.  A value that is not cached then takes one more request.

    Notes
    -----
    Changes made through this object are visible immediately.  Changes made by others are
    visible after the next comparison of generations, or after :meth:`invalidate`; until then a read
    may return an old value.  :meth:`generation` returns the generation in the inner store, and
    removes an older value from the cache.  Missing keys, listings, ``exists`` and ``getsize`` are
    not cached.

    Values are returned without a copy, as read-only buffers.  Only values that are read as a whole
    are cached; parts of values are read from the inner store.  For the inner chunks of shards, use
    :class:`~zarr_stores.cache.chunk_cache.ChunkCacheStore`.

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
        super().__init__(inner)
        self.in_memory = True
        self.cache = StoreCache(inner, max_bytes, check)

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        known: Buffer | None = self.cache.use(key)
        if known is not None:
            return known
        value = self._load(key, self.inner.get)
        assert not isinstance(value, int)
        return value

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        known: Buffer | None = self.cache.use(key)
        if known is not None:
            return len(known) if len(known) > limit else known
        return self._load(key, lambda key: self.inner.get_limited(key, limit))

    def _load(self, key: str, read: Callable[[str], Buffer | int | None]) -> Buffer | int | None:
        """Read a value from the inner store and keep it."""
        state = self.cache.missed(key)
        value = read(key)
        if value is None or isinstance(value, int):
            return value
        frozen = _frozen(value)
        self.cache.keep(key, None, frozen, state)
        return frozen

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._open(key, first, self.inner.open_value)

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._open(key, first, lambda *arguments: WrapperStore.open_cached(self, *arguments))

    def _open(
        self,
        key: str,
        first: ByteRange | None,
        open_inner: Callable[[str, ByteRange | None], ByteReader | None],
    ) -> ByteReader | None:
        value = self.cache.use(key)
        if value is not None:
            return BufferByteReader(value)
        state = self.cache.missed(key, checks=False)
        reader = open_inner(key, first)
        if isinstance(reader, BufferByteReader) and not self.cache.checks:  # a whole value
            self.cache.keep(key, None, _frozen(reader.read(0, reader.size)), state)
        return reader

    def generation(self, key: str) -> str | None:
        generation = self.inner.generation(key)
        pool, name = self.cache.pool, self.cache.prefix + key
        known = pool.generation(name)
        if known is None or known.generation != generation:
            pool.forget(name)
        return generation

    # Not cached.
    exists = WrapperStore.exists
    getsize = WrapperStore.getsize
    list_sizes = WrapperStore.list_sizes


def _frozen(value: Buffer) -> Buffer:
    """Return an immutable buffer of the value that keeps no larger buffer alive."""
    if type(value) is bytes:
        return value
    view = memoryview(value)
    if isinstance(view.obj, bytes | bytearray) and len(view.obj) == len(view):
        return view.toreadonly()
    return bytes(view)
