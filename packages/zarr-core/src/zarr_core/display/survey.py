"""Finding out which chunks are stored, without reading one."""

from __future__ import annotations

from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from zarr_core.engine.stored import stored_chunks, stored_sizes
from zarr_core.errors import ChunkDecodeError, StoreCapabilityError
from zarr_core.threads import in_flight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.engine.chunks import Chunks
    from zarr_core.hierarchy.described import DescribedArray

    Integers = np.ndarray[Any, np.dtype[np.int64]]
    Object = tuple[tuple[int, ...], str]

T = TypeVar("T")

_FEW = 16  # objects that are asked for one by one rather than listed
_BATCH = 4096  # objects whose sizes are asked for before any is handed on


class Found(NamedTuple):
    """Some of the chunks that are stored.

    Parameters
    ----------
    chunks : ndarray of int64, shape (number of chunks, number of dimensions)
        Where each lies in the grid.
    nbytes : ndarray of int64, shape (number of chunks,)
        Stored bytes of each; 0 where they were not asked for.
    problems : sequence of str
        Shards whose index is damaged.
    """

    chunks: Integers
    nbytes: Integers
    problems: Sequence[str] = ()


class Survey:
    """The stored chunks of an array, as far as they lie in a part of its grid.

    Parameters
    ----------
    array : Array
        The array.
    wanted : sequence of range
        The part: chunk numbers along each dimension; of inner chunks if ``inner``.
    sizes : bool
        Whether to ask for the stored bytes, one request for each object.
    inner : bool
        Whether to look into shards: one read of each one's index.
    most : int
        How many objects to look at.

    Attributes
    ----------
    complete : bool
        Whether all were looked at; known at the end.

    Raises
    ------
    StoreCapabilityError
        If the store cannot list and there are more than ``most`` objects to ask for.
    """

    def __init__(
        self, array: DescribedArray, wanted: Sequence[range], sizes: bool, inner: bool, most: int
    ) -> None:
        self._chunks: Chunks = array._chunks
        self._wanted = wanted
        self._sizes = sizes
        self._inner = array._inner.decoded.shape if inner else None
        self._most = most
        self._is_listed = False
        self.complete = True

    def __iter__(self) -> Iterator[Found]:
        if self._inner is None:
            sized = self._asked()
            while batch := [*islice(sized, _BATCH)]:
                yield self._whole(batch)
            return
        objects = self._at_most(self._objects())
        requests = self._chunks.store.requests
        while some := [*islice(objects, _BATCH)]:
            yield from self._within(in_flight(some, self._inner_sizes, requests))

    def _asked(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Grid coordinates and sizes of what is stored."""
        store = self._chunks.store
        count, total = prod(map(len, self._wanted)), prod(it.count for it in self._chunks.axes)
        if self._sizes and store.supports_listing and max(_FEW, total // 2) < count:
            # Some stores list sizes as well, which pays if most of them are wanted.
            yield from self._at_most(self._within_part(stored_sizes(self._chunks)))
            return
        objects = self._at_most(self._objects())
        while batch := [*islice(objects, _BATCH)]:
            found = in_flight(batch, self._size, store.requests)
            yield from ((at, size) for (at, _), size in found if size is not None)

    def _at_most(self, items: Iterable[T]) -> Iterator[T]:
        for number, item in enumerate(items):
            if number == self._most:
                self.complete = False
                return
            yield item

    def _objects(self) -> Iterator[Object]:
        """Grid coordinates and keys of what is stored, or may be."""
        chunks, store = self._chunks, self._chunks.store
        wanted = self._wanted_objects()
        count = prod(map(len, wanted))
        if count > _FEW and store.supports_listing:
            self._is_listed = True
            yield from self._within_part(stored_chunks(chunks))
        elif count > self._most and not store.supports_listing:
            raise StoreCapabilityError(
                f"cannot list its keys, and there are {count} chunks to ask for one by one; "
                f"ask for fewer, or say most={count}",
                store=str(store),
            )
        else:
            yield from ((at, chunks.key(at)) for at in product(*wanted))

    def _within_part(
        self, items: Iterable[tuple[tuple[int, ...], T]]
    ) -> Iterator[tuple[tuple[int, ...], T]]:
        """Those of the stored objects that are wanted."""
        wanted = self._wanted_objects()
        for at, what in items:
            if all(number in part for number, part in zip(at, wanted, strict=True)):
                yield at, what

    def _wanted_objects(self) -> list[range]:
        if self._inner is None:
            return [*self._wanted]
        parts = zip(self._wanted, self._inner, self._chunks.axes, strict=True)
        return [
            range(axis.chunk_of(part[0] * length), axis.chunk_of(part[-1] * length) + 1)
            if part
            else part
            for part, length, axis in parts
        ]

    def _size(self, item: Object) -> int | None:
        """Stored bytes; None for what is not there."""
        store, (_, key) = self._chunks.store, item
        if self._sizes:
            return store.getsize(key)
        return 0 if self._is_listed or store.exists(key) else None

    def _inner_sizes(self, item: Object) -> Integers | str | None:
        at, key = item
        bound = self._chunks.binding.bound(at)
        reader = self._chunks.store.open_value(key, bound.first)
        if reader is None:
            return None
        with reader:
            try:
                return bound.array_to_bytes.inner_sizes(reader, bound.decoded)
            except ChunkDecodeError as error:
                return f"{self._chunks.where(key)}: {error}"

    def _whole(self, there: Sequence[tuple[tuple[int, ...], int]]) -> Found:
        table = np.array([at for at, _ in there], np.int64)
        return Found(
            table.reshape(len(there), len(self._wanted)),
            np.array([size for _, size in there], np.int64),
        )

    def _within(self, results: Iterable[tuple[Object, Integers | str | None]]) -> Iterator[Found]:
        assert self._inner is not None
        wanted = self._wanted
        for (at, _), sizes in results:
            if isinstance(sizes, str):
                yield Found(np.empty((0, len(at)), np.int64), np.empty(0, np.int64), (sizes,))
            elif sizes is not None:
                starts = map(lambda axis, number: axis.start(number), self._chunks.axes, at)
                corner = [start // n for start, n in zip(starts, self._inner, strict=True)]
                chunks = np.argwhere(sizes >= 0) + np.array(corner, np.int64)
                inside = np.ones(len(chunks), bool)
                for column, part in zip(chunks.T, wanted, strict=True):
                    inside &= (column >= part.start) & (column < part.stop)
                yield Found(chunks[inside], sizes[sizes >= 0][inside])
