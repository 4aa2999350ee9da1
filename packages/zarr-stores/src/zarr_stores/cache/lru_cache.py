"""A store that caches the values of another store in memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from zarr_core.extension import BufferByteReader, ByteRange, WrapperStore, check_prefix

from zarr_stores.cache.caching_store import MemoryCachingStore, StoreCache
from zarr_stores.cache.pool import CacheInfo, CachePool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Buffer, ByteReader, Store
    from zarr_core.interfaces.store import Listing, Values


__all__ = ["CacheInfo", "CachePool", "LRUCacheStore"]

_NAME_NBYTES = 64  # memory for a name in a listing, in addition to its length
_LISTINGS = "\0"
"""The key of the listings of a store in a pool; not a valid key of a value."""


class LRUCacheStore(MemoryCachingStore):
    """A cache of values and listings with least-recently-used eviction.

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
        is older than this number of seconds.  A value that is not cached then takes one more request.

    Notes
    -----
    Changes made through this object are visible immediately.  Changes made by others are
    visible after the next comparison of generations, or after one of the three ``invalidate``
    methods; until then a read may return an old value.  :meth:`generation` returns the generation
    in the inner store, and removes an older value from the cache.  Missing keys are not cached.
    Listings are cached only with ``check="never"``.

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
        super().__init__(inner, max_bytes, check)
        self.in_memory = True
        self._values = StoreCache(inner, self._memory, check)

    # --- the cache ---

    def invalidate(self) -> None:
        """Remove all values and listings from the cache."""
        self._memory.forget_all(self._values.prefix)

    invalidate_values = invalidate

    def invalidate_keys(self) -> None:
        """Remove all listings from the cache."""
        self._memory.forget(self._values.prefix + _LISTINGS)

    def _invalidate(self, key: str) -> None:
        self._memory.forget(self._values.prefix + key)
        self.invalidate_keys()

    @contextmanager
    def _invalidate_below(self, prefix: str) -> Iterator[None]:
        try:
            yield
        finally:
            self.invalidate()

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        value: Buffer | int | None = self._values.use(key)
        if value is None:
            value = self._load(key, None)
        assert not isinstance(value, int)  # no value is longer
        return value

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        value: Buffer | None = self._values.use(key)
        if value is None:
            return self._load(key, limit)
        return len(value) if len(value) > limit else value

    def _load(self, key: str, limit: int | None) -> Buffer | int | None:
        """Read a value from the inner store and keep it."""
        state = self._values.missed(key)
        inner = self.inner
        value = inner.get(key) if limit is None else inner.get_limited(key, limit)
        if value is None or isinstance(value, int):
            return value
        frozen = _frozen(value)
        self._values.keep(key, None, frozen, state)
        return frozen

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        requested = list(key_ranges)
        held = [self._values.use(key) for key, _ in requested]
        missing = [item for item, value in zip(requested, held, strict=True) if value is None]
        for key, _ in missing:
            self._memory.missed(self._values.prefix + key)
        found = iter(self.inner.get_partial_values(missing) if missing else ())
        return [
            next(found)
            if value is None
            else memoryview(value)[slice(*part.within(len(value)))].toreadonly()
            for (_, part), value in zip(requested, held, strict=True)
        ]

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
        value = self._values.use(key)
        if value is not None:
            return BufferByteReader(value)
        changes = self._memory.missed(self._values.prefix + key)
        reader = open_inner(key, first)
        if isinstance(reader, BufferByteReader) and not self._values.checks:  # a whole value
            self._values.keep(key, None, _frozen(reader.read(0, reader.size)), (changes, None))
        return reader

    def exists(self, key: str) -> bool:
        return self._held(key) is not None or self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        value = self._held(key)
        return self.inner.getsize(key) if value is None else len(value)

    def _held(self, key: str) -> Buffer | None:
        """Return a cached value that is not compared with the store."""
        if self._values.checks:
            return None
        value: Buffer | None = self._memory.peek(self._values.prefix + key)
        return value

    def generation(self, key: str) -> str | None:
        found = self.inner.generation(key)
        known = self._memory.generation(self._values.prefix + key)
        if known is None or known.generation != found:
            self._memory.forget(self._values.prefix + key)
        return found

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        keys, _ = self._listing("all", prefix, lambda: ([*self.inner.list_prefix(prefix)], []))
        return iter(keys)

    list_sizes = WrapperStore.list_sizes  # not cached

    def list_dir(self, prefix: str) -> Listing:
        keys, prefixes = self._listing("dir", prefix, lambda: self.inner.list_dir(prefix))
        return [*keys], [*prefixes]

    def _listing(self, kind: str, prefix: str, work: Callable[[], Listing]) -> Listing:
        check_prefix(prefix)
        if self._values.checks:  # listings have no generation
            return work()
        name, part = self._values.prefix + _LISTINGS, (kind, prefix)
        held = self._memory.use(name, part)
        if held is None:
            changes = self._memory.missed(name)
            held = _CachedListing(work())
            self._memory.keep(name, part, held, changes)
        listing: Listing = held.listing
        return listing


class _CachedListing:
    """A listing, with its approximate size in memory."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.nbytes = sum(_NAME_NBYTES + len(name) for names in listing for name in names)


def _frozen(value: Buffer) -> Buffer:
    """Return an immutable buffer of the value that keeps no larger buffer alive."""
    if type(value) is bytes:
        return value
    view = memoryview(value)
    if isinstance(view.obj, bytes | bytearray) and len(view.obj) == len(view):
        return view.toreadonly()
    return bytes(view)
