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


def _flat_chunk_numbers(index: Sequence[Indices], axes: Sequence[ChunkAxis]) -> Array:
    """The number of every element's chunk: in C order, of the smallest unsigned type."""
    firsts = [0] * len(axes)
    counts = [axis.count for axis in axes]
    if prod(counts) > _BLOCK:  # perhaps only a part of the grid is used
        firsts = [axis.chunk_of(int(part.min())) for part, axis in zip(index, axes, strict=True)]
        lasts = [axis.chunk_of(int(part.max())) for part, axis in zip(index, axes, strict=True)]
        counts = [last - first + 1 for first, last in zip(firsts, lasts, strict=True)]
    if prod(counts) > _LARGEST:
        return _ranks(index, axes)
    numbers = np.empty(len(index[0]), np.min_scalar_type(prod(counts) - 1))
    for begin in range(0, len(numbers), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        flat: Any = 0
        for part, axis, first, count in zip(index, axes, firsts, counts, strict=True):
            if count > 1:
                flat = flat * count + (chunk_numbers(part[block], axis) - first)
        numbers[block] = flat
    return numbers


def _ranks(index: Sequence[Indices], axes: Sequence[ChunkAxis]) -> Array:
    """As :func:`_flat_chunk_numbers`, but only chunks with elements are numbered."""
    ranks: Any = np.zeros(len(index[0]), np.intp)
    for part, axis in zip(index, axes, strict=True):
        chunks, numbers = np.unique(chunk_numbers(part, axis), return_inverse=True)
        ranks = np.unique(ranks * len(chunks) + numbers, return_inverse=True)[1]
    return np.asarray(ranks)


def _group(
    index: Sequence[Indices], axes: Sequence[ChunkAxis]
) -> tuple[Indices | None, Indices, list[list[int]]]:
    """Sort elements into chunks; return their order, bounds of chunks, coordinates of chunks."""
    # The sort is stable: of several values assigned to one element the last is kept, as in NumPy.
    # The order is None if elements already are in it.
    numbers = _flat_chunk_numbers(index, axes)
    sizes = np.bincount(numbers) if numbers.dtype.itemsize <= 2 and len(numbers) > _BLOCK else None
    order: Indices | None = None
    if (numbers[1:] < numbers[:-1]).any():
        order = numbers.argsort(kind="stable")  # a radix sort for numbers of up to 16 bits
    if sizes is not None:
        bounds = np.concatenate(([0], np.cumsum(sizes[sizes > 0])))
    else:
        if order is not None:
            numbers = numbers[order]
        changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
        bounds = np.concatenate(([0], changes, [len(numbers)]))
    firsts = bounds[:-1] if order is None else order[bounds[:-1]]
    chunks = [
        chunk_numbers(part[firsts], axis).tolist() for part, axis in zip(index, axes, strict=True)
    ]
    return order, bounds, chunks


def project_indices(
    index: Indices, axis: ChunkAxis, complete: bool = True
) -> Iterator[tuple[int, slice | Indices, slice | Indices, bool, bool]]:
    """Sort the indices of one dimension into chunks; yield the fields of a ``DimProjection``.

    ``is_complete_chunk`` may be false for a complete chunk if ``complete`` is false.
    """
    if len(index) == 0:
        return
    order, bounds, (chunks,) = _group((index,), (axis,))
    if order is not None:
        index = index[order]
    edges = bounds.tolist()
    for chunk, first, end in zip(chunks, edges, edges[1:], strict=False):
        start, length = axis.start(chunk), axis.length(chunk)
        valid_length = min(length, axis.size - start)
        count = end - first
        run = index[first:end]
        out_selection = _out_selection(order, first, end)
        # A slice with a scattered out_selection would wrongly promise a view of the result.
        part = progression(run) if isinstance(out_selection, slice) else None
        if part is not None:
            chunk_selection = slice(part.start - start, part.stop - start, part.step)
            yield chunk, chunk_selection, out_selection, count == valid_length, count == length
            continue
        if start:
            run = run - start if order is None else np.subtract(run, start, out=run)
        is_complete = complete and count >= valid_length and _covers(run, valid_length)
        yield chunk, run, out_selection, is_complete, False


def progression(indices: Indices) -> slice | None:
    """The ascending slice that selects the same as one-dimensional indices, if any."""
    count = len(indices)
    if count == 0:
        return slice(0, 0, 1)
    first, last = int(indices[0]), int(indices[-1])
    if count == 1:
        return slice(first, first + 1, 1)
    step = int(indices[1]) - first
    if step < 1 or last - first != step * (count - 1):
        return None
    if count > 2 and not (indices[1:] - indices[:-1] == step).all():
        return None
    return slice(first, last + 1, step)


def _out_selection(order: Indices | None, first: int, end: int) -> slice | Indices:
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
    for chunk, first, end in zip(zip(*chunks, strict=True), edges, edges[1:], strict=False):
        out_selection = _out_selection(order, first, end)
        starts = [axis.start(number) for axis, number in zip(axes, chunk, strict=True)]
        chunk_selection = CoordinateIndexer(
            tuple(part[out_selection] - start for part, start in zip(index, starts, strict=True))
        )
        lengths = [
            min(axis.length(number), axis.size - start)
            for axis, number, start in zip(axes, chunk, starts, strict=True)
        ]
        volume = prod(lengths)
        is_complete = False
        if complete and end - first >= volume:
            is_complete = _covers(chunk_selection.flat_index(lengths), volume)
        yield chunk, chunk_selection, (out_selection,), is_complete, False


def project_mask(
    mask: Array,
    boxes: Iterable[tuple[tuple[int, ...], tuple[slice, ...]]],
    axes: Sequence[ChunkAxis],
) -> Iterator[tuple[tuple[int, ...], Any, tuple[slice | Indices], bool, bool]]:
    """Divide a mask at the edges of chunks; yield the fields of a ``ChunkProjection``.

    ``boxes`` are the grid coordinates and elements of every chunk, in C order.
    """
    offset = 0  # selected elements before this row of chunks
    for _, group in groupby(boxes, lambda box: box[0][0]):
        row = list(group)
        positions = None
        if len(row) > 1:  # elements of a chunk are not adjacent in the result
            selected = mask[row[0][1][0]]
            positions = selected.cumsum().reshape(selected.shape)
            positions += offset - 1
        for coords, box in row:
            chunk_mask = mask[box]
            count = int(np.count_nonzero(chunk_mask))
            if not count:
                continue
            out_selection: slice | Indices = slice(offset, offset + count, 1)
            if positions is not None:
                out_selection = positions[(slice(None), *box[1:])][chunk_mask]
            is_complete = count == chunk_mask.size
            chunk_selection: BasicIndexer | MaskIndexer = MaskIndexer(chunk_mask)
            is_whole = is_complete and chunk_mask.ndim == 1
            if is_whole:
                chunk_selection = BasicIndexer((slice(0, count, 1),))
                is_whole = count == axes[0].length(coords[0])
            yield coords, chunk_selection, (out_selection,), is_complete, is_whole
            if positions is None:
                offset += count
        if positions is not None:
            offset = int(positions.reshape(-1)[-1]) + 1
