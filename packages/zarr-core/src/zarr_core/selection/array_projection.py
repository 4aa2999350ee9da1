"""Projections of index arrays onto chunks, without a Python step for each element."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.interfaces.selection import CoordinateIndexer
from zarr_core.selection.projection import ChunkDimProjection, ChunkProjection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.selection import Indices

__all__ = ["coordinate_chunk_count", "distinct_chunks", "project_coordinates", "project_indices"]

_LARGEST = int(np.iinfo(np.intp).max)


def chunk_numbers(index: Indices, axis: ChunkAxis) -> Indices:
    """Find the chunk of every index."""
    uniform = axis.uniform
    if uniform is None:
        return np.asarray(axis.chunks_of(index), np.intp)
    if uniform >= axis.size:  # also if the length of a chunk exceeds intp
        return np.zeros(len(index), np.intp)
    return index // uniform


def distinct_chunks(index: Indices, axis: ChunkAxis) -> Indices:
    """Find the chunks that hold any of the elements, ascending."""
    return np.unique(chunk_numbers(index, axis))


def project_indices(index: Indices, axis: ChunkAxis) -> list[ChunkDimProjection]:
    """Sort the indices of one dimension into chunks.

    The sort is stable: of several values assigned to one element the last one stays, as
    in NumPy.
    """
    if len(index) == 0:
        return []
    numbers = chunk_numbers(index, axis)
    order: Indices | None = None
    if (numbers[1:] < numbers[:-1]).any():
        order = np.argsort(numbers, kind="stable")
        index, numbers = index[order], numbers[order]
    bounds = _bounds(numbers[1:] != numbers[:-1], len(numbers))
    chunks = numbers[bounds[:-1]].tolist()
    edges = bounds.tolist()
    starts = [axis.start(chunk) for chunk in chunks]
    runs = _progressions(index, bounds)
    order_runs = None if order is None else _progressions(order, bounds)
    projections = []
    for place, (chunk, start) in enumerate(zip(chunks, starts, strict=True)):
        first, end = edges[place], edges[place + 1]
        step = runs[place]
        length = axis.length(chunk)
        inside = min(length, axis.size - start)
        out_selection: slice | Indices
        if order is None or order_runs is None:
            out_selection = slice(first, end, 1)
        elif order_runs[place]:
            out_selection = slice(int(order[first]), int(order[end - 1]) + 1, order_runs[place])
        else:
            out_selection = order[first:end]
        chunk_selection: slice | Indices
        whole = False
        if step:
            complete = end - first == inside
        else:
            complete = end - first >= inside and len(np.unique(index[first:end])) == inside
        if step and isinstance(out_selection, slice):
            chunk_selection = slice(
                int(index[first]) - start, int(index[end - 1]) - start + 1, step
            )
            whole = end - first == length
        else:
            # With a scattered out_selection, a slice would promise a view of the result.
            chunk_selection = index[first:end] - start
        projections.append(
            ChunkDimProjection(chunk, chunk_selection, out_selection, complete, whole)
        )
    return projections


def _bounds(changes: np.ndarray[Any, Any], count: int) -> Indices:
    """Where groups begin, and the end of the last, from where neighbours differ."""
    cuts = np.flatnonzero(changes)
    bounds = np.empty(len(cuts) + 2, np.intp)
    bounds[0] = 0
    np.add(cuts, 1, out=bounds[1:-1])
    bounds[-1] = count
    return bounds


def _progressions(values: Indices, bounds: Indices) -> list[int]:
    """For each group its step, if it ascends in equal steps, else 0."""
    steps = np.diff(values)
    # How often the step changed before each place: equal at both ends means never between.
    changed = np.zeros(len(values), np.intp)
    if len(values) > 2:
        np.cumsum(steps[1:] != steps[:-1], out=changed[2:])
    first, last = bounds[:-1], bounds[1:] - 1
    single = first == last
    second = np.minimum(first + 1, len(values) - 1)
    even = changed[last] == changed[second]
    step = values[second] - values[first]
    found: list[int] = np.where(single, 1, np.where(even & (step > 0), step, 0)).tolist()
    return found


def _grouped(
    index: tuple[Indices, ...], axes: Sequence[ChunkAxis]
) -> tuple[list[Indices], Indices | None, Indices]:
    """Chunk numbers of points in the order of chunks, that order, and the bounds of groups."""
    numbers = [chunk_numbers(part, axis) for part, axis in zip(index, axes, strict=True)]
    counts = [axis.count for axis in axes]
    order: Indices | None
    if prod(counts) <= _LARGEST:
        flat = numbers[0]
        for number, count in zip(numbers[1:], counts[1:], strict=True):
            flat = flat * count + number
        order = None
        if (flat[1:] < flat[:-1]).any():
            order = np.argsort(flat, kind="stable")
            flat = flat[order]
            numbers = [number[order] for number in numbers]
        changes = flat[1:] != flat[:-1]
    else:
        order = np.lexsort(numbers[::-1])
        numbers = [number[order] for number in numbers]
        changes = np.zeros(len(order) - 1, bool)
        for number in numbers:
            changes |= number[1:] != number[:-1]
    return numbers, order, _bounds(changes, len(numbers[0]))


def project_coordinates(
    index: tuple[Indices, ...], axes: Sequence[ChunkAxis]
) -> Iterator[ChunkProjection]:
    """Sort the coordinates of elements into chunks."""
    if len(index[0]) == 0:
        return
    numbers, order, bounds = _grouped(index, axes)
    if order is not None:
        index = tuple(part[order] for part in index)
    edges = bounds.tolist()
    chunks = [number[bounds[:-1]].tolist() for number in numbers]
    for place, chunk in enumerate(zip(*chunks, strict=True)):
        first, end = edges[place], edges[place + 1]
        chunk_index = []
        lengths = []
        for part, axis, number in zip(index, axes, chunk, strict=True):
            start = axis.start(number)
            chunk_index.append(part[first:end] - start)
            lengths.append(min(axis.length(number), axis.size - start))
        volume = prod(lengths)
        complete = False
        if end - first >= volume:
            flat = np.ravel_multi_index(tuple(chunk_index), tuple(lengths))
            complete = len(np.unique(flat)) == volume
        places = slice(first, end, 1) if order is None else order[first:end]
        yield ChunkProjection(
            chunk, CoordinateIndexer(tuple(chunk_index)), (places,), complete, False
        )


def coordinate_chunk_count(index: tuple[Indices, ...], axes: Sequence[ChunkAxis]) -> int:
    """Count the chunks that contain any of the elements."""
    if len(index[0]) == 0:
        return 0
    return len(_grouped(index, axes)[2]) - 1
