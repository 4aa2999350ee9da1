"""How much memory decoding an array takes, in which boxes it is done with that."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from zarr_core import array_from_metadata
from zarr_core.extension import ArrayMetadata, make_extension, thread_count

from zarr_formats.conversion.regions import cut, decodings
from zarr_formats.conversion.steps import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core import Array
    from zarr_core.extension import ChunkAxis

    from zarr_formats.conversion.regions import Intervals
    from zarr_formats.conversion.steps import Memory, Side, Step

BUFFER = 1 << 26
"""Bytes of elements that are held at a time, unless a stored object has more."""

_VARIABLE = 256  # bytes that an element of variable size is taken to need


def intervals(old: Array, new: Array, memory: Memory) -> tuple[Intervals, ...]:
    """The boxes that an array is gone through in, along each dimension."""
    elements = budget(old, new, memory) // max(1, item_size(old, new))
    return cut(axes(new.metadata), _chunk(old), elements)


def budget(old: Array, new: Array, memory: Memory) -> int:
    """Bytes that the elements of a box may have."""
    if memory.most is None:
        return BUFFER
    return (memory.most - _besides(old, new)) // memory.copies


def too_little(old: Array, new: Array, memory: Memory) -> str:
    """Why memory does not do; empty if it does."""
    least = _besides(old, new) + memory.copies * _stored(new) * item_size(old, new)
    if memory.most is None or least <= memory.most:
        return ""
    return (
        f"takes {size_text(least)} of memory at least, as stored objects are decoded and "
        f"written whole, and {size_text(memory.most)} are allowed: allow more, choose "
        "smaller chunks or shards, or fewer threads"
    )


def opened(side: Side, step: Step, *, read_only: bool) -> Array:
    """The array at one end of a step: what is read, or what is written."""
    metadata = step.source_metadata if read_only else step.metadata
    assert isinstance(metadata, ArrayMetadata)
    return array_from_metadata(
        side.store,
        metadata,
        path=side.at(step.path),
        zarr_format=side.format_.name,
        read_only=read_only,
    )


def axes(metadata: ArrayMetadata) -> Sequence[ChunkAxis]:
    """The stored objects of an array along each dimension."""
    grid = make_extension("chunk_grid", metadata.chunk_grid)
    assert grid is not None, "a grid is never left out"
    along: Sequence[ChunkAxis] = grid.axes(metadata.shape)
    return along


def item_size(*arrays: Array) -> int:
    """Bytes of an element, of the largest of some arrays; about, if their size varies."""
    return max(array.itemsize if array.dtype.kind not in "OT" else _VARIABLE for array in arrays)


def _besides(old: Array, new: Array) -> int:
    """Bytes that threads hold: a chunk as stored and decoded, one to be encoded, a new value."""
    read = 2 * prod(_chunk(old)) * item_size(old)
    written = (prod(_chunk(new)) + _stored(new)) * item_size(new)
    return thread_count() * (read + written)


def _chunk(array: Array) -> list[int]:
    """The shape of what is decoded at once; the longest where lengths differ."""
    return [max(n, default=1) if isinstance(n, tuple) else n for n in array.chunks]


def _stored(array: Array) -> int:
    """Elements of a stored object, within the array."""
    lengths = array.shards or array.chunks
    longest = [max(n, default=1) if isinstance(n, tuple) else n for n in lengths]
    return prod(min(n, max(1, size)) for n, size in zip(longest, array.shape, strict=True))


def often(old: Array, boxes: Sequence[Intervals]) -> float:
    """How often a chunk is decoded if an array is read in some boxes, in the middle."""
    return prod(
        decodings(axis.size, axis.length, chunk) / -(-axis.size // chunk)
        for axis, chunk in zip(boxes, _chunk(old), strict=True)
        if axis.size
    )
