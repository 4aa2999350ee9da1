"""Readers for byte ranges of values in stores of zarr-python, which have no generations."""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zarr_core.extension import ByteReader, StoreReadError, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.extension import Buffer, Store


class RangeReader(ByteReader):
    """Reader of byte ranges of a value, which fails after the value is replaced.

    Parameters
    ----------
    store : Store
        Store of the value.
    get_ranges : callable
        Returns the bytes of ranges, each given by key, start and stop; None for a missing key.
    key : str
        Key of the value.
    size : int
        Length of the value, in bytes.
    """

    def __init__(
        self,
        store: Store,
        get_ranges: Callable[[list[tuple[str, int, int]]], list[Buffer | None]],
        key: str,
        size: int,
    ) -> None:
        self._store = store
        self._get_ranges = get_ranges
        self._key = key
        self.size = size
        self.max_concurrency = store.max_concurrency
        self.replaced = False
        """Whether the store has written to the key since the reader was opened."""

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        ranges = [(self._key, start, start + len(buffer)) for start, buffer in parts]
        values = self._get_ranges(ranges)
        for (start, buffer), value in zip(parts, values, strict=True):
            if self.replaced or value is None:
                raise ValueReplacedError(
                    "the value was replaced while it was read", self._store, self._key
                )
            if len(value) != len(buffer):
                raise StoreReadError(
                    f"read {len(value)} of {len(buffer)} bytes at offset {start}",
                    self._store,
                    self._key,
                )
            buffer[:] = memoryview(value)


class Readers:
    """Open readers of a store, which are invalidated when their value is written."""

    def __init__(self) -> None:
        self._open: defaultdict[str, weakref.WeakSet[RangeReader]] = defaultdict(weakref.WeakSet)
        self._guard = threading.Lock()

    def add(self, key: str, reader: RangeReader) -> None:
        """Add a new reader of a key."""
        with self._guard:
            self._open[key].add(reader)

    @contextmanager
    def invalidating(self, key: str) -> Iterator[None]:
        """Invalidate all readers of a key that are opened before or during a write."""
        self._invalidate(key)
        try:
            yield
        finally:
            self._invalidate(key)

    def _invalidate(self, key: str) -> None:
        with self._guard:
            for reader in self._open.pop(key, ()):
                reader.replaced = True
