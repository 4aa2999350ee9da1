"""The common part of the tests for stores: a new store for each test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zarr_core.extension import Store


class StoreCase(ABC):
    """How to create and open a store, and its capabilities."""

    can_erase = True
    """Keys can be removed."""

    key_may_be_prefix = True
    """A key can be a directory of another: ``a`` and ``a/b``; not in file systems."""

    pickles = True
    """A store that is writable can be pickled."""

    case_sensitive = True
    """``A`` and ``a`` are two keys."""

    examples = 30
    """Number of examples of each Hypothesis test."""

    @abstractmethod
    def make(self, tmp_path: Path) -> Store:
        """A new empty store, below ``tmp_path`` if it needs a directory."""

    @abstractmethod
    def again(self, store: Store, *, read_only: bool) -> Store:
        """Another object for the same location."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """A new empty store."""
        store = self.make(tmp_path)
        yield store
        store.close()

    def _fill(self, store: Store) -> list[str]:
        keys = ["zarr.json", "foo/zarr.json", "foo/c/0", "foo/c/1", "foobar/zarr.json"]
        for key in keys:
            store.set(key, key.encode())
        return keys


def filled(size: int, byte: int) -> memoryview:
    """A buffer of this number of bytes, all of one value."""
    return memoryview(bytearray([byte]) * size)
