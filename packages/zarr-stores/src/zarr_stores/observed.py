"""A wrapper that sees every operation in one place."""

from __future__ import annotations

from abc import abstractmethod
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from zarr_core.extension import ValueReader, WrapperReader

from zarr_stores.wrapper import WrapperStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

    from zarr_stores.wrapper import Listing, Values

__all__ = ["READS", "ObservedStore"]

T = TypeVar("T")

READS = frozenset(
    {
        "get",
        "get_partial_values",
        "get_into",
        "open_value",
        "exists",
        "getsize",
        "version",
        "list_prefix",
        "list_sizes",
        "list_dir",
        "reader.read_into",
        "reader.read",
    }
)
"""Operations that change nothing."""


class ObservedStore(WrapperStore):
    """Has every operation done by :meth:`perform`, which subclasses say.

    Reads of an open value are the operations ``reader.read`` and ``reader.read_into``;
    ``list`` is ``list_prefix`` of the empty prefix.  A listing is performed up to its first
    key, not while the others follow.
    """

    @abstractmethod
    def perform(
        self, operation: str, key: str, work: Callable[[], T], nbytes: Callable[[T], int]
    ) -> T:
        """Do the work of one operation.

        Parameters
        ----------
        operation : str
            Name of the method.
        key : str
            Its key or prefix; several are joined by spaces.
        work : callable
            Does it.
        nbytes : callable
            Bytes of values that went in or out, from what the work returned.

        Returns
        -------
        object
            What the work returned.
        """

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self.perform("get", key, lambda: self.inner.get(key), _length)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        asked = list(key_ranges)
        keys = " ".join(key for key, _ in asked)
        return self.perform(
            "get_partial_values",
            keys,
            lambda: self.inner.get_partial_values(asked),
            lambda values: sum(map(_length, values)),
        )

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        def work() -> int | None:
            return self.inner.get_into(key, buffer)

        def nbytes(size: int | None) -> int:
            return min(size or 0, len(buffer))

        return self.perform("get_into", key, work, nbytes)

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        def work() -> ValueReader | None:
            return self.inner.open_value(key, first)

        reader = self.perform("open_value", key, work, _nothing)
        return None if reader is None else _Reader(self, reader, key)

    def exists(self, key: str) -> bool:
        return self.perform("exists", key, lambda: self.inner.exists(key), _nothing)

    def getsize(self, key: str) -> int | None:
        return self.perform("getsize", key, lambda: self.inner.getsize(key), _nothing)

    def version(self, key: str) -> str | None:
        return self.perform("version", key, lambda: self.inner.version(key), _nothing)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self.perform("set", key, lambda: self.inner.set(key, value), lambda _: _all(value))

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        asked = list(key_start_values)
        self.perform(
            "set_partial_values",
            " ".join(key for key, _, _ in asked),
            lambda: self.inner.set_partial_values(asked),
            lambda _: sum(len(value) for _, _, value in asked),
        )

    def update(self, key: str, change: Change) -> None:
        written = 0

        def watched(reader: ValueReader | None) -> Pieces | ValueReader | None:
            nonlocal written
            value = change(None if reader is None else _Reader(self, reader, key))
            unchanged = value is None or isinstance(value, ValueReader)
            written = 0 if unchanged else _all(value)  # type: ignore[arg-type] # the pieces
            return value

        self.perform("update", key, lambda: self.inner.update(key, watched), lambda _: written)

    def erase(self, key: str) -> None:
        self.perform("erase", key, lambda: self.inner.erase(key), _nothing)

    def erase_values(self, keys: Iterable[str]) -> None:
        gone = list(keys)
        self.perform(
            "erase_values", " ".join(gone), lambda: self.inner.erase_values(gone), _nothing
        )

    def erase_prefix(self, prefix: str) -> None:
        self.perform("erase_prefix", prefix, lambda: self.inner.erase_prefix(prefix), _nothing)

    def move_prefix(self, prefix: str, target: str) -> bool:
        def work() -> bool:
            return self.inner.move_prefix(prefix, target)

        return self.perform("move_prefix", f"{prefix} {target}", work, _nothing)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return self.perform(
            "list_prefix", prefix, lambda: _begun(self.inner.list_prefix(prefix)), _nothing
        )

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return self.perform(
            "list_sizes", prefix, lambda: _begun(self.inner.list_sizes(prefix)), _nothing
        )

    def list(self) -> Iterator[str]:
        return self.list_prefix("")

    def list_dir(self, prefix: str) -> Listing:
        return self.perform("list_dir", prefix, lambda: self.inner.list_dir(prefix), _nothing)


class _Reader(WrapperReader):
    """An open value of an observed store."""

    def __init__(self, store: ObservedStore, inner: ValueReader, key: str) -> None:
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


def _begun(listing: Iterable[T]) -> Iterator[T]:
    """A listing of which the first is here: until then nothing may have been asked."""
    rest = iter(listing)
    first = [*islice(rest, 1)]
    return chain(first, rest)


def _nothing(_: object) -> int:
    return 0


def _length(value: Buffer | None) -> int:
    return 0 if value is None else len(value)


def _all(value: Pieces) -> int:
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    return sum(map(len, value))
