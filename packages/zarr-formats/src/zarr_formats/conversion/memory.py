"""How much memory decoding an array takes, in which boxes it is done with that."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from zarr_core import array_from_metadata
from zarr_core.extension import ArrayMetadata, Problem, make_extension, thread_count

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
_OFTEN = 2.0  # decodings of a chunk that are worth a note


def intervals(old: Array, new: Array, memory: Memory) -> tuple[Intervals, ...]:
    """The boxes that an array is gone through in, along each dimension."""
    budget = BUFFER
    if memory.most is not None:
        budget = (memory.most - _besides(old, new)) // memory.copies
    return cut(axes(new.metadata), _chunk(old), budget // max(1, item_size(old, new)))


def weighed(source: Side, dest: Side, step: Step, memory: Memory) -> Step:
    """A step that decodes an array, with a problem if that takes too much memory.

    There is a note if chunks are decoded several times.
    """
    old, new = opened(source, step, read_only=True), opened(dest, step, read_only=False)
    least = _besides(old, new) + memory.copies * _stored(new) * item_size(old, new)
    if memory.most is not None and least > memory.most:
        message = (
            f"takes {size_text(least)} of memory at least, as stored objects are decoded and "
            f"written whole, and {size_text(memory.most)} are allowed: allow more, choose "
            "smaller chunks or shards, or fewer threads"
        )
        return replace(step, problems=(Problem("", message),))
    often = _often(old, intervals(old, new, memory))
    if old.size and often >= _OFTEN:
        note = f"each chunk is decoded {often:.0f} times; more memory means fewer"
        return replace(step, notes=(*step.notes, note))
    return step


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


def _often(old: Array, boxes: Sequence[Intervals]) -> float:
    """How often a chunk is decoded, in the middle."""
    parts = zip(boxes, _chunk(old), strict=True)
    return prod(
        decodings(axis.size, axis.length, chunk) / -(-axis.size // chunk)
        for axis, chunk in parts
        if axis.size
    )
