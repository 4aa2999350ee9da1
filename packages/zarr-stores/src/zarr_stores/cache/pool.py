"""A size-limited, least-recently-used cache of values and decoded chunks, for several stores.

``cachetools`` has no entries that are forgotten together, by key or prefix, nor values that are not
kept because they changed while they were read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from zarr_core.extension import StoreError, WrapperStore

from zarr_stores._after_fork import register_after_fork

if TYPE_CHECKING:
    from collections.abc import Hashable

    from zarr_core.extension import Store

_STRIPES = 1024

Changes: TypeAlias = tuple[int, int, bool]
"""Number of changes of all values and of those that share a counter; whether one is in progress."""


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


@dataclass(slots=True)
class KnownGeneration:
    """The generation of a cached value."""

    generation: str | None
    """The result of :meth:`Store.generation`."""
    checked: float
    """When it was last compared, in seconds of ``time.monotonic``."""


class CachePool:
    """Memory for the cached values of one or several stores, and for decoded chunks.

    For :class:`LRUCacheStore`, which caches values, and :class:`ChunkCacheStore`, which caches
    decoded chunks.  The least recently used values of all stores are removed first.  Metadata
    documents are values as chunks are.  Caches of equal stores, such as two stores for one URL,
    share their values, and changes through one of them are visible through the other.

    Parameters
    ----------
    max_bytes : int or None
        Maximum size of all cached values in bytes; None for no limit.

    Attributes
    ----------
    max_bytes : int or None
        The maximum size.

    Raises
    ------
    StoreError
        If ``max_bytes`` is negative.

    Notes
    -----
    Thread-safe.  Pickles and copies are empty; stores that are pickled together share the copy.

    The methods below ``clear`` are for these stores.  Their keys begin with the prefix of the store.
    Each cached object has a key and a *part*: None for a whole value; other parts distinguish the
    chunks of a value, and codecs.  A value that was read while it was changed is not cached:
    :meth:`keep` takes the result of :meth:`changes` from before the read.

    Examples
    --------
    >>> from zarr_core import MemoryStore, create_array, open
    >>> from zarr_stores.cache.lru_cache import CachePool, LRUCacheStore
    >>> pool = CachePool(10**9)
    >>> for store in (MemoryStore(), MemoryStore()):
    ...     _ = create_array(store, shape=4)
    ...     array = open(LRUCacheStore(store, pool))
    >>> pool.cache_info().misses
    2
    """

    def __init__(self, max_bytes: int | None) -> None:
        if max_bytes is not None and max_bytes < 0:
            raise StoreError(f"max_bytes must not be negative: {max_bytes}", store="CachePool")
        self.max_bytes = max_bytes
        self.hits = 0
        self.misses = 0
        self.nbytes = 0
        self._guard = threading.Lock()
        self._held: OrderedDict[tuple[str, Hashable], Any] = OrderedDict()  # by key and part
        self._parts: dict[str, set[Hashable]] = {}
        self._generations: dict[str, KnownGeneration] = {}
        self._prefixes: WeakKeyDictionary[Store, str] = WeakKeyDictionary()
        self._numbers = count()
        self._all_changes = 0
        # Keys share counters: one counter per key would never be freed.
        self._some_changes = [0] * _STRIPES
        # Prefixes below which values are being changed, one entry for each change.
        self._changing: list[str] = []
        register_after_fork(self, CachePool._reinitialize)

    def _reinitialize(self) -> None:
        # locked() is not sufficient: it is False for a moment after another thread got the lock.
        is_free = self._guard.acquire(blocking=False)
        self._guard = threading.Lock()
        if self._changing or not is_free:  # by threads of the parent, perhaps halfway
            self._changing.clear()
            self.clear()

    def cache_info(self) -> CacheInfo:
        """Return the hits, misses, size and maximum size, of all stores together."""
        with self._guard:
            return CacheInfo(self.hits, self.misses, self.nbytes, self.max_bytes)

    def clear(self) -> None:
        """Remove the values of all stores."""
        with self._guard:
            self._all_changes += 1
            self._held.clear()
            self._parts.clear()
            self._generations.clear()
            self.nbytes = 0

    def prefix_of(self, store: Store) -> str:
        """Return the prefix for the keys of a store, which differs from those of others."""
        if isinstance(store, WrapperStore):
            # Wrappers are equal to the inner store, but may return other values.
            return f"{next(self._numbers)}:"
        with self._guard:
            return self._prefixes.setdefault(store, f"{next(self._numbers)}:")

    def fits(self, nbytes: int) -> bool:
        """Return whether a value of this size can be cached."""
        return self.max_bytes is None or nbytes <= self.max_bytes

    # --- changes ---

    def changes(self, key: str) -> Changes:
        """Return the changes of the value of a key until now, for a later comparison."""
        # Without the lock, as every read asks: a change that begins or ends now is seen later.
        changing = bool(self._changing) and key.startswith(tuple(self._changing))
        return self._all_changes, self._some_changes[hash(key) % _STRIPES], changing

    def begin_change(self, prefix: str) -> None:
        """Keep no value below a prefix until :meth:`end_change`."""
        with self._guard:
            self._changing.append(prefix)

    def end_change(self, prefix: str) -> None:
        """End a change, after the values were forgotten."""
        with self._guard:
            if prefix in self._changing:  # not after a fork
                self._changing.remove(prefix)

    # --- values ---

    def use(self, key: str, part: Hashable = None) -> Any:
        """Return the cached object, or None; counts hits, but not misses."""
        with self._guard:
            value = self._held.get((key, part))
            if value is not None:
                self._held.move_to_end((key, part))
                self.hits += 1
            return value

    def missed(self, key: str) -> Changes:
        """Count a miss and return the changes of the value until now."""
        with self._guard:
            self.misses += 1
            return self.changes(key)

    def keep(
        self,
        key: str,
        part: Hashable,
        value: Any,
        changes: Changes,
        generation: KnownGeneration | None = None,
    ) -> None:
        """Cache bytes, or an object with ``nbytes``, unless the value of the key was changed.

        Cached parts of another generation of the value are removed.
        """
        size = _nbytes(value)
        if not self.fits(size):
            return
        with self._guard:
            if changes[-1] or changes != self.changes(key):
                return
            self._drop(key, part)
            if generation is not None:
                known = self._generations.get(key)
                if known is not None and known.generation != generation.generation:
                    self._drop_all(key)
                self._generations[key] = generation
            self._held[key, part] = value
            self._parts.setdefault(key, set()).add(part)
            self.nbytes += size
            while self.max_bytes is not None and self.nbytes > self.max_bytes:
                self._drop(*next(iter(self._held)))

    def generation(self, key: str) -> KnownGeneration | None:
        """Return the generation of a cached value."""
        return self._generations.get(key)

    def forget(self, key: str) -> None:
        """Remove everything that is cached for a key."""
        with self._guard:
            self._some_changes[hash(key) % _STRIPES] += 1
            self._drop_all(key)

    def forget_all(self, prefix: str) -> None:
        """Remove everything that is cached for keys that begin with a prefix."""
        with self._guard:
            self._all_changes += 1
            for key in [key for key in self._parts if key.startswith(prefix)]:
                self._drop_all(key)

    def _drop_all(self, key: str) -> None:
        for part in tuple(self._parts.get(key, ())):
            self._drop(key, part)

    def _drop(self, key: str, part: Hashable) -> None:
        value = self._held.pop((key, part), None)
        if value is None:
            return
        self.nbytes -= _nbytes(value)
        parts = self._parts[key]
        parts.discard(part)
        if not parts:
            del self._parts[key]
            self._generations.pop(key, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return CachePool, (self.max_bytes,)


def _nbytes(value: Any) -> int:
    return len(value) if isinstance(value, bytes) else int(value.nbytes)


def as_pool(max_bytes: int | CachePool | None) -> CachePool:
    """Return the given pool, or a new one with the given limit in bytes."""
    if isinstance(max_bytes, CachePool):
        return max_bytes
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int | None):
        raise TypeError(
            "max_bytes must be a number of bytes, None or a CachePool, not "
            f"{type(max_bytes).__name__}"
        )
    return CachePool(max_bytes)
