"""A store whose arrays keep decoded chunks in memory."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import ChunkObserver

from zarr_stores.cache.caching_store import MemoryCachingStore, StoreCache
from zarr_stores.cache.chunk_reader import CachedChunkReader
from zarr_stores.cache.pool import CacheInfo, CachePool, KnownGeneration

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Store

    from zarr_stores.cache.pool import Changes

__all__ = ["CacheInfo", "CachePool", "ChunkCacheStore"]


class ChunkCacheStore(MemoryCachingStore):
    """A store whose arrays keep decoded chunks, with least-recently-used eviction.

    A selection of a chunk that is in the cache needs neither the store nor the codecs.  Of shards,
    inner chunks are kept.

    Parameters
    ----------
    inner : Store
        The store.
    max_bytes : int, CachePool or None
        Maximum size of the decoded chunks in bytes; None for no limit.  Larger chunks, and those
        of data types whose size in memory varies, are not kept.  A :class:`CachePool` is shared
        with other stores; stores for the same location then share their chunks.
    check : {"never", "generation"} or float
        When to compare the generation of the value of a chunk with ``inner.generation``: never; at
        every use, which costs a small request; or if the last comparison is older than this number
        of seconds.  Another request is then sent before a value is read.

    Notes
    -----
    Changes that are made through this object, or by arrays and groups of this process, are visible
    immediately.  Changes that others make, or programs that use another store object directly, are
    visible after the next comparison, or after :meth:`invalidate`.

    Chunks are decoded once for all threads that need them.  Missing chunks are not kept.  Other
    values, such as metadata, are not cached; for these, wrap an
    :class:`~zarr_stores.cache.lru_cache.LRUCacheStore`.

    Pickles and copies have an empty cache around the same store.

    Raises
    ------
    StoreError
        If an argument is not valid.

    Examples
    --------
    >>> from zarr_core import MemoryStore, create_array, open
    >>> from zarr_stores.cache.chunk_cache import ChunkCacheStore
    >>> memory = MemoryStore()
    >>> _ = create_array(memory, data=range(100), chunks=100)
    >>> array = open(ChunkCacheStore(memory, 10**6))
    >>> [int(array[index]) for index in (3, 50, 70)]
    [3, 50, 70]
    >>> array.store.cache_info().hits
    2
    """

    def __init__(
        self,
        inner: Store,
        max_bytes: int | CachePool | None,
        check: Literal["never", "generation"] | float = "never",
    ) -> None:
        super().__init__(inner)
        self.cache = chunks = DecodedChunks(inner, max_bytes, check)
        self.traits = self.traits._replace(
            chunk_reader=lambda codecs: CachedChunkReader(self, codecs, chunks)
        )


class DecodedChunks(StoreCache, ChunkObserver):
    """The decoded chunks of one store in a pool.

    The name of a part distinguishes the chunks of a shard, and the codecs that decoded them.
    """

    def __init__(
        self,
        store: Store,
        max_bytes: int | CachePool | None,
        check: Literal["never", "generation"] | float,
    ) -> None:
        StoreCache.__init__(self, store, max_bytes, check, kind="chunk ")
        # The generation of a file costs little: parts of two values are never combined.
        self._has_files = store.traits.files is not None
        ChunkObserver.__init__(self)

    def __eq__(self, other: object) -> bool:
        """Whether a cache has the same chunks, so that it sees the same changes."""
        if not isinstance(other, DecodedChunks):
            return NotImplemented
        return self.pool is other.pool and self.prefix == other.prefix

    def __hash__(self) -> int:
        return hash(self.prefix)

    def changes(self, key: str) -> Changes:
        """Return the changes of a value until now, and whether one is in progress.

        No chunk is kept during a change: those in the cache are from before.
        """
        return self.pool.changes(self.prefix + key)

    def missed_part(self, key: str) -> tuple[Changes, KnownGeneration | None]:
        """Begin to read chunks of a value that has several; :meth:`confirm` follows."""
        return self.missed(key, self.checks or self._has_files)

    def confirm(
        self, key: str, state: Any, generation: str | None
    ) -> tuple[Changes, KnownGeneration | None] | None:
        """Compare the generation of a value that was read in part with that of the cached chunks.

        ``state`` is the result of :meth:`missed_part`, ``generation`` the generation of the value
        that was read, if it is known.  Returns the state for :meth:`keep`.  Returns None if another
        value has been stored meanwhile.  Also returns None if the cached chunks were of another
        generation, and removes them.
        """
        changes, expected = state
        if expected is not None:
            is_same = (generation or self._store.generation(key)) == expected.generation
        else:
            known = self.pool.generation(self.prefix + key)
            is_same = known is None or generation in (None, known.generation)
            if generation is not None:
                expected = KnownGeneration(generation, time.monotonic())
        if is_same:
            return changes, expected
        self.pool.forget(self.prefix + key)
        return None

    def begin_change(self, store: Store, prefix: str) -> Callable[[], None] | None:
        # A store with this cache tells it of changes.
        is_own = isinstance(store, ChunkCacheStore) and store.cache == self
        if is_own or store != self._store:
            return None
        changes = ExitStack()
        changes.enter_context(self.changing_below(prefix))
        return changes.close


def with_chunk_cache(store: Store, pool: CachePool) -> Store:
    """Wrap a store as the setting ``chunk_cache`` requires, unless it has such a cache."""
    return store if isinstance(store, ChunkCacheStore) else ChunkCacheStore(store, pool)
