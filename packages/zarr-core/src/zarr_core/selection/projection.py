"""Projections of a selection onto chunks: elements of each chunk, and their place in the result.

:func:`project` divides a selection at the edges of chunks.  Slices and outer products are divided
along each dimension separately; every combination of the parts is a chunk, and the loop over them
runs inside itertools.  :func:`take` and :func:`put` apply a selection to a chunk in memory.
"""

from __future__ import annotations

from functools import partial
from itertools import islice, product, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    MaskIndexer,
    OrthogonalIndexer,
)
from zarr_core.selection.array_projection import (
    project_coordinates,
    project_indices,
    project_mask,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.selection import AnySelection, Indices, Selection

    Array = np.ndarray[Any, Any]
    DimIndex: TypeAlias = slice | Indices
    ChunkKey: TypeAlias = Callable[[tuple[int, ...]], str]
    DimProjection: TypeAlias = tuple[int, DimIndex, DimIndex, bool, bool]
    """The part of a selection along one dimension that lies in one chunk, with the fields of a
    :class:`ChunkProjection`."""

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


# The same as a call of the class, which would run a Python function.
_chunk_projection = partial(tuple.__new__, ChunkProjection)


# --- all dimensions ---


def project(
    selection: AnySelection,
    axes: Sequence[ChunkAxis],
    complete: bool = True,
    chunk_key: ChunkKey | None = None,
) -> tuple[ChunkProjection] | Iterator[ChunkProjection]:
    """Divide a selection at the edges of chunks; return projections in C order of the chunks.

    The result is a tuple if the selection consists of slices within a single chunk.

    Parameters
    ----------
    selection, axes
        The selection, within the bounds of the array, and the chunks along each dimension.
    complete : bool
        Whether ``is_complete_chunk`` is needed.  If not, it may be false for a complete chunk
        whose elements are selected by arrays, which takes time to find out.
    chunk_key : callable, optional
        From chunk coordinates to a key.  Slices in several chunks are then divided into plain tuples,
        which have a key instead of ``chunk_coords`` and an index of NumPy as ``chunk_selection``: for
        many small chunks, the objects would take longer to create than the elements to copy.
    """
    if isinstance(selection, OrthogonalIndexer):
        pairs = zip(selection.index, axes, strict=True)
        tables = [project_dimension(item, axis, complete) for item, axis in pairs]
        return _combine(tables, outer_product, open_mesh)
    if isinstance(selection, CoordinateIndexer):
        if not axes:
            return iter((ChunkProjection((), selection, (slice(0, 1, 1),), True, False),))
        return map(_chunk_projection, project_coordinates(selection.index, axes, complete))
    if isinstance(selection, MaskIndexer):
        whole = BasicIndexer(tuple(slice(0, size, 1) for size in selection.mask.shape))
        boxes = ((chunk, box) for chunk, _, box, _, _ in _project_slices(whole, axes, None))
        return map(_chunk_projection, project_mask(selection.mask, boxes, axes))
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
            return _project_slices(selection, axes, chunk_key)
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


def _project_slices(
    selection: BasicIndexer, axes: Sequence[ChunkAxis], chunk_key: ChunkKey | None
) -> Iterator[Any]:
    """Yield projections of slices on several chunks, in batches along the first dimension."""
    pairs = zip(selection.index[1:], axes[1:], strict=True)
    rest = [list(_project_slice(item, axis)) for item, axis in pairs]
    if not all(rest):
        return
    first = _project_slice(selection.index[0], axes[0])
    while batch := list(islice(first, _BATCH)):
        if chunk_key is None:
            yield from _combine([batch, *rest], BasicIndexer)
        else:
            yield from _combinations([batch, *rest], chunk_key=chunk_key)


def _combine(
    tables: Sequence[Sequence[DimProjection]],
    chunk_selection: Callable[[tuple[Any, ...]], Selection],
    out_selection: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
) -> Iterator[ChunkProjection]:
    """A projection for every combination of projections along the dimensions."""
    return map(_chunk_projection, _combinations(tables, chunk_selection, out_selection))


def _combinations(
    tables: Sequence[Sequence[DimProjection]],
    chunk_selection: Callable[[tuple[Any, ...]], Any] | None = None,
    out_selection: Callable[[tuple[Any, ...]], Any] | None = None,
    chunk_key: ChunkKey | None = None,
) -> Iterator[Any]:
    """The fields of these projections, with functions for the selections."""
    if not all(tables):
        return iter(())
    # Each field as a sequence for every dimension; the loops over all combinations are in C.
    columns = zip(*[zip(*table, strict=True) for table in tables], strict=True)
    chunks, chunk_items, out_items, complete, whole = columns
    inside: Iterator[Any] = product(*chunk_items)
    outside: Iterator[Any] = product(*out_items)
    return zip(
        product(*chunks) if chunk_key is None else map(chunk_key, product(*chunks)),
        inside if chunk_selection is None else map(chunk_selection, inside),
        outside if out_selection is None else map(out_selection, outside),
        _all_of(complete),
        _all_of(whole),
        strict=False,  # endless iterators may be among them
    )


def _all_of(flags: tuple[tuple[bool, ...], ...]) -> Iterator[bool]:
    """Whether the flags of a combination are all true, for every combination."""
    return repeat(True) if all(map(all, flags)) else map(all, product(*flags))


def outer_product(index: tuple[Any, ...]) -> BasicIndexer | OrthogonalIndexer:
    """The selection of a slice or indices in each dimension."""
    only_slices = all(isinstance(item, slice) for item in index)
    return BasicIndexer(index) if only_slices else OrthogonalIndexer(index)


# --- one dimension ---


def project_dimension(
    index: DimIndex, axis: ChunkAxis, complete: bool = True
) -> list[DimProjection]:
    """Divide a normalised slice or array of indices at the edges of chunks, in their order.

    ``complete`` is as for :func:`project`.
    """
    if isinstance(index, slice):
        return list(_project_slice(index, axis))
    return list(project_indices(index, axis, complete))


def _project_slice(index: slice, axis: ChunkAxis) -> Iterator[DimProjection]:
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
        yield chunk, chunk_selection, out_selection, count == inside, count == length
        out_start += count


# --- elements of a chunk in memory ---


def take(array: Array, selection: AnySelection) -> Array:
    """Return the selected elements of a chunk: a view for a BasicIndexer, otherwise a copy."""
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
    # One dimension at a time: NumPy would broadcast several arrays together.
    index = selection.index
    part: Array = array[tuple(item if isinstance(item, slice) else slice(None) for item in index)]
    for axis, item in enumerate(index):
        if not isinstance(item, slice):
            part = np.take(part, item, axis)
    return part


def _inside(array: Array, mask: Array) -> Array:
    """The part of a chunk inside the array, which has the shape of a mask."""
    return array[tuple(slice(0, length) for length in mask.shape)]


def put(array: Array, selection: AnySelection, values: Array | Any) -> None:
    """Assign to the selected elements; of several values for one element the last is kept."""
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


def open_mesh(index: tuple[DimIndex, ...]) -> tuple[DimIndex, ...]:
    """Return an index with which NumPy selects the outer product of slices and 1-D indices.

    It is ``index`` itself if that has at most one array, else arrays that broadcast together.
    """
    if sum(not isinstance(item, slice) for item in index) <= 1:
        return index
    mesh = []
    for axis, item in enumerate(index):
        if isinstance(item, slice):
            item = np.arange(item.start, item.stop, item.step, dtype=np.intp)
        mesh.append(item.reshape(-1, *(1,) * (len(index) - 1 - axis)))
    return tuple(mesh)
