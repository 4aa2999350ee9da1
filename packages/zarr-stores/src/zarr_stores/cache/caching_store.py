"""Base class of caching stores, and the values of one store in a pool."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import StoreError, WrapperStore

from zarr_stores.cache.pool import CachePool, KnownGeneration, as_pool

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from zarr_core.extension import Buffers, Change, Store

    from zarr_stores.cache.pool import CacheInfo, Changes


class StoreCache:
    """The values of one store in a pool; all parts of a value have the same generation.

    ``kind`` distinguishes what several caches of one store have in the pool.
    """

    def __init__(
        self,
        store: Store,
        max_bytes: int | CachePool | None,
        check: Literal["never", "generation"] | float,
        kind: str = "",
    ) -> None:
        if check not in ("generation", "never") and (isinstance(check, str) or not check >= 0):
            raise StoreError(
                f'check must be "never", "generation" or a number of seconds, not {check!r}', store
            )
        self.pool = as_pool(max_bytes)
        self.is_shared = isinstance(max_bytes, CachePool)
        """Whether other stores may use the pool."""
        self.prefix = kind + self.pool.prefix_of(store)
        """Prefix of the keys of the store in the pool."""
        self.check = check
        self.checks = check != "never"
        """Whether generations are compared."""
        self._store = store
        self._age = 0.0 if isinstance(check, str) else float(check)

    def use(self, key: str, part: Hashable = None) -> Any:
        """Return a cached value or part, compared with the store if necessary; None if missing."""
        name = self.prefix + key
        if self.checks and not self._is_current(key, name):
            return None
        return self.pool.use(name, part)

    def _is_current(self, key: str, name: str) -> bool:
        """Return whether a cached value is current; remove it if the stored value has changed."""
        known = self.pool.generation(name)
        if known is None:
            return False
        now = time.monotonic()
        if now - known.checked < self._age:
            return True
        if self._store.generation(key) != known.generation:
            self.pool.forget(name)
            return False
        known.checked = now
        return True

    def missed(
        self, key: str, checks: bool | None = None
    ) -> tuple[Changes, KnownGeneration | None]:
        """Begin to read a value; pass the result to :meth:`keep`."""
        name = self.prefix + key
        if not (self.checks if checks is None else checks):
            return self.pool.missed(name), None
        # Requested before the value, so that the generation is never later than the value.
        now = KnownGeneration(self._store.generation(key), time.monotonic())
        known = self.pool.generation(name)
        if known is not None and known.generation != now.generation:
            self.pool.forget(name)  # reads in other threads are not cached either
        return self.pool.missed(name), now

    def keep(
        self, key: str, part: Hashable, value: Any, state: tuple[Changes, KnownGeneration | None]
    ) -> None:
        """Cache a value or part that was read, unless the value has been changed since."""
        self.pool.keep(self.prefix + key, part, value, *state)

    @contextmanager
    def changing(self, *keys: str) -> Iterator[None]:
        """Keep none of the values during a change, and forget what was kept before."""
        names = [self.prefix + key for key in keys]
        for name in names:
            self.pool.begin_change(name)
        try:
            yield
        finally:
            for name in names:
                self.pool.forget(name)
                self.pool.end_change(name)

    @contextmanager
    def changing_below(self, prefix: str) -> Iterator[None]:
        """Keep nothing below a prefix during a change, and forget what was kept before."""
        name = self.prefix + prefix
        self.pool.begin_change(name)
        try:
            yield
        finally:
            self.pool.forget_all(name)
            self.pool.end_change(name)


class MemoryCachingStore(WrapperStore):
    """A caching store, which invalidates every key that may have changed, also by half a change."""

    cache: StoreCache
    """What is cached for this store."""

    def cache_info(self) -> CacheInfo:
        """Return the hits, misses, size and maximum size of the cache, or of its pool."""
        return self.cache.pool.cache_info()

    def invalidate(self) -> None:
        """Remove everything that is cached for this store."""
        self.cache.pool.forget_all(self.cache.prefix)

    def discard_cached(self, key: str) -> None:
        self.cache.pool.forget(self.cache.prefix + key)
        super().discard_cached(key)

    def set(self, key: str, value: Buffers) -> None:
        with self.cache.changing(key):
            self.inner.set(key, value)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        items = list(values)
        with self.cache.changing(*(key for key, _ in items)):
            self.inner.set_values(items)

    def update(self, key: str, change: Change) -> None:
        with self.cache.changing(key):
            self.inner.update(key, change)

    def erase(self, key: str) -> None:
        with self.cache.changing(key):
            self.inner.erase(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        names = list(keys)
        with self.cache.changing(*names):
            self.inner.erase_values(names)

    def erase_prefix(self, prefix: str) -> None:
        with self.cache.changing_below(prefix):
            self.inner.erase_prefix(prefix)

    def _arguments(self) -> tuple[Any, ...]:
        cache = self.cache
        return self.inner, cache.pool if cache.is_shared else cache.pool.max_bytes, cache.check
