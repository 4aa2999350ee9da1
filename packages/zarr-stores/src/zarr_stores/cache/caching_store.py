"""Base classes of caching stores, which invalidate every key that may have changed."""

from __future__ import annotations

import time
from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import WrapperStore

from zarr_stores.cache.pool import CachePool, KnownGeneration, as_pool, validate_check

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from zarr_core.extension import Buffers, Change, Store

    from zarr_stores.cache.pool import CacheInfo, Changes


class InvalidatingStore(WrapperStore):
    """A wrapper that reports every change, even if the change fails halfway."""

    def _begin_change(self, key: str) -> None:
        """Note that a change of the value of a key begins."""

    def _end_change(self, key: str) -> None:
        """Note that it has ended, or failed halfway."""
        self._invalidate(key)

    @abstractmethod
    def _invalidate(self, key: str) -> None:
        """Invalidate the value of a key."""

    @abstractmethod
    def _changing_below(self, prefix: str) -> AbstractContextManager[None]:
        """Note that all values below a prefix are changed, and invalidate them."""

    @contextmanager
    def _changing(self, *keys: str) -> Iterator[list[str]]:
        """Note that the values of keys are changed; the list that is returned can grow."""
        changed = [*keys]
        for key in keys:
            self._begin_change(key)
        try:
            yield changed
        finally:
            for key in changed:
                self._end_change(key)

    def discard_cached(self, key: str) -> None:
        self._invalidate(key)
        super().discard_cached(key)

    def set(self, key: str, value: Buffers) -> None:
        with self._changing(key):
            self.inner.set(key, value)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        with self._changing() as changed:

            def noted() -> Iterator[tuple[str, Buffers]]:
                for key, value in values:
                    self._begin_change(key)
                    changed.append(key)
                    yield key, value

            self.inner.set_values(noted())

    def update(self, key: str, change: Change) -> None:
        with self._changing(key):
            self.inner.update(key, change)

    def erase(self, key: str) -> None:
        with self._changing(key):
            self.inner.erase(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        names = list(keys)
        with self._changing(*names):
            self.inner.erase_values(names)

    def erase_prefix(self, prefix: str) -> None:
        with self._changing_below(prefix):
            self.inner.erase_prefix(prefix)


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
        validate_check(check, store)
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
    def changing_below(self, prefix: str) -> Iterator[None]:
        """Keep nothing below a prefix during a change, and forget what was kept before."""
        name = self.prefix + prefix
        self.pool.begin_change(name)
        try:
            yield
        finally:
            self.pool.forget_all(name)
            self.pool.end_change(name)


class MemoryCachingStore(InvalidatingStore):
    """A caching store with a cache in memory, which it may share with others."""

    cache: StoreCache
    """What is cached for this store."""

    def cache_info(self) -> CacheInfo:
        """Return the hits, misses, size and maximum size of the cache, or of its pool."""
        return self.cache.pool.cache_info()

    def invalidate(self) -> None:
        """Remove everything that is cached for this store."""
        self.cache.pool.forget_all(self.cache.prefix)

    def _begin_change(self, key: str) -> None:
        self.cache.pool.begin_change(self.cache.prefix + key)

    def _end_change(self, key: str) -> None:
        self._invalidate(key)
        self.cache.pool.end_change(self.cache.prefix + key)

    def _invalidate(self, key: str) -> None:
        self.cache.pool.forget(self.cache.prefix + key)

    def _changing_below(self, prefix: str) -> AbstractContextManager[None]:
        return self.cache.changing_below(prefix)

    def _arguments(self) -> tuple[Any, ...]:
        cache = self.cache
        return self.inner, cache.pool if cache.is_shared else cache.pool.max_bytes, cache.check
