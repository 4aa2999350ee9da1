"""Base classes of caching stores, which invalidate every key that may have changed."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import WrapperStore

from zarr_stores.cache.pool import CachePool, as_pool, validate_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from zarr_core.extension import Buffers, Change, Store

    from zarr_stores.cache.pool import CacheInfo


class InvalidatingStore(WrapperStore):
    """A wrapper that reports every change, even if the change fails halfway."""

    def _begin(self, key: str) -> None:
        """Note that a change of the value of a key begins."""

    def _end(self, key: str) -> None:
        """Note that it has ended, or failed halfway."""
        self._invalidate(key)

    @abstractmethod
    def _invalidate(self, key: str) -> None:
        """Invalidate the value of a key."""

    @abstractmethod
    def _invalidate_below(self, prefix: str) -> AbstractContextManager[None]:
        """Invalidate all keys below a prefix, before and after a change."""

    @contextmanager
    def _changing(self, *keys: str) -> Iterator[list[str]]:
        """Note that the values of keys are changed; the list that is returned can grow."""
        changed = [*keys]
        for key in keys:
            self._begin(key)
        try:
            yield changed
        finally:
            for key in changed:
                self._end(key)

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
                    self._begin(key)
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
        with self._invalidate_below(prefix):
            self.inner.erase_prefix(prefix)


class MemoryCachingStore(InvalidatingStore):
    """A caching store with a cache in memory, which it may share with others."""

    def __init__(
        self,
        inner: Store,
        max_bytes: int | CachePool | None,
        check: Literal["never", "generation"] | float = "never",
    ) -> None:
        super().__init__(inner)
        validate_check(check, inner)
        self._shared = isinstance(max_bytes, CachePool)
        self._memory = as_pool(max_bytes)
        self._check = check

    def cache_info(self) -> CacheInfo:
        """Return the hits, misses, size and maximum size of the cache, or of its pool."""
        return self._memory.cache_info()

    def _arguments(self) -> tuple[Any, ...]:
        memory = self._memory
        return self.inner, memory if self._shared else memory.max_bytes, self._check
