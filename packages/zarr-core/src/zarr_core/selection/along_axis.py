"""Parts of chunks that a selection touches along one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from zarr_core.selection.normalised import slice_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.selection.normalised import Indices

    AxisIndex: TypeAlias = slice | Indices

__all__ = ["AxisPart", "axis_count", "axis_parts", "slice_parts"]


class AxisPart(NamedTuple):
    """What is selected of one chunk along one dimension.

    Parameters
    ----------
    chunk : int
        Number of the chunk along the dimension.
    within : slice or ndarray of intp
        The elements, counted from the start of the chunk.
    target : slice or ndarray of intp
        Where they belong in the result along its axis.
    whole : bool
        Every element of the chunk as it is encoded, in order: ``within`` is a
        slice from 0 to its length with step 1.
    covers : bool
        Every element of the chunk that lies inside the array.
    """

    chunk: int
    within: AxisIndex
    target: AxisIndex
    whole: bool
    covers: bool


def axis_parts(index: AxisIndex, axis: ChunkAxis) -> list[AxisPart]:
    """Cut a normalised slice or array of indices at the edges of chunks.

    Parameters
    ----------
    index : slice or ndarray of intp
        As in a normalised selection: within bounds, positive step.
    axis : ChunkAxis
        The chunks along that dimension.

    Returns
    -------
    list of AxisPart
        In the order of chunks, one for each that is touched.
    """
    if isinstance(index, slice):
        return list(slice_parts(index, axis))
    from zarr_core.selection import grouping  # noqa: PLC0415 - lazy: it imports NumPy

    return grouping.array_parts(index, axis)


def slice_parts(index: slice, axis: ChunkAxis) -> Iterator[AxisPart]:
    """Cut a normalised slice at the edges of chunks, one part after the other."""
    uniform = axis.uniform
    size = axis.size
    position, stop, step = index.start, index.stop, index.step
    target = 0
    chunk = end = -1
    while position < stop:
        if uniform is not None:
            chunk = position // uniform
            start, length = chunk * uniform, uniform
        elif position == end:  # as a rule: the next chunk need not be searched for
            chunk, start = chunk + 1, end
            length = axis.length(chunk)
        else:
            chunk = axis.chunk_of(position)
            start, length = axis.start(chunk), axis.length(chunk)
        first = position - start
        end = start + length
        if step == 1:
            count = (end if end < stop else stop) - position
            within = slice(first, first + count, 1)
            position += count
        else:
            count = ((end if end < stop else stop) - position + step - 1) // step
            within = slice(first, first + (count - 1) * step + 1, step if count > 1 else 1)
            position += count * step
        inside = length if end <= size else size - start
        yield AxisPart(
            chunk, within, slice(target, target + count, 1), count == length, count == inside
        )
        target += count


def axis_count(index: AxisIndex, axis: ChunkAxis) -> int:
    """Count the chunks that a selection touches along one dimension."""
    if not isinstance(index, slice):
        from zarr_core.selection import grouping  # noqa: PLC0415 - lazy: it imports NumPy

        return len(grouping.distinct_chunks(index, axis))
    count = slice_length(index)
    if count == 0:
        return 0
    last = index.start + (count - 1) * index.step
    uniform = axis.uniform
    if uniform is not None:
        if index.step >= uniform:
            return count
        return int(last // uniform - index.start // uniform + 1)
    if index.step == 1:
        return axis.chunk_of(last) - axis.chunk_of(index.start) + 1
    return sum(1 for _ in slice_parts(index, axis))
