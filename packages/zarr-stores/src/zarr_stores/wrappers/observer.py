"""Base class of wrappers that observe every operation."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from itertools import chain, islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from zarr_core.extension import ByteReader, Store, WrapperStore
from zarr_core.interfaces.byte_reader import WrapperReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, Buffers, ByteRange, Change

    _Method = TypeVar("_Method", bound=Callable[..., Any])

__all__ = ["READS", "Call", "ObservedStore"]

T = TypeVar("T")

READS = frozenset({
    "get", "get_limited", "get_partial_values", "open_value", "exists", "getsize", "generation",
    "list_prefix", "list_sizes", "list_dir", "reader.read_into", "reader.read",
})  # fmt: skip
"""Operations that do not change data."""


def _nothing(*_: object) -> int:
    return 0


def _length(value: object, *_: object) -> int:
    """Return the bytes of a value, of its pieces, or of several values; 0 for other results."""
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    return sum(map(_length, value)) if isinstance(value, list | tuple) else 0


def _observed(
    method: _Method,
    nbytes: Callable[..., int] = _nothing,
    convert: Callable[[Any], Any] = lambda result: result,
) -> _Method:
    """Return a method that calls the same method of the inner store through ``perform``.

    ``nbytes`` takes the result and the arguments; ``convert`` takes the result of the inner store.
    """
    name = method.__name__
    bind = signature(method).bind

    @wraps(method, updated=())  # without __isabstractmethod__
    def observed(self: ObservedStore, *arguments: Any, **named: Any) -> Any:
        _, first, *others = bind(self, *arguments, **named).args
        if isinstance(first, str):
            keys = first
        else:
            first = list(first)
            keys = " ".join(item if isinstance(item, str) else item[0] for item in first)
        return self.perform(
            name,
            keys,
            lambda: convert(getattr(self.inner, name)(first, *others)),
            lambda result: nbytes(result, first, *others),
        )

    return cast("_Method", observed)


def _start_listing(listing: Iterable[T]) -> Iterator[T]:
    """Start a lazy listing by requesting its first item."""
    rest = iter(listing)
    first = [*islice(rest, 1)]
    return chain(first, rest)


class Call(NamedTuple):
    """An operation of a store that has ended."""

    operation: str
    key: str
    nbytes: int
    """Bytes read or written."""
    seconds: float
    error: BaseException | None


class ObservedStore(WrapperStore):
    """A wrapper that passes every operation through :meth:`perform`, and reports it to :meth:`note`.

    Subclasses define one of the two.  Reads of an open value are the operations ``reader.read`` and
    ``reader.read_into``.  ``list`` is ``list_prefix`` with an empty prefix, ``get_limited`` without
    ``out`` is ``get``.  An observed listing ends at its first key; the following keys are not
    observed.
    """

    def perform(
        self, operation: str, key: str, work: Callable[[], T], nbytes: Callable[[T], int]
    ) -> T:
        """Perform one operation."""
        started = perf_counter()
        try:
            result = work()
        except BaseException as error:
            self.note(Call(operation, key, 0, perf_counter() - started, error))
            raise
        self.note(Call(operation, key, nbytes(result), perf_counter() - started, None))
        return result

    def note(self, call: Call) -> None:
        """Note an operation that has ended."""

    # --- readable ---

    get = _observed(Store.get, _length)
    get_partial_values = _observed(Store.get_partial_values, _length)
    exists = _observed(Store.exists)
    getsize = _observed(Store.getsize)
    generation = _observed(Store.generation)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        def work() -> Buffer | int | None:
            return self.inner.get_limited(key, limit, out)

        return self.perform("get" if out is None else "get_limited", key, work, _length)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._open(key, lambda: self.inner.open_value(key, first))

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self._open(key, lambda: WrapperStore.open_cached(self, key, first))

    def _open(self, key: str, work: Callable[[], ByteReader | None]) -> ByteReader | None:
        reader = self.perform("open_value", key, work, _nothing)
        return None if reader is None else _Reader(self, reader, key)

    # --- writeable ---

    set = _observed(Store.set, lambda _, key, value: _length(value))
    set_values = _observed(Store.set_values, lambda _, items: _length(items))
    erase = _observed(Store.erase)
    erase_values = _observed(Store.erase_values)
    erase_prefix = _observed(Store.erase_prefix)

    def update(self, key: str, change: Change) -> None:
        written = 0

        def watched(reader: ByteReader | None) -> Buffers | ByteReader | None:
            nonlocal written
            value = change(None if reader is None else _Reader(self, reader, key))
            written = _length(value)
            return value

        self.perform("update", key, lambda: self.inner.update(key, watched), lambda _: written)

    # --- listable ---

    list_prefix = _observed(Store.list_prefix, convert=_start_listing)
    list_sizes = _observed(Store.list_sizes, convert=_start_listing)
    list_dir = _observed(Store.list_dir)


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
