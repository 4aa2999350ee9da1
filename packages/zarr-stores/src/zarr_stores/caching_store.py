"""Base classes of caching stores, which invalidate every key that may have changed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from zarr_stores.cache_pool import CachePool, as_pool, validate_check
from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from zarr_core.extension import Buffer, Buffers, Change, Store

    from zarr_stores.cache_pool import CacheInfo

__all__ = ["CachingStore", "MemoryCachingStore"]


class CachingStore(WrapperStore):
    """A wrapper that reports every change, even if the change fails halfway."""

    @abstractmethod
    def _invalidate(self, key: str) -> None:
        """Invalidate the value of a key after a change."""

    @abstractmethod
    def _invalidate_below(self, *prefixes: str) -> AbstractContextManager[None]:
        """Invalidate all keys below some prefixes, before and after a change."""

    def discard_cached(self, key: str) -> None:
        self._invalidate(key)
        self.inner.discard_cached(key)

    def set(self, key: str, value: Buffers) -> None:
        try:
            self.inner.set(key, value)
        finally:
            self._invalidate(key)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        changed = []

        def noted() -> Iterator[tuple[str, Buffers]]:
            for key, value in values:
                changed.append(key)
                yield key, value

        try:
            self.inner.set_values(noted())
        finally:
            for key in changed:
                self._invalidate(key)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        requested = list(key_start_values)
        try:
            self.inner.set_partial_values(requested)
        finally:
            for key in {key for key, _, _ in requested}:
                self._invalidate(key)

    def update(self, key: str, change: Change) -> None:
        try:
            self.inner.update(key, change)
        finally:
            self._invalidate(key)

    def erase(self, key: str) -> None:
        try:
            self.inner.erase(key)
        finally:
            self._invalidate(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        names = list(keys)
        try:
            self.inner.erase_values(names)
        finally:
            for key in names:
                self._invalidate(key)

    def erase_prefix(self, prefix: str) -> None:
        with self._invalidate_below(prefix):
            self.inner.erase_prefix(prefix)

    def move_prefix(self, prefix: str, target: str) -> bool:
        with self._invalidate_below(prefix, target):
            return self.inner.move_prefix(prefix, target)


class MemoryCachingStore(CachingStore):
    """A caching store with a cache in memory, which it may share with others.

    Parameters
    ----------
    inner : Store
        The store.
    max_bytes : int, CachePool or None
        Maximum size in bytes; None for no limit.
    check : {"never", "generation"} or float
        When to compare generations with those of the store.

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
