"""Properties of all shards of one shape, computed once from the metadata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.chunk_grids import RegularAxis
from zarr_core.errors import CodecChainError, MissingChunkError
from zarr_core.extension import (
    ArrayRepresentation,
    BytesToBytesCodec,
    ChunkAxis,
    ExtensionDefinition,
    create_extension,
)

from zarr_sharding.index import MAX_INNER_CHUNKS, IndexFormat, coordinates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.engine.chain import CodecChain, PreparedCodecChain

    from zarr_sharding.index import Numbers

    Array = np.ndarray[Any, Any]

_BATCH_BYTES = 1 << 22  # decoded bytes; about a millisecond of work
_THREADS_PAY = 1 << 16  # decoded bytes of an inner chunk; threads are always faster above
_THREADS_MAY_PAY = 1 << 12  # below, the Python overhead dominates
_PARALLEL_BYTES = 1 << 18  # decoded bytes; minimum of work for another thread

WINDOW = 1 << 14
"""Inner chunks that are processed at once; limits the memory for shards of millions."""


@dataclass(frozen=True, eq=False, slots=True)
class Shard:
    """Shape and prepared codecs of a shard.

    Parameters
    ----------
    shape, inner_shape, grid : tuple of int
        Shape of the shard and of an inner chunk, in elements; inner chunks per shard.
    axes : tuple of ChunkAxis
        The same grid as chunk axes.
    inner : PreparedCodecChain
        Codecs of an inner chunk.
    index : IndexFormat
        Format of the index.
    fill_value : ndarray, shape ()
        Value of empty inner chunks.
    nested : bool
        Whether inner chunks are shards themselves, for which partial decoding is faster
        even for the whole inner chunk.
    missing_is_error : bool
        Whether reading an inner chunk that is not stored is an error.
    inner_shard : Shard or None
        The inner chunks, if they are shards without other codecs.
    flat : Shard or None
        A shard with the innermost chunks as its inner chunks, if they are few.
    """

    shape: tuple[int, ...]
    inner_shape: tuple[int, ...]
    grid: tuple[int, ...]
    axes: tuple[ChunkAxis, ...]
    inner: PreparedCodecChain
    index: IndexFormat
    fill_value: Array
    nested: bool
    missing_is_error: bool = False
    inner_shard: Shard | None = None
    flat: Shard | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def count(self) -> int:
        """Number of inner chunks."""
        return prod(self.grid)

    def coordinates(self, numbers: range) -> list[tuple[int, ...]]:
        """Return the coordinates of a range of inner chunks in the grid."""
        table = np.unravel_index(np.arange(numbers.start, numbers.stop), self.grid)
        return list(zip(*(axis.tolist() for axis in table), strict=True))

    def numbers(self, coordinates: Sequence[tuple[int, ...]]) -> Numbers:
        """Return the linear indices of inner chunks by their coordinates, in C order."""
        table = np.asarray(coordinates, np.intp).reshape(len(coordinates), len(self.grid))
        steps = [prod(self.grid[axis + 1 :]) for axis in range(len(self.grid))]
        return table @ np.asarray(steps, np.intp)

    def number(self, coordinates: tuple[int, ...]) -> int:
        """Return the linear index of an inner chunk by its coordinates, in C order."""
        number = 0
        for index, length in zip(coordinates, self.grid, strict=True):
            number = number * length + index
        return number

    def fill(self, out: Array, number: int) -> None:
        """Assign the fill value to the elements of an inner chunk that is not stored.

        Raises MissingChunkError if missing inner chunks are errors.
        """
        if self.missing_is_error:
            raise MissingChunkError(chunk=f"inner chunk {coordinates(self.grid, number)}")
        out[...] = self.fill_value

    def blocks(self, array: Array) -> Array:
        """Return a view of an array as inner chunks, of shape ``(*grid, *inner_shape)``."""
        ndim = len(self.grid)
        lengths = [n for pair in zip(self.grid, self.inner_shape, strict=True) for n in pair]
        # Splitting dimensions never copies, whatever the strides.
        return array.reshape(lengths).transpose(*range(0, 2 * ndim, 2), *range(1, 2 * ndim, 2))

    def slabs(self, step: int) -> list[tuple[range, tuple[int | slice, ...]]]:
        """Divide the grid into parts of at most ``step`` inner chunks, successive in C order.

        Returns the linear indices of the inner chunks of each part, and its index in
        :meth:`blocks`.
        """
        axis = next(axis for axis in range(len(self.grid)) if prod(self.grid[axis + 1 :]) <= step)
        below = prod(self.grid[axis + 1 :])
        length = self.grid[axis]
        rows = step // below
        slabs: list[tuple[range, tuple[int | slice, ...]]] = []
        for number, outer in enumerate(product(*map(range, self.grid[:axis]))):
            for row in range(0, length, rows):
                stop = min(row + rows, length)
                first = number * length
                numbers = range((first + row) * below, (first + stop) * below)
                slabs.append((numbers, (*outer, slice(row, stop))))
        return slabs

    @property
    def is_memory(self) -> bool:
        """Whether inner chunks are stored as their memory, except for the byte order."""
        inner = self.inner
        return bool(inner.has_memory_layout and not inner.bytes_to_bytes and inner.decoded.nbytes)

    def parallel(self, count: int) -> bool | None:
        """Return whether threads are faster for a number of inner chunks; None if unknown."""
        if self.inner.max_concurrency is not None:
            return True
        nbytes = self.inner.decoded.nbytes
        if nbytes is None or nbytes < _THREADS_MAY_PAY or nbytes * count < _PARALLEL_BYTES:
            return False
        return True if nbytes >= _THREADS_PAY else None

    def batch_size(self, count: int) -> int:
        """Return the batch size for a number of inner chunks."""
        if self.inner.max_concurrency is not None:
            return 1
        nbytes = self.inner.decoded.nbytes or _BATCH_BYTES
        most = max(1, _BATCH_BYTES // max(1, nbytes))
        if self.parallel(count) is not False:
            # Use several batches for each thread, but no tiny ones.
            most = min(most, max(-(-count // 8), _PARALLEL_BYTES // nbytes, 1))
        return most


def prepare_shard(
    decoded: ArrayRepresentation,
    inner_shape: tuple[int, ...],
    codecs: CodecChain,
    index_codecs: CodecChain,
    at_start: bool,
    shard_of: Callable[[PreparedCodecChain], Shard | None],
) -> Shard:
    """Prepare the codecs for all shards of one shape.

    ``shard_of`` returns the shards that the codecs of inner chunks encode, or None.  Raises
    ValueError if the inner chunks do not fit the shard, and CodecChainError if a codec does not
    support its input.
    """
    grid = inner_grid(decoded.shape, inner_shape)
    inner = codecs.prepare(
        ArrayRepresentation(
            inner_shape,
            decoded.data_type,
            decoded.fill_value,
            decoded.write_empty_chunks,
            decoded.missing_is_error,
        )
    )
    inner_shard = shard_of(inner)
    shard = Shard(
        shape=decoded.shape,
        inner_shape=inner_shape,
        grid=grid,
        axes=_axes(grid, inner_shape),
        inner=inner,
        index=index_format(grid, index_codecs, at_start),
        fill_value=decoded.fill_value,
        nested=inner.supports_partial_encode and inner.encoded_size is None,
        missing_is_error=decoded.missing_is_error,
        inner_shard=inner_shard,
    )
    # A missing inner chunk may be an inner shard, which a flat shard does not have.
    if inner_shard is None or decoded.missing_is_error:
        return shard
    return replace(shard, flat=_flat(shard, inner_shard))


def _flat(shard: Shard, inner_shard: Shard) -> Shard | None:
    """Return a shard with the innermost chunks of nested shards as its inner chunks."""
    if not shard.grid or (inner_shard.inner_shard is not None and inner_shard.flat is None):
        return None
    inner = inner_shard.flat or inner_shard
    grid = tuple(n * count for n, count in zip(shard.grid, inner.grid, strict=True))
    if prod(grid) > WINDOW:
        return None
    axes = _axes(grid, inner.inner_shape)
    return replace(
        inner,
        shape=shard.shape,
        grid=grid,
        axes=axes,
        index=shard.index,
        inner_shard=None,
        flat=None,
    )


def _axes(grid: tuple[int, ...], inner_shape: tuple[int, ...]) -> tuple[ChunkAxis, ...]:
    pairs = zip(grid, inner_shape, strict=True)
    return tuple(RegularAxis(count * length, count, length) for count, length in pairs)


def inner_grid(shape: tuple[int, ...], inner_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of inner chunks per shard, in each dimension.

    Raises ValueError if they do not divide the shard evenly, or are too many for an index.
    """
    if len(shape) != len(inner_shape):
        raise ValueError(
            f"chunk_shape {list(inner_shape)} has {len(inner_shape)} dimensions, "
            f"but the shard has {len(shape)}"
        )
    for axis, (whole, part) in enumerate(zip(shape, inner_shape, strict=True)):
        if whole % part:
            raise ValueError(
                f"chunk_shape {list(inner_shape)} does not divide the shard evenly: "
                f"{whole} is not a multiple of {part} in dimension {axis}"
            )
    grid = tuple(whole // part for whole, part in zip(shape, inner_shape, strict=True))
    check_count(grid)
    return grid


def check_count(grid: tuple[int, ...]) -> None:
    """Raise ValueError if there are more than :data:`MAX_INNER_CHUNKS` inner chunks."""
    if prod(grid) > MAX_INNER_CHUNKS:
        raise ValueError(
            f"a shard of {prod(grid)} inner chunks requires an index of {16 * prod(grid)} bytes; "
            f"at most {MAX_INNER_CHUNKS} inner chunks are supported; choose larger inner "
            "chunks or smaller shards"
        )


def index_representation(grid: tuple[int, ...]) -> ArrayRepresentation:
    """Return the decoded representation of an index."""
    # "The index is an array with 64-bit unsigned integers with a shape that matches
    # the chunks per shard tuple with an appended dimension of size 2."
    uint64 = create_extension("data_type", ExtensionDefinition("uint64"))
    assert uint64 is not None  # a data type is never ignored
    return ArrayRepresentation((*grid, 2), uint64, np.zeros((), np.uint64), write_empty_chunks=True)


def index_format(grid: tuple[int, ...], codecs: CodecChain, at_start: bool) -> IndexFormat:
    """Return the format of an index with this shape and these codecs.

    Raises CodecChainError if the size of the encoded index depends on its content.
    """
    chain = codecs.prepare(index_representation(grid))
    if chain.encoded_size is None:
        # "Codecs that produce variable-sized encoded representation, such as
        # compression codecs, MUST NOT be used for index codecs."
        names = [
            definition.name
            for definition, codec in zip(codecs.definitions, codecs.codecs, strict=True)
            if isinstance(codec, BytesToBytesCodec) and codec.encoded_size(16) is None
        ] or [definition.name for definition in codecs.definitions]
        raise CodecChainError(
            f"index_codecs must not contain {', '.join(map(repr, names))}: the size of an "
            "encoded index must not depend on its content; use bytes and crc32c"
        )
    return IndexFormat(chain, chain.encoded_size, at_start, grid)
