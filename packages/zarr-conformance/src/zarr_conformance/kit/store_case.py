"""What the tests of stores share: a new store for each test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zarr_core.extension import Store


class StoreCase(ABC):
    """How to make an empty store, how to open it again, what it can do."""

    can_erase = True
    """Keys can be removed."""

    key_may_be_prefix = True
    """A key may be the beginning of another: ``a`` and ``a/b``; no directory can do that."""

    pickles = True
    """A store that is writable can be pickled."""

    case_sensitive = True
    """``A`` and ``a`` are two keys."""

    examples = 30
    """How many examples hypothesis tries in each test."""

    @abstractmethod
    def make(self, tmp_path: Path) -> Store:
        """A new empty store, its place below ``tmp_path`` if it needs one."""

    @abstractmethod
    def again(self, store: Store, *, read_only: bool) -> Store:
        """Another object for the same place."""

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
    """Memory of so many bytes, all of one value."""
    return memoryview(bytearray([byte]) * size)
