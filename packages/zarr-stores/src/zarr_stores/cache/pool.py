"""A size-limited, least-recently-used cache of values and decoded chunks, for several stores.

``cachetools`` has no entries that are forgotten together, by key or prefix, nor values that are not
kept because they changed while they were read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from zarr_core.extension import ByteRange, StoreError, WrapperStore

from zarr_stores._after_fork import register_after_fork

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import Literal

    from zarr_core.extension import Buffer, Store

_WHOLE = ByteRange(0)
_STRIPES = 1024

Part: TypeAlias = ByteRange | tuple[str, str]
"""A part of a value; or the kind and the prefix of a listing."""

Changes: TypeAlias = tuple[int, int]
"""Counters of invalidations: of all values, and of the values that share a key's counter."""


class CacheInfo(NamedTuple):
    """Statistics of a cache."""

    hits: int
    """Number of reads and listings answered from the cache."""
    misses: int
    """Number of reads and listings that required the inner store."""
    nbytes: int
    """Size of the cached values and listings in bytes."""
    max_bytes: int | None
    """Maximum size of the cached values and listings in bytes; None for no limit."""


class OpenedValue(NamedTuple):
    """Properties of a value that was opened."""

    size: int
    """Length in bytes."""
    generation: str | None
    """Version; None if the readers of the store have none."""
    max_concurrency: int | None
    """Maximum number of concurrent reads."""
    gap_nbytes: int
    """Gap between two parts, in bytes, up to which they are read together."""
    checked: float = 0.0
    """When the generation was last compared, in seconds of ``time.monotonic``."""


class CachePool:
    """Memory for the cached values of one or several stores, and for decoded chunks.

    For :class:`LRUCacheStore`, which caches values and listings, and :class:`ChunkCacheStore`,
    which caches decoded chunks.  The least recently used values of all stores are removed first.
    Metadata documents are values as chunks are.  Caches of equal stores, such as two stores for one
    URL, share their values, and changes through one of them are visible through the other.

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

    The methods below ``clear`` are for these stores.  Keys in them begin with the prefix
    of the store.  A value that was read while its key was invalidated is not cached: :meth:`keep`
    takes the result of :meth:`changes` from before the read.

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
        # Whole values by key; parts by key and byte range, listings by kind and prefix, chunks.
        self._held: OrderedDict[str | tuple[str, Hashable], Any] = OrderedDict()
        self._parts: dict[str, set[Hashable]] = {}
        self._opened: dict[str, OpenedValue] = {}
        self._prefixes: WeakKeyDictionary[Store, str] = WeakKeyDictionary()
        self._numbers = count()
        self._all_changes = 0
        # Prefixes below which values are being changed, one entry for each change.
        self._changing: list[str] = []
        # Keys share counters: one counter per key would never be freed.
        self._some_changes = [0] * _STRIPES
        register_after_fork(self, CachePool._reinitialize)

    def _reinitialize(self) -> None:
        if self._guard.acquire(blocking=False):
            self._guard.release()
        else:  # held by a thread of the parent, perhaps in the middle of a change
            self._guard = threading.Lock()
            self.forget_all()
        if self._changing:  # by threads of the parent
            self._changing.clear()
            self.forget_all()

    def cache_info(self) -> CacheInfo:
        """Return the hits, misses, size and maximum size, of all stores together."""
        with self._guard:
            return CacheInfo(self.hits, self.misses, self.nbytes, self.max_bytes)

    def clear(self) -> None:
        """Remove the values of all stores."""
        self.forget_all()

    def prefix_of(self, store: Store) -> str:
        """Return the prefix for the keys of a store, which differs from those of others."""
        with self._guard:
            # Wrappers are equal to the inner store, but may return other values.
            found = None if isinstance(store, WrapperStore) else self._prefixes.get(store)
            if found is None:
                found = f"{next(self._numbers)}:"
                if not isinstance(store, WrapperStore):
                    self._prefixes[store] = found
            return found

    def fits(self, nbytes: int) -> bool:
        """Return whether a value of this size can be cached."""
        return self.max_bytes is None or nbytes <= self.max_bytes

    def changes(self, key: str) -> Changes:
        """Return the state of the key, for a later comparison."""
        with self._guard:
            return self._changes(key)

    def _changes(self, key: str) -> Changes:
        return self._all_changes, self._some_changes[hash(key) % _STRIPES]

    def state(self, key: str) -> tuple[Changes, bool]:
        """Return the state of the key, and whether its value is being changed."""
        # Without the lock, as every read asks: a change that begins or ends now is seen later.
        changes = self._all_changes, self._some_changes[hash(key) % _STRIPES]
        return changes, bool(self._changing) and self._is_changing(key)

    def _is_changing(self, key: str) -> bool:
        return key.startswith(tuple(self._changing))

    def begin_change(self, prefix: str) -> None:
        """Keep no chunk below a prefix until :meth:`end_change`."""
        with self._guard:
            self._changing.append(prefix)

    def end_change(self, prefix: str) -> None:
        """End a change, after the values were forgotten."""
        with self._guard:
            if prefix in self._changing:  # not after a fork
                self._changing.remove(prefix)

    def use(self, key: str) -> Buffer | None:
        """Return the whole value if it is cached; counts hits, but not misses."""
        with self._guard:
            value: Buffer | None = self._held.get(key)
            if value is not None:
                self._held.move_to_end(key)
                self.hits += 1
            return value

    def missed(self, key: str) -> Changes:
        """Count a miss and return the state of the key."""
        with self._guard:
            self.misses += 1
            return self._changes(key)

    def find(self, key: str, part: Part, changes: Changes | None = None) -> Buffer | None:
        """Return a cached part if the state is unchanged; counts hits and misses."""
        with self._guard:
            if changes is None or changes == self._changes(key):
                held = self._held
                value: Buffer | None = held.get(key)
                if value is not None and isinstance(part, ByteRange):
                    held.move_to_end(key)
                    self.hits += 1
                    start, length = part
                    if start < 0:
                        start = max(0, len(value) + start)
                    stop = None if length is None else start + length
                    return memoryview(value)[start:stop].toreadonly()
                name = (key, part)
                part_value: Buffer | None = held.get(name)
                if part_value is not None:
                    held.move_to_end(name)
                    self.hits += 1
                    return part_value
            self.misses += 1
            return None

    def peek(self, key: str) -> Buffer | None:
        """Return the whole value if it is cached, without counting it as a use."""
        with self._guard:
            value: Buffer | None = self._held.get(key)
            return value

    def use_chunk(self, key: str, part: Hashable) -> Any:
        """Return a decoded chunk, or another object, if it is cached; counts hits, not misses."""
        name = (key, part)
        with self._guard:
            chunk = self._held.get(name)
            if chunk is not None:
                self._held.move_to_end(name)
                self.hits += 1
            return chunk

    def keep_chunk(self, key: str, part: Hashable, chunk: Any, changes: Changes) -> None:
        """Cache an object with ``nbytes`` unless its value is being changed or was invalidated."""
        self._keep(key, part, chunk, chunk.nbytes, changes, is_chunk=True)

    def keep(self, key: str, part: Part, value: Buffer, changes: Changes) -> Buffer:
        """Cache a value unless it was invalidated since; return it read-only."""
        frozen = _frozen(value)
        self._keep(key, part, frozen, len(frozen), changes)
        return frozen

    def _keep(
        self,
        key: str,
        part: Hashable,
        value: Any,
        size: int,
        changes: Changes,
        is_chunk: bool = False,
    ) -> None:
        if not self.fits(size):
            return
        with self._guard:
            if changes == self._changes(key) and not (is_chunk and self._is_changing(key)):
                self._drop(key, part)
                self._held[_name(key, part)] = value
                self._parts.setdefault(key, set()).add(part)
                self.nbytes += size
                while self.max_bytes is not None and self.nbytes > self.max_bytes:
                    oldest = next(iter(self._held))
                    self._drop(*((oldest, _WHOLE) if isinstance(oldest, str) else oldest))

    def opened(self, key: str) -> OpenedValue | None:
        """Return the properties of an opened value of which parts are cached."""
        with self._guard:
            return self._opened.get(key) if key in self._parts else None

    def set_opened(self, key: str, opened: OpenedValue, changes: Changes) -> None:
        """Store the properties of an opened value; remove cached parts of another generation."""
        with self._guard:
            if changes != self._changes(key):
                return
            if key not in self._parts:
                self._opened.pop(key, None)
            if self._opened.setdefault(key, opened)[:2] != opened[:2]:
                for part in tuple(self._parts.get(key, ())):
                    self._drop(key, part)
            self._opened[key] = opened

    def forget(self, key: str) -> None:
        """Remove the value of a key and all its parts."""
        with self._guard:
            self._some_changes[hash(key) % _STRIPES] += 1
            for part in tuple(self._parts.get(key, ())):
                self._drop(key, part)
            self._opened.pop(key, None)

    def forget_all(self, prefix: str = "") -> None:
        """Remove the values of all keys that begin with a prefix."""
        with self._guard:
            self._all_changes += 1
            if not prefix:
                self._held.clear()
                self._parts.clear()
                self._opened.clear()
                self.nbytes = 0
                return
            for key in self._below(self._parts, prefix):
                for part in tuple(self._parts[key]):
                    self._drop(key, part)
            for key in self._below(self._opened, prefix):
                del self._opened[key]

    def _below(self, keys: Iterable[str], prefix: str) -> list[str]:
        return [key for key in keys if key.startswith(prefix)]

    def _drop(self, key: str, part: Hashable) -> None:
        value = self._held.pop(_name(key, part), None)
        if value is None:
            return
        self.nbytes -= len(value) if type(value) is bytes else value.nbytes
        parts = self._parts[key]
        parts.discard(part)
        if not parts:
            del self._parts[key]
            self._opened.pop(key, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return CachePool, (self.max_bytes,)


def _name(key: str, part: Hashable) -> str | tuple[str, Hashable]:
    return key if part == _WHOLE else (key, part)


def _frozen(value: Buffer) -> Buffer:
    """Return an immutable buffer of the value that keeps no larger buffer alive."""
    if type(value) is bytes:
        return value
    view = memoryview(value)
    if isinstance(view.obj, bytes | bytearray) and len(view.obj) == len(view):
        return view.toreadonly()
    return bytes(view)


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


def validate_check(check: Literal["never", "generation"] | float, store: Store) -> None:
    """Raise StoreError if the argument ``check`` of a cache is not valid."""
    if check not in ("generation", "never") and (isinstance(check, str) or not check >= 0):
        raise StoreError(
            f'check must be "never", "generation" or a number of seconds, not {check!r}', store
        )
