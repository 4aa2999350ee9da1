"""Projections of a selection onto chunks: elements of each chunk, and their place in the result.

:func:`project` divides a selection at the edges of chunks.  :func:`project_keys` does the same
for slices, with keys instead of coordinates, for reads of many small chunks.  Both divide each
dimension separately and combine the results.  :func:`take` and :func:`put` apply a selection
to a chunk in memory.
"""

from __future__ import annotations

from functools import partial
from itertools import islice, product, repeat
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    MaskIndexer,
    OrthogonalIndexer,
    slice_length,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.selection import AnySelection, Indices, Selection

    Array = np.ndarray[Any, Any]
    DimIndex: TypeAlias = slice | Indices
    KeyedProjection: TypeAlias = tuple[str, tuple[Any, ...], tuple[Any, ...], bool]
    """``chunk_key``, ``chunk_selection``, ``out_selection`` and ``is_whole_encoded_chunk``; the
    selections as indices of NumPy."""

_BATCH = 1024  # chunks of the first dimension; limits the memory for selections of millions
_MANY = 256  # points for which one flat index is faster than one in each dimension
_ALL = (Ellipsis,)  # unlike an empty index, gives a view of an array without dimensions, too


class ChunkProjection(NamedTuple):
    """The part of a selection that lies in one chunk.

    Parameters
    ----------
    chunk_coords : tuple of int
        Coordinates of the chunk in the chunk grid.
    chunk_selection : BasicIndexer, OrthogonalIndexer, CoordinateIndexer or MaskIndexer
        The selected elements, relative to the chunk.  A MaskIndexer only in projections of one.
    out_selection : tuple
        Their place in an array with the shape of the selection, as a NumPy index.  The
        result is a view if ``chunk_selection`` is a BasicIndexer.
    is_complete_chunk : bool
        Whether all elements of the chunk inside the array are selected, so that it can be
        written without reading the stored one.
    is_whole_encoded_chunk : bool
        Whether the selection is the chunk as it is encoded, in order, so that it can be
        decoded in place.
    """

    chunk_coords: tuple[int, ...]
    chunk_selection: Selection  # for codecs, which divide no MaskIndexer
    out_selection: tuple[Any, ...]
    is_complete_chunk: bool
    is_whole_encoded_chunk: bool


class ChunkDimProjection(NamedTuple):
    """The part of a selection along one dimension that lies in one chunk.

    Fields as in :class:`ChunkProjection`; selections are slices or arrays of intp.
    """

    chunk_coord: int
    chunk_selection: DimIndex
    out_selection: DimIndex
    is_complete_chunk: bool
    is_whole_encoded_chunk: bool


# The same as calls of the classes, which would run a Python function.
_chunk_projection = partial(tuple.__new__, ChunkProjection)
_dim_projection = partial(tuple.__new__, ChunkDimProjection)


# --- all dimensions ---


def project(
    selection: AnySelection, axes: Sequence[ChunkAxis], complete: bool = True
) -> tuple[ChunkProjection] | Iterator[ChunkProjection]:
    """Divide a selection at the edges of chunks.

    Parameters
    ----------
    selection : BasicIndexer, OrthogonalIndexer, CoordinateIndexer or MaskIndexer
        Selection within the bounds of the array.
    axes : sequence of ChunkAxis
        The chunks along each dimension.
    complete : bool
        Whether ``is_complete_chunk`` is needed.  If not, it may be false for a complete chunk
        whose elements are selected by arrays, which takes time to find out.

    Returns
    -------
    tuple or iterator of ChunkProjection
        One for each chunk, in C order of the chunks.  A tuple if the selection consists of
        slices within a single chunk.
    """
    if not isinstance(selection, BasicIndexer):
        if isinstance(selection, OrthogonalIndexer):
            return _project_orthogonal(selection, axes, complete)
        if isinstance(selection, MaskIndexer):
            return _project_mask(selection, axes)
        return _project_coordinates(selection, axes, complete)
    # The loop is only for slices within a single chunk.
    coords = []
    chunk_slices = []
    is_complete = is_whole = True
    for item, axis in zip(selection.index, axes, strict=True):
        start, stop, step = item.start, item.stop, item.step
        if start >= stop:
            return iter(())
        uniform = axis.uniform
        if uniform is not None:
            coord = start // uniform
            origin, length = coord * uniform, uniform
        else:
            coord = axis.chunk_of(start)
            origin, length = axis.start(coord), axis.length(coord)
        if stop > origin + length:
            return _project_slices(selection, axes)
        start -= origin
        stop -= origin
        coords.append(coord)
        chunk_slices.append(slice(start, stop, step))
        if start or (step != 1 and stop > 1):
            is_complete = is_whole = False
        elif stop != length:
            is_whole = False
            is_complete = is_complete and origin + stop == axis.size
    chunk_selection = BasicIndexer(tuple(chunk_slices))
    return (_chunk_projection((tuple(coords), chunk_selection, _ALL, is_complete, is_whole)),)


def project_keys(
    selection: BasicIndexer,
    axes: Sequence[ChunkAxis],
    chunk_keys: Callable[[Sequence[Sequence[int]]], Iterable[str]],
) -> Iterator[KeyedProjection]:
    """Divide slices at the edges of chunks, with as few steps per chunk as possible.

    Parameters
    ----------
    selection : BasicIndexer
        Selection within the bounds of the array, which has at least one dimension.
    axes : sequence of ChunkAxis
        The chunks along each dimension.
    chunk_keys : callable
        Function from chunk coordinates along each dimension to the keys of all
        combinations, in C order.
    """
    for tables in _tables(selection, axes):
        columns = [zip(*table, strict=True) for table in tables]
        chunks, chunk_selections, out_selections, _, whole = zip(*columns, strict=True)
        yield from zip(
            chunk_keys(chunks),
            product(*chunk_selections),
            product(*out_selections),
            _all_of(whole),
            strict=False,  # an endless iterator may be among them
        )


def chunk_count(selection: AnySelection, axes: Sequence[ChunkAxis]) -> int:
    """Count the chunks that a selection touches: the projections of :func:`project`."""
    if isinstance(selection, MaskIndexer):
        return sum(1 for _ in _project_mask(selection, axes))
    if not isinstance(selection, CoordinateIndexer):
        pairs = zip(selection.index, axes, strict=True)
        return prod(_dim_chunk_count(item, axis) for item, axis in pairs)
    if not axes:
        return 1
    from zarr_core.selection import array_projection  # imports NumPy

    return array_projection.coordinate_chunk_count(selection.index, axes)


def _project_slices(
    selection: BasicIndexer, axes: Sequence[ChunkAxis]
) -> Iterator[ChunkProjection]:
    for tables in _tables(selection, axes):
        yield from _combine(tables, BasicIndexer)


def _project_orthogonal(
    selection: OrthogonalIndexer, axes: Sequence[ChunkAxis], complete: bool
) -> Iterator[ChunkProjection]:
    tables = [
        project_dimension(item, axis, complete)
        for item, axis in zip(selection.index, axes, strict=True)
    ]
    return _combine(tables, _basic_or_orthogonal, open_mesh)


def _project_coordinates(
    selection: CoordinateIndexer, axes: Sequence[ChunkAxis], complete: bool
) -> Iterator[ChunkProjection]:
    if not axes:
        yield ChunkProjection((), selection, (slice(0, 1, 1),), True, False)
        return
    from zarr_core.selection import array_projection  # imports NumPy

    found = array_projection.project_coordinates(selection.index, axes, complete)
    yield from map(_chunk_projection, found)


def _project_mask(selection: MaskIndexer, axes: Sequence[ChunkAxis]) -> Iterator[ChunkProjection]:
    from zarr_core.selection import array_projection  # imports NumPy

    mask = selection.mask
    whole = BasicIndexer(tuple(slice(0, size, 1) for size in mask.shape))
    boxes = ((chunk, box) for chunk, _, box, _, _ in _project_slices(whole, axes))
    return map(_chunk_projection, array_projection.project_mask(mask, boxes, axes))


def _tables(
    selection: BasicIndexer, axes: Sequence[ChunkAxis]
) -> Iterator[list[list[ChunkDimProjection]]]:
    """The projections along each dimension, in batches of those along the first."""
    rest = [
        project_dimension(item, axis)
        for item, axis in zip(selection.index[1:], axes[1:], strict=True)
    ]
    if not all(rest):
        return
    first = _project_slice(selection.index[0], axes[0])
    while batch := list(islice(first, _BATCH)):
        yield [batch, *rest]


def _combine(
    tables: Sequence[Sequence[ChunkDimProjection]],
    chunk_selection: Callable[[tuple[Any, ...]], Selection],
    out_selection: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
) -> Iterator[ChunkProjection]:
    """Every combination of projections along the dimensions; the loops run inside itertools."""
    if not all(tables):
        return iter(())
    columns = [zip(*table, strict=True) for table in tables]
    chunks, chunk_items, out_items, complete, whole = zip(*columns, strict=True)
    return map(
        _chunk_projection,
        zip(
            product(*chunks),
            map(chunk_selection, product(*chunk_items)),
            map(out_selection, product(*out_items)) if out_selection else product(*out_items),
            _all_of(complete),
            _all_of(whole),
            strict=False,  # endless iterators may be among them
        ),
    )


def _all_of(flags: tuple[tuple[bool, ...], ...]) -> Iterator[bool]:
    """Whether the flags of a combination are all true, for every combination."""
    return repeat(True) if all(map(all, flags)) else map(all, product(*flags))


def _basic_or_orthogonal(index: tuple[Any, ...]) -> BasicIndexer | OrthogonalIndexer:
    only_slices = all(isinstance(item, slice) for item in index)
    return BasicIndexer(index) if only_slices else OrthogonalIndexer(index)


# --- one dimension ---


def project_dimension(
    index: DimIndex, axis: ChunkAxis, complete: bool = True
) -> list[ChunkDimProjection]:
    """Divide a normalised slice or array of indices at the edges of chunks, in their order.

    ``complete`` is as for :func:`project`.
    """
    if isinstance(index, slice):
        return list(_project_slice(index, axis))
    from zarr_core.selection import array_projection  # imports NumPy

    return list(map(_dim_projection, array_projection.project_indices(index, axis, complete)))


def _project_slice(index: slice, axis: ChunkAxis) -> Iterator[ChunkDimProjection]:
    uniform = axis.uniform
    size = axis.size
    position, stop, step = index.start, index.stop, index.step
    out_start = 0
    chunk = end = -1
    while position < stop:
        if uniform is not None:
            chunk = position // uniform
            start, length = chunk * uniform, uniform
        elif position == end:  # usually the next chunk, which requires no search
            chunk, start = chunk + 1, end
            length = axis.length(chunk)
        else:
            chunk = axis.chunk_of(position)
            start, length = axis.start(chunk), axis.length(chunk)
        first = position - start
        end = start + length
        if step == 1:
            count = (end if end < stop else stop) - position
            chunk_selection = slice(first, first + count, 1)
            position += count
        else:
            count = ((end if end < stop else stop) - position + step - 1) // step
            chunk_selection = slice(first, first + (count - 1) * step + 1, step if count > 1 else 1)
            position += count * step
        inside = length if end <= size else size - start
        out_selection = slice(out_start, out_start + count, 1)
        yield _dim_projection(
            (chunk, chunk_selection, out_selection, count == inside, count == length)
        )
        out_start += count


def _dim_chunk_count(index: DimIndex, axis: ChunkAxis) -> int:
    if not isinstance(index, slice):
        from zarr_core.selection import array_projection  # imports NumPy

        return len(array_projection.distinct_chunks(index, axis))
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
    return sum(1 for _ in _project_slice(index, axis))


# --- elements of a chunk in memory ---


def take(array: Array, selection: AnySelection) -> Array:
    """Return the selected elements.

    Parameters
    ----------
    array : ndarray
        Usually a chunk; the selection lies within its shape.
    selection : BasicIndexer, OrthogonalIndexer, CoordinateIndexer or MaskIndexer
        Selection of elements.

    Returns
    -------
    ndarray
        Array with the shape of the selection; a view for a BasicIndexer, else a copy.
    """
    if isinstance(selection, BasicIndexer):
        # Without dimensions NumPy would return a scalar instead of a view.
        return array[selection.index] if selection.index else array
    if isinstance(selection, MaskIndexer):
        inside: Array = _inside(array, selection.mask)[selection.mask]
        return inside
    if isinstance(selection, CoordinateIndexer):
        points = selection.index
        if len(points) > 1 and len(points[0]) > _MANY and array.flags.c_contiguous:
            return array.reshape(-1).take(selection.flat_index(array.shape))
        return array[points] if points else array.reshape(1)
    index = selection.index
    import numpy as np

    # One dimension at a time: NumPy would broadcast several arrays together.
    part: Array = array[tuple(item if isinstance(item, slice) else slice(None) for item in index)]
    for axis, item in enumerate(index):
        if not isinstance(item, slice):
            part = np.take(part, item, axis)
    return part


def _inside(array: Array, mask: Array) -> Array:
    """The part of a chunk inside the array, which has the shape of a mask."""
    if array.shape == mask.shape:
        return array
    return array[tuple(slice(0, length) for length in mask.shape)]


def put(array: Array, selection: AnySelection, values: Array | Any) -> None:
    """Assign to the selected elements; of several values for one element the last is kept.

    Parameters
    ----------
    array : ndarray
        Usually a chunk; the selection lies within its shape.
    selection : BasicIndexer, OrthogonalIndexer, CoordinateIndexer or MaskIndexer
        Selection of elements.
    values : ndarray
        New values; broadcast to the shape of the selection.
    """
    if isinstance(selection, OrthogonalIndexer):
        # Slices first, so that the mesh covers the selected elements alone.
        index = selection.index
        view = array[tuple(item if isinstance(item, slice) else slice(None) for item in index)]
        rest = (
            slice(0, length, 1) if isinstance(item, slice) else item
            for item, length in zip(index, view.shape, strict=True)
        )
        view[open_mesh(tuple(rest))] = values
    elif isinstance(selection, MaskIndexer):
        _inside(array, selection.mask)[selection.mask] = values
    elif selection.index or isinstance(selection, BasicIndexer):
        array[selection.index] = values
    else:
        array.reshape(1)[:] = values


def numpy_index(selection: AnySelection) -> tuple[Any, ...]:
    """Return an index with which NumPy selects the same; slower than :func:`take` if large."""
    if isinstance(selection, MaskIndexer):
        return selection.to_coordinates().index
    if isinstance(selection, OrthogonalIndexer):
        return open_mesh(selection.index)
    return selection.index


def open_mesh(index: tuple[DimIndex, ...]) -> tuple[DimIndex, ...]:
    """Return an index with which NumPy selects the outer product of slices and 1-D indices.

    It is ``index`` itself if that has at most one array, else arrays that broadcast together.
    """
    if sum(not isinstance(item, slice) for item in index) <= 1:
        return index
    import numpy as np

    mesh = []
    for axis, item in enumerate(index):
        if isinstance(item, slice):
            item = np.arange(item.start, item.stop, item.step, dtype=np.intp)
        mesh.append(item.reshape(-1, *(1,) * (len(index) - 1 - axis)))
    return tuple(mesh)
