"""A store that records every call, to test that nothing is read or written needlessly."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from zarr_core.extension import Store
from zarr_stores.wrappers.observer import ObservedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Buffer, ByteRange, ByteReader

T = TypeVar("T")


class Call(NamedTuple):
    """One call of a store."""

    method: str
    """Name of the method; ``reader.read`` for reads of an open value."""
    key: str
    """Key or prefix."""
    nbytes: int
    """Bytes of values that went in or came out."""


class CountingStore(ObservedStore):
    """Passes every call to another store, and records it once for each key.

    Parameters
    ----------
    inner : Store
        The wrapped store.

    Attributes
    ----------
    calls : list of Call
        The calls in order; ``calls.clear()`` removes them.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        # As for a remote store, so that the counts do not depend on the inner store.
        self.in_memory = False
        self.calls: list[Call] = []
        self._guard = threading.Lock()

    def note(self, method: str, key: str, nbytes: int = 0) -> None:
        """Add a call to the list."""
        with self._guard:
            self.calls.append(Call(method, key, nbytes))

    def count(self, *methods: str) -> int:
        """Number of calls of these methods, or of all."""
        return sum(not methods or call.method in methods for call in self.calls)

    def nbytes(self, *methods: str) -> int:
        """Number of bytes read or written by these methods, or by all."""
        return sum(call.nbytes for call in self.calls if not methods or call.method in methods)

    def keys(self, *methods: str) -> list[str]:
        """The requested keys of these methods, or of all, in order."""
        return [call.key for call in self.calls if not methods or call.method in methods]

    def perform(
        self, operation: str, key: str, work: Callable[[], T], nbytes: Callable[[T], int]
    ) -> T:
        result = work()
        self.note(operation, key, nbytes(result))
        return result

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        asked = list(key_ranges)
        values = self.inner.get_partial_values(asked)
        for (key, _), value in zip(asked, values, strict=True):
            self.note("get_partial_values", key, 0 if value is None else len(value))
        return values

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return Store.list_sizes(self, prefix)  # one by one

    def erase_values(self, keys: Iterable[str]) -> None:
        gone = list(keys)
        self.inner.erase_values(gone)
        for key in gone:
            self.note("erase_values", key)


class VersionedStore(CountingStore):
    """Like a server: values and their readers have a generation, which changes with the value."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.generations: dict[str, str] = {}

    def note(self, method: str, key: str, nbytes: int = 0) -> None:
        if method in ("set", "update"):
            self.generations[key] = f'"{time.time_ns()}-{self.count()}"'
        super().note(method, key, nbytes)

    def generation(self, key: str) -> str | None:
        self.note("generation", key)
        return self.generations[key] if self.inner.exists(key) else None

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        reader = super().open_value(key, first)
        if reader is not None:
            reader.generation = self.generations[key]
            reader.max_concurrency, reader.gap_nbytes = 7, 77
        return reader
