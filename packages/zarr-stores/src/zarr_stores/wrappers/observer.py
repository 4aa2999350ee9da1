"""Base class of wrappers that observe every operation."""

from __future__ import annotations

from abc import abstractmethod
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from zarr_core.extension import ByteReader, WrapperStore
from zarr_core.interfaces.byte_reader import WrapperReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, Buffers, ByteRange, Change
    from zarr_core.interfaces.store import Listing, Values


__all__ = ["READS", "ObservedStore"]

T = TypeVar("T")

READS = frozenset(
    {
        "get",
        "get_limited",
        "get_partial_values",
        "open_value",
        "exists",
        "getsize",
        "generation",
        "list_prefix",
        "list_sizes",
        "list_dir",
        "reader.read_into",
        "reader.read",
    }
)
"""Operations that do not change data."""


class ObservedStore(WrapperStore):
    """A wrapper that passes every operation through :meth:`perform`, which subclasses define.

    Reads of an open value are the operations ``reader.read`` and ``reader.read_into``.
    ``list`` is ``list_prefix`` with an empty prefix, ``get_limited`` without ``out`` is ``get``.
    An observed listing ends at its first key; the following keys are not observed.
    """

    @abstractmethod
    def perform(
        self, operation: str, key: str, work: Callable[[], T], nbytes: Callable[[T], int]
    ) -> T:
        """Perform one operation."""

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self.perform("get", key, lambda: self.inner.get(key), _length)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        def work() -> Buffer | int | None:
            return self.inner.get_limited(key, limit, out)

        def nbytes(value: Buffer | int | None) -> int:
            return 0 if isinstance(value, int) else _length(value)

        return self.perform("get" if out is None else "get_limited", key, work, nbytes)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        requested = list(key_ranges)
        keys = " ".join(key for key, _ in requested)
        return self.perform(
            "get_partial_values",
            keys,
            lambda: self.inner.get_partial_values(requested),
            lambda values: sum(map(_length, values)),
        )

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._open(key, lambda: self.inner.open_value(key, first))

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._open(key, lambda: WrapperStore.open_cached(self, key, first))

    def _open(self, key: str, work: Callable[[], ByteReader | None]) -> ByteReader | None:
        reader = self.perform("open_value", key, work, _nothing)
        return None if reader is None else _Reader(self, reader, key)

    def exists(self, key: str) -> bool:
        return self.perform("exists", key, lambda: self.inner.exists(key), _nothing)

    def getsize(self, key: str) -> int | None:
        return self.perform("getsize", key, lambda: self.inner.getsize(key), _nothing)

    def generation(self, key: str) -> str | None:
        return self.perform("generation", key, lambda: self.inner.generation(key), _nothing)

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self.perform("set", key, lambda: self.inner.set(key, value), lambda _: _all(value))

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        items = list(values)
        self.perform(
            "set_values",
            " ".join(key for key, _ in items),
            lambda: self.inner.set_values(items),
            lambda _: sum(_all(value) for _, value in items),
        )

    def update(self, key: str, change: Change) -> None:
        written = 0

        def watched(reader: ByteReader | None) -> Buffers | ByteReader | None:
            nonlocal written
            value = change(None if reader is None else _Reader(self, reader, key))
            unchanged = value is None or isinstance(value, ByteReader)
            written = 0 if unchanged else _all(value)  # type: ignore[arg-type] # the pieces
            return value

        self.perform("update", key, lambda: self.inner.update(key, watched), lambda _: written)

    def erase(self, key: str) -> None:
        self.perform("erase", key, lambda: self.inner.erase(key), _nothing)

    def erase_values(self, keys: Iterable[str]) -> None:
        names = list(keys)
        self.perform(
            "erase_values", " ".join(names), lambda: self.inner.erase_values(names), _nothing
        )

    def erase_prefix(self, prefix: str) -> None:
        self.perform("erase_prefix", prefix, lambda: self.inner.erase_prefix(prefix), _nothing)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return self.perform(
            "list_prefix", prefix, lambda: _start_listing(self.inner.list_prefix(prefix)), _nothing
        )

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return self.perform(
            "list_sizes", prefix, lambda: _start_listing(self.inner.list_sizes(prefix)), _nothing
        )

    def list_dir(self, prefix: str) -> Listing:
        return self.perform("list_dir", prefix, lambda: self.inner.list_dir(prefix), _nothing)


class _Reader(WrapperReader):
    """Reader of a value of an observed store."""

    _store: ObservedStore

    def __init__(self, store: ObservedStore, inner: ByteReader, key: str) -> None:
        super().__init__(inner)
        self._store = store
        self._key = key

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._store.perform(
            "reader.read_into",
            self._key,
            lambda: self.inner.read_into(parts),
            lambda _: sum(len(buffer) for _, buffer in parts),
        )

    def read(self, start: int, length: int) -> memoryview:
        return self._store.perform(
            "reader.read", self._key, lambda: self.inner.read(start, length), len
        )


def _start_listing(listing: Iterable[T]) -> Iterator[T]:
    """Start a lazy listing by requesting its first item."""
    rest = iter(listing)
    first = [*islice(rest, 1)]
    return chain(first, rest)


def _nothing(_: object) -> int:
    return 0


def _length(value: Buffer | None) -> int:
    return 0 if value is None else len(value)


def _all(value: Buffers) -> int:
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    return sum(map(len, value))
