"""Reading parts of values in stores of zarr-python, which know no versions."""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zarr_core.extension import StoreReadError, ValueReader, ValueReplacedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_bridge.stores import ZarrPythonStore


class RangeReader(ValueReader):
    """A value of which ranges are asked for, until it is known to have been replaced.

    Parameters
    ----------
    store : ZarrPythonStore
        The store.
    key : str
        The key.
    size : int
        Length of the value, in bytes.
    """

    def __init__(self, store: ZarrPythonStore, key: str, size: int) -> None:
        self._store = store
        self._key = key
        self._size = size
        self.requests = store.requests
        self.replaced = False
        """Whether somebody has written to the key since."""

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            if start < 0 or start + len(buffer) > self._size:
                raise StoreReadError(
                    f"bytes {start} to {start + len(buffer)} of a value of {self._size} bytes",
                    self._store,
                    self._key,
                )
        ranges = [(self._key, start, start + len(buffer)) for start, buffer in parts]
        values = self._store.get_ranges(ranges)
        for (start, buffer), value in zip(parts, values, strict=True):
            if self.replaced or value is None:
                raise ValueReplacedError(
                    "the value was replaced while it was read", self._store, self._key
                )
            if len(value) != len(buffer):
                raise StoreReadError(
                    f"{len(value)} bytes came of the {len(buffer)} from {start}",
                    self._store,
                    self._key,
                )
            buffer[:] = memoryview(value)


class Readers:
    """The open readers of a store, which are told when their value is written to."""

    def __init__(self) -> None:
        self._open: defaultdict[str, weakref.WeakSet[RangeReader]] = defaultdict(weakref.WeakSet)
        self._guard = threading.Lock()

    def open(self, store: ZarrPythonStore, key: str, size: int) -> RangeReader:
        """A reader that will be told."""
        reader = RangeReader(store, key, size)
        with self._guard:
            self._open[key].add(reader)
        return reader

    @contextmanager
    def changing(self, key: str) -> Iterator[None]:
        """Write to a key: who has opened it before, or meanwhile, reads it no more."""
        self._tell(key)
        try:
            yield
        finally:
            self._tell(key)

    def _tell(self, key: str) -> None:
        with self._guard:
            for reader in self._open.pop(key, ()):
                reader.replaced = True
