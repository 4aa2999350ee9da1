"""A store around another one, which is told of every key that may have changed.

The base of what keeps copies: they are forgotten after the work, even if it failed half-way.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from zarr_core.extension import Buffer, Change, Pieces

__all__ = ["ChangeWatchingStore"]


class ChangeWatchingStore(WrapperStore):
    """Passes every operation on to another store, and takes note of changes."""

    @abstractmethod
    def _changed(self, key: str) -> None:
        """Take note that a value may be another one now, or none."""

    @abstractmethod
    def _changing_below(self, *prefixes: str) -> AbstractContextManager[None]:
        """Take note that, meanwhile, all below some prefixes may come or go."""

    def set(self, key: str, value: Pieces) -> None:
        try:
            self.inner.set(key, value)
        finally:
            self._changed(key)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        asked = list(key_start_values)
        try:
            self.inner.set_partial_values(asked)
        finally:
            for key in {key for key, _, _ in asked}:
                self._changed(key)

    def update(self, key: str, change: Change) -> None:
        try:
            self.inner.update(key, change)
        finally:
            self._changed(key)

    def erase(self, key: str) -> None:
        try:
            self.inner.erase(key)
        finally:
            self._changed(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        gone = list(keys)
        try:
            self.inner.erase_values(gone)
        finally:
            for key in gone:
                self._changed(key)

    def erase_prefix(self, prefix: str) -> None:
        with self._changing_below(prefix):
            self.inner.erase_prefix(prefix)

    def move_prefix(self, prefix: str, target: str) -> bool:
        with self._changing_below(prefix, target):
            return self.inner.move_prefix(prefix, target)
