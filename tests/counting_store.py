"""A store that notes every call, to try that nothing is read or written in vain."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from zarr_core.extension import Store, ValueReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces


class Call(NamedTuple):
    """One call of a store."""

    method: str
    """Name of the method; ``reader.read`` for reads of an open value."""
    key: str
    """Key or prefix."""
    nbytes: int
    """Bytes of values that went in or came out."""


class CountingStore(Store):
    """Passes every call on to another store and notes it.

    Parameters
    ----------
    inner : Store
        The store that does the work.

    Attributes
    ----------
    calls : list of Call
        What was called, in order; ``calls.clear()`` begins anew.
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.calls: list[Call] = []
        self.read_only = inner.read_only
        self.supports_listing = inner.supports_listing
        self.supports_erasing = inner.supports_erasing
        self.requests = inner.requests
        self._guard = threading.Lock()

    @property
    def url(self) -> str:
        return self.inner.url

    def note(self, method: str, key: str, nbytes: int = 0) -> None:
        """Add a call to the list."""
        with self._guard:
            self.calls.append(Call(method, key, nbytes))

    def count(self, *methods: str) -> int:
        """How many calls there were, of these methods or of all."""
        return sum(not methods or call.method in methods for call in self.calls)

    def nbytes(self, *methods: str) -> int:
        """How many bytes went in or out, by these methods or by all."""
        return sum(call.nbytes for call in self.calls if not methods or call.method in methods)

    def keys(self, *methods: str) -> list[str]:
        """The keys that were asked for, by these methods or by all, in order."""
        return [call.key for call in self.calls if not methods or call.method in methods]

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        value = self.inner.get(key)
        self.note("get", key, 0 if value is None else len(value))
        return value

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        asked = list(key_ranges)
        values = self.inner.get_partial_values(asked)
        for (key, _), value in zip(asked, values, strict=True):
            self.note("get_partial_values", key, 0 if value is None else len(value))
        return values

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        size = self.inner.get_into(key, buffer)
        self.note("get_into", key, min(size or 0, len(buffer)))
        return size

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        reader = self.inner.open_value(key)
        self.note("open_value", key)
        return None if reader is None else _Reader(self, reader, key)

    def exists(self, key: str) -> bool:
        self.note("exists", key)
        return self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        self.note("getsize", key)
        return self.inner.getsize(key)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self.inner.set(key, value)
        self.note("set", key, _length(value))

    def update(self, key: str, change: Change) -> None:
        def watched(reader: ValueReader | None) -> Pieces | ValueReader | None:
            value = change(None if reader is None else _Reader(self, reader, key))
            unchanged = value is None or isinstance(value, ValueReader)
            self.note("update", key, 0 if unchanged else _length(value))
            return value

        self.inner.update(key, watched)

    def erase(self, key: str) -> None:
        self.inner.erase(key)
        self.note("erase", key)

    def erase_values(self, keys: Iterable[str]) -> None:
        gone = list(keys)
        self.inner.erase_values(gone)
        for key in gone:
            self.note("erase_values", key)

    def erase_prefix(self, prefix: str) -> None:
        self.inner.erase_prefix(prefix)
        self.note("erase_prefix", prefix)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        self.note("list_prefix", prefix)
        return self.inner.list_prefix(prefix)

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        self.note("list_dir", prefix)
        return self.inner.list_dir(prefix)

    # --- the object ---

    def close(self) -> None:
        self.inner.close()

    def __eq__(self, other: object) -> bool:
        return self.inner == (other.inner if isinstance(other, CountingStore) else other)

    def __hash__(self) -> int:
        return hash(self.inner)

    def __repr__(self) -> str:
        return f"CountingStore({self.inner!r})"


def _length(value: Pieces) -> int:
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    return sum(map(len, value))


class _Reader(ValueReader):
    """An open value of a counting store."""

    def __init__(self, store: CountingStore, inner: ValueReader, key: str) -> None:
        self._store = store
        self._inner = inner
        self._key = key

    @property
    def size(self) -> int:
        return self._inner.size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._inner.read_into(parts)
        self._store.note("reader.read_into", self._key, sum(len(buffer) for _, buffer in parts))

    def read(self, start: int, length: int) -> memoryview:
        self._store.note("reader.read", self._key, length)
        return self._inner.read(start, length)

    def close(self) -> None:
        self._inner.close()
