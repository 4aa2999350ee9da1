"""The stored chunks of an array and their sizes; no chunk is read."""

from __future__ import annotations

from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from zarr_core.extension import ChunkDecodeError, StoreCapabilityError, SubchunkCodec
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import StoredArray

    Integers = np.ndarray[Any, np.dtype[np.int64]]
    Object = tuple[tuple[int, ...], str]

T = TypeVar("T")

_FEW = 16  # up to so many objects are requested individually instead of listed
_BATCH = 4096  # objects per batch of size requests


class StoredSizes(NamedTuple):
    """Coordinates and stored sizes in bytes of some stored chunks.

    ``chunks`` has the shape ``(number of chunks, number of dimensions)``.  Sizes are 0 if they were
    not requested.  ``problems`` are errors of shards with a damaged index.
    """

    chunks: Integers
    nbytes: Integers
    problems: Sequence[str] = ()


class ChunkInventory:
    """The stored chunks in a region of the chunk grid of an array.

    Parameters
    ----------
    array : StoredArray
        The array.
    wanted : sequence of range
        The chunk coordinates along each dimension; of inner chunks if ``inner``.
    sizes : bool
        Whether to get the stored sizes, with one request for each object.
    inner : bool
        Whether to get inner chunks, by reading the index of each shard.
    most : int
        The maximum number of objects to inspect.  ``complete`` tells, after iteration, whether
        this was enough.

    Raises
    ------
    StoreCapabilityError
        If the store cannot list its keys and there are more than ``most`` objects.
    """

    def __init__(
        self,
        array: StoredArray,
        wanted: Sequence[range],
        sizes: bool,
        inner: bool,
        most: int,
    ) -> None:
        self._array = array
        self._wanted = wanted
        self._sizes = sizes
        self._inner = array.inner_codecs.decoded.shape if inner else None
        self._most = most
        self._is_listed = False
        self.complete = True

    def __iter__(self) -> Iterator[StoredSizes]:
        if self._inner is None:
            sized = self._object_sizes()
            while batch := [*islice(sized, _BATCH)]:
                yield self._whole(batch)
            return
        objects = self._at_most(self._objects())
        max_concurrency = self._array.chunk_store.max_concurrency
        while some := [*islice(objects, _BATCH)]:
            yield from self._within(concurrent_map(some, self._inner_sizes, max_concurrency))

    def _object_sizes(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield the grid coordinates and sizes of stored objects."""
        store = self._array.chunk_store
        count, total = prod(map(len, self._wanted)), prod(axis.count for axis in self._array.axes)
        if self._sizes and store.supports_listing and max(_FEW, total // 2) < count:
            # Some stores list sizes too, which is faster if most objects are wanted.
            yield from self._at_most(self._within_part(self._array.stored_sizes()))
            return
        objects = self._at_most(self._objects())
        while batch := [*islice(objects, _BATCH)]:
            sizes = concurrent_map(batch, self._size, store.max_concurrency)
            yield from ((at, size) for (at, _), size in sizes if size is not None)

    def _at_most(self, items: Iterable[T]) -> Iterator[T]:
        for number, item in enumerate(items):
            if number == self._most:
                self.complete = False
                return
            yield item

    def _objects(self) -> Iterator[Object]:
        """Yield the grid coordinates and keys of objects that are or may be stored."""
        store = self._array.chunk_store
        wanted = self._wanted_objects()
        count = prod(map(len, wanted))
        if count > _FEW and store.supports_listing:
            self._is_listed = True
            yield from self._within_part(self._array.stored_chunks())
        elif count > self._most and not store.supports_listing:
            raise StoreCapabilityError(
                f"cannot list its keys, and {count} chunks would have to be requested "
                f"individually; select fewer chunks, or pass most={count}",
                store=str(store),
            )
        else:
            yield from ((at, self._array.chunk_key(at)) for at in product(*wanted))

    def _within_part(
        self, items: Iterable[tuple[tuple[int, ...], T]]
    ) -> Iterator[tuple[tuple[int, ...], T]]:
        """Yield the stored objects in the region."""
        wanted = self._wanted_objects()
        for at, what in items:
            if all(number in part for number, part in zip(at, wanted, strict=True)):
                yield at, what

    def _wanted_objects(self) -> list[range]:
        if self._inner is None:
            return [*self._wanted]
        parts = zip(self._wanted, self._inner, self._array.axes, strict=True)
        return [
            range(axis.chunk_of(part[0] * length), axis.chunk_of(part[-1] * length) + 1)
            if part
            else part
            for part, length, axis in parts
        ]

    def _size(self, item: Object) -> int | None:
        """Return the stored size; None if the object is not stored."""
        store, (_, key) = self._array.chunk_store, item
        if self._sizes:
            return store.getsize(key)
        return 0 if self._is_listed or store.exists(key) else None

    def _inner_sizes(self, item: Object) -> Integers | str | None:
        """Return the stored sizes of the inner chunks; None if the shard is not stored."""
        at, key = item
        codecs = self._array.resolved.codecs_for(at)
        codec = codecs.array_to_bytes
        reader = self._array.chunk_store.open_value(key, codecs.prefetch)
        if reader is None or not isinstance(codec, SubchunkCodec):
            return None
        try:
            with reader:
                return codec.inner_chunk_sizes(reader, codecs.decoded)
        except ChunkDecodeError as error:
            return f"{self._array.key_location(key)}: {error}"

    def _whole(self, batch: Sequence[tuple[tuple[int, ...], int]]) -> StoredSizes:
        table = np.array([at for at, _ in batch], np.int64)
        return StoredSizes(
            table.reshape(len(batch), len(self._wanted)),
            np.array([size for _, size in batch], np.int64),
        )

    def _within(
        self, results: Iterable[tuple[Object, Integers | str | None]]
    ) -> Iterator[StoredSizes]:
        assert self._inner is not None
        wanted = self._wanted
        for (at, _), sizes in results:
            if isinstance(sizes, str):
                yield StoredSizes(np.empty((0, len(at)), np.int64), np.empty(0, np.int64), (sizes,))
            elif sizes is not None:
                starts = map(lambda axis, number: axis.start(number), self._array.axes, at)
                corner = [start // n for start, n in zip(starts, self._inner, strict=True)]
                chunks = np.argwhere(sizes >= 0) + np.array(corner, np.int64)
                inside = np.ones(len(chunks), bool)
                for column, part in zip(chunks.T, wanted, strict=True):
                    inside &= (column >= part.start) & (column < part.stop)
                yield StoredSizes(chunks[inside], sizes[sizes >= 0][inside])
