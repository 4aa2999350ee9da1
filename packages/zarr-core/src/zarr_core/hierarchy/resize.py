"""Change the shape of an array."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.resolved_metadata import resolve_cached
from zarr_core.errors import StoreCapabilityError
from zarr_core.hierarchy.coerce import elements_of
from zarr_core.hierarchy.node import update_metadata
from zarr_core.interfaces.selection import BasicIndexer
from zarr_core.registry.resolve import require_extension
from zarr_core.registry.scope import override_extensions
from zarr_core.selection import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.hierarchy.array import Array
    from zarr_core.metadata.array import ArrayMetadata


def resize(array: Array, shape: tuple[int | Sequence[int], ...]) -> None:
    """Change the shape; see :meth:`Array.resize`."""
    new = _as_shape(shape)
    array.check_writable()
    array.refresh()  # with an old shape, chunks would remain
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
    before = array.stored
    update_metadata(array, lambda metadata: _resized(array, metadata, new))
    if shrinks:
        _clear_beyond(before, new, [axis.count for axis in array.stored.axes])


def append(array: Array, data: Any, axis: int) -> tuple[int, ...]:
    """Add elements at the end of one dimension; see :meth:`Array.append`."""
    values = elements_of(data, array.stored.resolved.data_type)
    ndim = array.ndim
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} of an array with {ndim} dimensions")
    axis %= ndim
    array.check_writable()
    old = array.shape
    expected = (*old[:axis], *old[axis + 1 :])
    given = (*values.shape[:axis], *values.shape[axis + 1 :])
    if values.ndim != ndim or given != expected:
        raise ValueError(
            f"cannot append an array of shape {values.shape} along axis {axis} of one of {old}"
        )
    count = values.shape[axis]

    def change(metadata: ArrayMetadata) -> ArrayMetadata:
        # The elements are written first, then the metadata, both under the lock of the
        # metadata, so that readers see both, and concurrent calls append to each other.
        stored = metadata.shape
        if (*stored[:axis], *stored[axis + 1 :]) != expected:
            raise ValueError(f"the shape of the array has changed to {stored}; call refresh()")
        new = (*stored[:axis], stored[axis] + count, *stored[axis + 1 :])
        grown = _resized(array, metadata, new)
        request = parse.basic((slice(None),) * axis + (slice(stored[axis], None),), new)
        array.stored.with_metadata(grown).write(request.selection, request.broadcast(values))
        return grown

    update_metadata(array, change)
    return array.shape


def _as_shape(shape: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    items: Any = shape
    if len(shape) == 1 and hasattr(shape[0], "__iter__"):
        items = shape[0]
    new = tuple(as_integer(length) for length in items)
    if any(length < 0 for length in new):
        raise ValueError(f"the shape {new} has negative lengths")
    return new


def _resized(array: Array, metadata: ArrayMetadata, shape: tuple[int, ...]) -> ArrayMetadata:
    handle = array.stored
    where = handle.location
    with override_extensions(handle.extensions):
        # The stored grid: the array may have been resized concurrently.
        grid = require_extension("chunk_grid", metadata.chunk_grid, where, "/chunk_grid")
        resized = grid.resized(shape)
        new = metadata.replace(shape=shape)
        if resized is not grid:
            new = new.replace(chunk_grid=resized.to_definition())
        # An invalid shape raises before anything is stored.
        resolved = resolve_cached(
            new, handle.store, handle.path, handle.resolved.write_empty_chunks
        )
    resolved.check_lengths(where)
    return new


def _clear_beyond(array: StoredArray, shape: tuple[int, ...], counts: Sequence[int]) -> None:
    """Remove elements beyond a new shape; otherwise they would reappear when the array grows.

    Parameters
    ----------
    array : StoredArray
        The array before the change.
    shape : tuple of int
        The new shape.
    counts : sequence of int
        How many chunks it has in each dimension.
    """
    kept, gone = [], []
    for chunk, key in array.stored_chunks():
        if any(number >= count for number, count in zip(chunk, counts, strict=True)):
            gone.append(key)
        else:
            kept.append(chunk)
    array.chunk_store.erase_values(gone)
    for dimension, (axis, length) in enumerate(zip(array.axes, shape, strict=True)):
        if length >= axis.size or length == 0:
            continue
        last = axis.chunk_of(length - 1)
        end = min(axis.start(last) + axis.length(last), axis.size)
        if end == length:
            continue
        for chunk in kept:
            if chunk[dimension] == last:
                box = _extent(array, chunk, dimension, slice(length, end, 1))
                array.write(box, np.broadcast_to(array.resolved.fill_value, box.shape))


def _extent(
    array: StoredArray, chunk: tuple[int, ...], dimension: int, part: slice
) -> BasicIndexer:
    """The elements of a chunk, in one dimension a part of them."""
    index = [
        slice(axis.start(at), min(axis.start(at) + axis.length(at), axis.size), 1)
        for axis, at in zip(array.axes, chunk, strict=True)
    ]
    index[dimension] = part
    return BasicIndexer(tuple(index))
