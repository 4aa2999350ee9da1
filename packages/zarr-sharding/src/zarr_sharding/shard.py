"""What the metadata says about all shards of one shape, worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    ArrayRepresentation,
    BoundChain,
    Box,
    BytesToBytesCodec,
    ChunkAxis,
    CodecChain,
    CodecChainError,
    ExtensionDefinition,
    make_extension,
)

from zarr_sharding.index import MOST_INNER_CHUNKS, IndexFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_sharding.index import Numbers

    Array = np.ndarray[Any, Any]

_BATCH_BYTES = 1 << 22  # decoded; enough to keep a thread busy for a millisecond
_THREADS_PAY = 1 << 16  # decoded bytes of an inner chunk, for which threads pay in any case
_THREADS_MAY_PAY = 1 << 12  # below, Python is most of the work in any case
_PARALLEL_BYTES = 1 << 18  # decoded bytes that are worth waking another thread

WINDOW = 1 << 14
"""Inner chunks that are planned at a time, lest plans of millions fill the memory."""


@dataclass(frozen=True, eq=False, slots=True)
class Shard:
    """A shape of shard, bound to its codecs.

    Parameters
    ----------
    shape, inner_shape, grid : tuple of int
        Shard and inner chunk in elements; inner chunks per shard.
    axes : tuple of ChunkAxis
        The same as chunk axes.
    inner : BoundChain
        Codecs of an inner chunk.
    index : IndexFormat
        How the index is stored.
    fill_value : ndarray, shape ()
        What empty inner chunks hold.
    nested : bool
        Whether inner chunks are better decoded by parts even if all of it is
        wanted: they are shards themselves.
    whole : Box
        All of an inner chunk.
    """

    shape: tuple[int, ...]
    inner_shape: tuple[int, ...]
    grid: tuple[int, ...]
    axes: tuple[ChunkAxis, ...]
    inner: BoundChain
    index: IndexFormat
    fill_value: Array
    nested: bool
    whole: Box

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def count(self) -> int:
        """Number of inner chunks."""
        return prod(self.grid)

    def coordinates(self, numbers: range) -> list[tuple[int, ...]]:
        """Positions of some inner chunks in the grid."""
        table = np.unravel_index(np.arange(numbers.start, numbers.stop), self.grid)
        return list(zip(*(axis.tolist() for axis in table), strict=True))

    def numbers(self, coordinates: Sequence[tuple[int, ...]]) -> Numbers:
        """Count the inner chunks at these positions, in C order."""
        table = np.asarray(coordinates, np.intp).reshape(len(coordinates), len(self.grid))
        steps = [prod(self.grid[axis + 1 :]) for axis in range(len(self.grid))]
        return table @ np.asarray(steps, np.intp)

    def number(self, coordinates: tuple[int, ...]) -> int:
        """Count the inner chunk at this position, in C order."""
        number = 0
        for place, length in zip(coordinates, self.grid, strict=True):
            number = number * length + place
        return number

    def blocks(self, array: Array) -> Array:
        """View an array of the shard's shape as inner chunks.

        Returns
        -------
        ndarray, shape (*grid, *inner_shape)
        """
        ndim = len(self.grid)
        lengths = [n for pair in zip(self.grid, self.inner_shape, strict=True) for n in pair]
        # Cutting dimensions apart never needs a copy, whatever the strides.
        return array.reshape(lengths).transpose(*range(0, 2 * ndim, 2), *range(1, 2 * ndim, 2))

    def parallel(self, count: int) -> bool | None:
        """Whether threads pay for this many inner chunks; None if that must be tried."""
        nbytes = self.inner.decoded.nbytes
        if nbytes is None or nbytes < _THREADS_MAY_PAY or nbytes * count < _PARALLEL_BYTES:
            return False
        return True if nbytes >= _THREADS_PAY else None

    def most_items(self, count: int) -> int:
        """How many inner chunks to handle together, of this many in all."""
        nbytes = self.inner.decoded.nbytes or _BATCH_BYTES
        most = max(1, _BATCH_BYTES // max(1, nbytes))
        if self.parallel(count) is not False:
            # Several pieces of work for each of a few threads, none of them tiny.
            most = min(most, max(-(-count // 8), _PARALLEL_BYTES // nbytes, 1))
        return most


class InnerAxis(ChunkAxis):
    """Inner chunks along one dimension of a shard.

    Parameters
    ----------
    count, length : int
        How many, and how long each is in elements.
    """

    __slots__ = ("count", "size", "uniform")

    uniform: int

    def __init__(self, count: int, length: int) -> None:
        self.count = count
        self.size = count * length
        self.uniform = length

    def start(self, chunk: int) -> int:
        """First element of an inner chunk."""
        return chunk * self.uniform

    def length(self, chunk: int) -> int:
        """Length of an inner chunk."""
        return self.uniform

    def chunk_of(self, element: int) -> int:
        """Find the inner chunk that holds an element."""
        return element // self.uniform

    def chunks_of(self, elements: Numbers) -> Numbers:
        """Find the inner chunks that hold elements."""
        return elements // self.uniform


def bind_shard(
    decoded: ArrayRepresentation,
    inner_shape: tuple[int, ...],
    codecs: CodecChain,
    index_codecs: CodecChain,
    at_start: bool,
) -> Shard:
    """Prepare what is the same for all shards of one shape.

    Parameters
    ----------
    decoded : ArrayRepresentation
        The shard.
    inner_shape : tuple of int
        Shape of the inner chunks.
    codecs, index_codecs : CodecChain
        Codecs of inner chunks and of the index.
    at_start : bool
        Whether the index lies at the start.

    Raises
    ------
    ValueError
        If the inner chunks do not fit the shard, or codecs do not support what
        they are given (then a CodecChainError).
    """
    grid = grid_of(decoded.shape, inner_shape)
    inner = codecs.bind(
        ArrayRepresentation(inner_shape, decoded.data_type, decoded.fill_value, decoded.keep_empty)
    )
    axes = tuple(InnerAxis(n, length) for n, length in zip(grid, inner_shape, strict=True))
    return Shard(
        shape=decoded.shape,
        inner_shape=inner_shape,
        grid=grid,
        axes=axes,
        inner=inner,
        index=index_format(grid, index_codecs, at_start),
        fill_value=decoded.fill_value,
        nested=inner.supports_parts and inner.encoded_size is None,
        whole=Box(tuple(slice(0, length, 1) for length in inner_shape)),
    )


def grid_of(shape: tuple[int, ...], inner_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Inner chunks per shard.

    Raises
    ------
    ValueError
        If inner chunks do not divide the shard evenly, or are too many for an index.
    """
    if len(shape) != len(inner_shape):
        raise ValueError(
            f"chunk_shape {list(inner_shape)} has {len(inner_shape)} dimensions, "
            f"the shard has {len(shape)}"
        )
    for axis, (whole, part) in enumerate(zip(shape, inner_shape, strict=True)):
        if whole % part:
            raise ValueError(
                f"chunk_shape {list(inner_shape)} does not divide the shard evenly: "
                f"{whole} is no multiple of {part} in dimension {axis}"
            )
    grid = tuple(whole // part for whole, part in zip(shape, inner_shape, strict=True))
    check_count(grid)
    return grid


def check_count(grid: tuple[int, ...]) -> None:
    """Refuse shards whose index would be too large.

    Raises
    ------
    ValueError
        If there are more than :data:`MOST_INNER_CHUNKS` inner chunks.
    """
    if prod(grid) > MOST_INNER_CHUNKS:
        raise ValueError(
            f"a shard of {prod(grid)} inner chunks needs an index of {16 * prod(grid)} bytes; "
            f"at most {MOST_INNER_CHUNKS} inner chunks are supported, so make inner chunks "
            "larger or the shard smaller"
        )


def index_format(grid: tuple[int, ...], codecs: CodecChain, at_start: bool) -> IndexFormat:
    """Bind the codecs of an index to its shape.

    Raises
    ------
    CodecChainError
        If the size of what they give depends on its content.
    """
    # "The index is an array with 64-bit unsigned integers with a shape that matches
    # the chunks per shard tuple with an appended dimension of size 2."
    uint64 = make_extension("data_type", ExtensionDefinition("uint64"))
    assert uint64 is not None  # a data type is never left out
    decoded = ArrayRepresentation((*grid, 2), uint64, np.zeros((), np.uint64), keep_empty=True)
    chain = codecs.bind(decoded)
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
