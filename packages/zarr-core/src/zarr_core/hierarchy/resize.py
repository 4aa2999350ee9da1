"""Changing the shape of an array that has elements already."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.chunks import Chunks
from zarr_core.engine.stored import stored_chunks
from zarr_core.engine.write import write
from zarr_core.errors import StoreCapabilityError
from zarr_core.hierarchy import cached
from zarr_core.hierarchy.values import elements_of
from zarr_core.registry.resolve import require
from zarr_core.registry.scope import extensions
from zarr_core.selection import parse
from zarr_core.selection.normalised import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.hierarchy.array import Array
    from zarr_core.metadata.array import ArrayMetadata


def resize(array: Array, shape: tuple[int | Sequence[int], ...]) -> None:
    """Change the shape; see :meth:`Array.resize`."""
    new = _as_shape(shape)
    array._check_writable()
    array.refresh()  # a handle older than the array would leave chunks behind
    old = array.shape
    if len(new) != len(old):
        raise ValueError(
            f"resizing keeps the number of dimensions: {len(old)}, not {len(new)} for {new}"
        )
    if new == old:
        return
    shrinks = any(after < before for before, after in zip(old, new, strict=True))
    if shrinks and not (array.store.supports_listing and array.store.supports_erasing):
        raise StoreCapabilityError(
            "an array can only shrink in a store that lists and erases keys", array.store
        )
    before = array._chunks
    array._rewrite(lambda metadata: _resized(array, metadata, new))
    if shrinks:
        _clear_beyond(before, new, [axis.count for axis in array._binding.axes])


def append(array: Array, data: Any, axis: int) -> tuple[int, ...]:
    """Add elements at the end of one dimension; see :meth:`Array.append`."""
    values = elements_of(data, array._binding.data_type)
    ndim = array.ndim
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} of an array with {ndim} dimensions")
    axis %= ndim
    array._check_writable()
    old = array.shape
    expected = (*old[:axis], *old[axis + 1 :])
    given = (*values.shape[:axis], *values.shape[axis + 1 :])
    if values.ndim != ndim or given != expected:
        raise ValueError(
            f"cannot append an array of shape {values.shape} along axis {axis} of one of {old}"
        )
    count = values.shape[axis]

    def change(metadata: ArrayMetadata) -> ArrayMetadata:
        # The elements first, beyond the edge, then the document: both under the lock of
        # the document, so that nobody sees the one without the other and two who
        # append at once get places of their own.
        stored = metadata.shape
        if (*stored[:axis], *stored[axis + 1 :]) != expected:
            raise ValueError(f"the array has got the shape {stored} meanwhile; refresh() it")
        new = (*stored[:axis], stored[axis] + count, *stored[axis + 1 :])
        grown = _resized(array, metadata, new)
        with extensions(array._extensions):
            binding = cached.binding(grown, array.store, array.path, array._binding.keep_empty)
        chunks = Chunks(array.store, array._chunks.prefix, binding)
        request = parse.basic((slice(None),) * axis + (slice(stored[axis], None),), new)
        write(chunks, request.selection, request.broadcast(values))
        return grown

    array._rewrite(change)
    return array.shape


def _as_shape(shape: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    items: Any = shape
    if len(shape) == 1 and hasattr(shape[0], "__iter__"):
        items = shape[0]
    new = tuple(as_integer(length) for length in items)
    if any(length < 0 for length in new):
        raise ValueError(f"lengths of dimensions are not negative: {new}")
    return new


def _resized(array: Array, metadata: ArrayMetadata, shape: tuple[int, ...]) -> ArrayMetadata:
    where = array._where()
    with extensions(array._extensions):
        # The grid that is stored: others may have made the array grow.
        grid = require("chunk_grid", metadata.chunk_grid, where, "/chunk_grid")
        resized = grid.resized(shape)
        new = metadata.replace(shape=shape)
        if resized is not grid:
            new = new.replace(chunk_grid=resized.to_definition())
        # Whatever refuses the new shape does so before anything is stored.
        binding = cached.binding(new, array.store, array.path, array._binding.keep_empty)
    binding.check_lengths(where)
    return new


def _clear_beyond(chunks: Chunks, shape: tuple[int, ...], counts: Sequence[int]) -> None:
    """Remove what lies beyond a new shape, as it would come back when the array grows again.

    Parameters
    ----------
    chunks : Chunks
        The array as it was.
    shape : tuple of int
        The new shape.
    counts : sequence of int
        How many chunks it has in each dimension.
    """
    kept, gone = [], []
    for chunk, key in stored_chunks(chunks):
        if any(number >= count for number, count in zip(chunk, counts, strict=True)):
            gone.append(key)
        else:
            kept.append(chunk)
    chunks.store.erase_values(gone)
    for dimension, (axis, length) in enumerate(zip(chunks.axes, shape, strict=True)):
        if length >= axis.size or length == 0:
            continue
        last = axis.chunk_of(length - 1)
        end = min(axis.start(last) + axis.length(last), axis.size)
        if end == length:
            continue
        for chunk in kept:
            if chunk[dimension] == last:
                box = _extent(chunks, chunk, dimension, slice(length, end, 1))
                write(chunks, box, np.broadcast_to(chunks.binding.fill_value, box.shape))


def _extent(chunks: Chunks, chunk: tuple[int, ...], dimension: int, part: slice) -> Box:
    """The elements of a chunk, in one dimension a part of them."""
    index = [
        slice(axis.start(at), min(axis.start(at) + axis.length(at), axis.size), 1)
        for axis, at in zip(chunks.axes, chunk, strict=True)
    ]
    index[dimension] = part
    return Box(tuple(index))
