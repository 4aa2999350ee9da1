"""Projections of index arrays and masks onto chunks, without a Python step for each element.

Elements are sorted by the numbers of their chunks, unless they already are in that order.  This
takes at most 24 bytes per element at once: the order, the memory of the sort, and the numbers.
Everything else is computed chunk by chunk.
"""

from __future__ import annotations

from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.interfaces.selection import BasicIndexer, CoordinateIndexer, MaskIndexer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.selection import Indices

    Array = np.ndarray[Any, Any]

_LARGEST = int(np.iinfo(np.intp).max)
_BLOCK = 1 << 16  # elements whose intermediate numbers stay in the cache


def chunk_numbers(index: Indices, axis: ChunkAxis) -> Indices:
    """The chunk of every index."""
    uniform = axis.uniform
    if uniform is None:
        return np.asarray(axis.chunks_of(index), np.intp)
    if uniform >= axis.size:  # also if the length of a chunk exceeds intp
        return np.zeros(len(index), np.intp)
    return index // uniform


def distinct_chunks(index: Indices, axis: ChunkAxis) -> Indices:
    """The chunks that hold any of the elements, ascending."""
    return np.unique(chunk_numbers(index, axis))


def _keys(index: Sequence[Indices], axes: Sequence[ChunkAxis]) -> Array:
    """The number of every element's chunk: in C order, of the smallest unsigned type."""
    firsts = [0] * len(axes)
    counts = [axis.count for axis in axes]
    if prod(counts) > _BLOCK:  # perhaps only a part of the grid is used
        firsts = [axis.chunk_of(int(part.min())) for part, axis in zip(index, axes, strict=True)]
        lasts = [axis.chunk_of(int(part.max())) for part, axis in zip(index, axes, strict=True)]
        counts = [last - first + 1 for first, last in zip(firsts, lasts, strict=True)]
    if prod(counts) > _LARGEST:
        return _ranks(index, axes)
    keys = np.empty(len(index[0]), np.min_scalar_type(prod(counts) - 1))
    for begin in range(0, len(keys), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        flat: Any = 0
        for part, axis, first, count in zip(index, axes, firsts, counts, strict=True):
            if count > 1:
                flat = flat * count + (chunk_numbers(part[block], axis) - first)
        keys[block] = flat
    return keys


def _ranks(index: Sequence[Indices], axes: Sequence[ChunkAxis]) -> Array:
    """As :func:`_keys`, but only chunks with elements are numbered."""
    ranks: Any = np.zeros(len(index[0]), np.intp)
    for part, axis in zip(index, axes, strict=True):
        chunks, numbers = np.unique(chunk_numbers(part, axis), return_inverse=True)
        ranks = np.unique(ranks * len(chunks) + numbers, return_inverse=True)[1]
    return np.asarray(ranks)


def _group(
    index: Sequence[Indices], axes: Sequence[ChunkAxis]
) -> tuple[Indices | None, Indices, list[list[int]]]:
    """Sort elements into chunks.

    The sort is stable: of several values assigned to one element the last is kept, as in NumPy.

    Returns
    -------
    order : ndarray of intp or None
        The elements in the order of chunks; None if they already are.
    bounds : ndarray of intp
        Where each chunk begins in that order, and the end of the last.
    chunks : list of list of int
        The coordinates of the chunks in each dimension.
    """
    keys = _keys(index, axes)
    sizes = np.bincount(keys) if keys.dtype.itemsize <= 2 and len(keys) > _BLOCK else None
    order: Indices | None = None
    if (keys[1:] < keys[:-1]).any():
        order = keys.argsort(kind="stable")  # a radix sort for numbers of up to 16 bits
    if sizes is not None:
        bounds = np.concatenate(([0], np.cumsum(sizes[sizes > 0])))
    else:
        if order is not None:
            keys = keys[order]
        changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
        bounds = np.concatenate(([0], changes, [len(keys)]))
    firsts = bounds[:-1] if order is None else order[bounds[:-1]]
    chunks = [
        chunk_numbers(part[firsts], axis).tolist() for part, axis in zip(index, axes, strict=True)
    ]
    return order, bounds, chunks


def project_indices(
    index: Indices, axis: ChunkAxis, complete: bool = True
) -> Iterator[tuple[int, slice | Indices, slice | Indices, bool, bool]]:
    """Sort the indices of one dimension into chunks; yield the fields of a ``ChunkDimProjection``.

    ``is_complete_chunk`` may be false for a complete chunk if ``complete`` is false.
    """
    if len(index) == 0:
        return
    order, bounds, (chunks,) = _group((index,), (axis,))
    if order is not None:
        index = index[order]
    edges = bounds.tolist()
    steps = _steps(index, bounds)
    for place, (chunk, step) in enumerate(zip(chunks, steps, strict=True)):
        first, end = edges[place : place + 2]
        start, length = axis.start(chunk), axis.length(chunk)
        inside = min(length, axis.size - start)
        count = end - first
        run = index[first:end]
        out_selection = _places(order, first, end)
        if step and count > 2 and not (run[1:] - run[:-1] == step).all():
            step = 0
        if step and isinstance(out_selection, slice):
            chunk_selection = slice(int(run[0]) - start, int(run[-1]) - start + 1, step)
            yield chunk, chunk_selection, out_selection, count == inside, count == length
            continue
        # A slice with a scattered out_selection would wrongly promise a view of the result.
        if start:
            run = run - start if order is None else np.subtract(run, start, out=run)
        all_there = complete and count >= inside and _covers(run, inside)
        yield chunk, run, out_selection, all_there, False


def _steps(values: Indices, bounds: Indices) -> list[int]:
    """For each group the step that its first two and last elements permit, if any, else 0."""
    first, last = bounds[:-1], bounds[1:] - 1
    starts = values[first]
    step = values[np.minimum(first + 1, last)] - starts
    even = (step > 0) & (values[last] - starts == step * (last - first))
    found: list[int] = np.where(first == last, 1, np.where(even, step, 0)).tolist()
    return found


def _places(order: Indices | None, first: int, end: int) -> slice | Indices:
    """The elements of a group, which ascend because the sort is stable."""
    if order is None:
        return slice(first, end, 1)
    begin = int(order[first])
    if int(order[end - 1]) - begin == end - 1 - first:
        return slice(begin, begin + end - first, 1)
    return order[first:end]


def _covers(numbers: Array, count: int) -> bool:
    """Whether every number below ``count`` occurs."""
    seen = np.zeros(count, bool)
    seen[numbers] = True
    return bool(seen.all())


def project_coordinates(
    index: tuple[Indices, ...], axes: Sequence[ChunkAxis], complete: bool = True
) -> Iterator[tuple[tuple[int, ...], CoordinateIndexer, tuple[slice | Indices], bool, bool]]:
    """Sort the coordinates of elements into chunks; yield the fields of a ``ChunkProjection``.

    ``complete`` is as for :func:`project_indices`.
    """
    if len(index[0]) == 0:
        return
    order, bounds, chunks = _group(index, axes)
    edges = bounds.tolist()
    for place, chunk in enumerate(zip(*chunks, strict=True)):
        first, end = edges[place : place + 2]
        places = _places(order, first, end)
        members = places if order is not None else slice(first, end)
        starts = [axis.start(number) for axis, number in zip(axes, chunk, strict=True)]
        inside = CoordinateIndexer(
            tuple(part[members] - start for part, start in zip(index, starts, strict=True))
        )
        lengths = [
            min(axis.length(number), axis.size - start)
            for axis, number, start in zip(axes, chunk, starts, strict=True)
        ]
        volume = prod(lengths)
        all_there = False
        if complete and end - first >= volume:
            all_there = _covers(inside.flat_index(lengths), volume)
        yield chunk, inside, (places,), all_there, False


def coordinate_chunk_count(index: tuple[Indices, ...], axes: Sequence[ChunkAxis]) -> int:
    """The number of chunks that contain any of the elements."""
    if len(index[0]) == 0:
        return 0
    return len(_group(index, axes)[1]) - 1


def project_mask(
    mask: Array,
    boxes: Iterable[tuple[tuple[int, ...], tuple[slice, ...]]],
    axes: Sequence[ChunkAxis],
) -> Iterator[tuple[tuple[int, ...], Any, tuple[slice | Indices], bool, bool]]:
    """Divide a mask at the edges of chunks; yield the fields of a ``ChunkProjection``.

    ``boxes`` are the grid coordinates and elements of every chunk, in C order.
    """
    offset = 0
    for _, row in groupby(boxes, lambda box: box[0][0]):
        chunks = list(row)
        if len(chunks) == 1:
            places = None
        else:
            rows = mask[chunks[0][1][0]]
            places = _RowPlaces(rows, axes[-1], offset)
        for coords, box in chunks:
            inside = mask[box]
            count = int(np.count_nonzero(inside))
            if not count:
                continue
            is_complete = count == inside.size
            found: slice | Indices = slice(offset, offset + count, 1)
            if places is not None:
                found = places.of((slice(None), *box[1:-1]), coords[-1], count)
            if is_complete and inside.ndim == 1:
                whole = BasicIndexer((slice(0, count, 1),))
                yield coords, whole, (found,), True, count == axes[0].length(coords[0])
            else:
                yield coords, MaskIndexer(inside), (found,), is_complete, False
            if places is None:
                offset += count
        if places is not None:
            offset = places.end


class _RowPlaces:
    """Where the selected elements of chunks are in the result, if rows are divided.

    ``mask`` is the part of the mask in a row of chunks, complete in all other dimensions; ``axis``
    has the chunks along the last dimension; ``offset`` is the number of preceding elements.
    """

    def __init__(self, mask: Array, axis: ChunkAxis, offset: int) -> None:
        self._counts = np.empty((*mask.shape[:-1], axis.count), np.intp)
        for number in range(axis.count):
            start = axis.start(number)
            columns = mask[..., start : start + axis.length(number)]
            self._counts[..., number] = np.count_nonzero(columns, axis=-1)
        ends = np.cumsum(self._counts) + offset
        self._starts = ends.reshape(self._counts.shape) - self._counts
        self.end = int(ends[-1])

    def of(self, rows: tuple[slice, ...], chunk: int, count: int) -> Indices:
        """The places of the elements of some rows in a chunk, ascending."""
        part: Any = (*rows, chunk)
        counts = self._counts[part].reshape(-1)
        starts = self._starts[part].reshape(-1)
        before = np.cumsum(counts) - counts
        return np.repeat(starts - before, counts) + np.arange(count)
