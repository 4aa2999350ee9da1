"""Base class of caching stores, which invalidate every key that may have changed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from zarr_core.extension import Buffer, Buffers, Change

__all__ = ["CachingStore"]


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
