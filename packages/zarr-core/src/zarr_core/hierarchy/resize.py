"""Changing the shape of an array that has elements already."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.write import write
from zarr_core.errors import StoreCapabilityError
from zarr_core.selection.normalised import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.hierarchy.array import Array


def resize(array: Array, shape: tuple[int | Sequence[int], ...]) -> None:
    """Change the shape; see :meth:`Array.resize`."""
    new = _as_shape(shape)
    old = array.shape
    if len(new) != len(old):
        raise ValueError(
            f"resizing keeps the number of dimensions: {len(old)}, not {len(new)} for {new}"
        )
    array._check_writable()
    if new == old:
        return
    shrinks = any(after < before for before, after in zip(old, new, strict=True))
    if shrinks:
        if not (array.store.supports_listing and array.store.supports_erasing):
            raise StoreCapabilityError(
                "an array can only shrink in a store that lists and erases keys", array.store
            )
        # While the old shape still stands: the part of kept chunks that will lie
        # outside would come back when the array grows again.
        _clear_beyond(array, new)
    before = array._chunks
    array._rewrite(
        lambda metadata: metadata.replace(
            shape=new, chunk_grid=_regridded(array, new, metadata.chunk_grid)
        )
    )
    if shrinks:
        counts = [axis.count for axis in array._binding.axes]
        stored = _stored(before)
        before.store.erase_values(
            [
                key
                for chunk, key in stored
                if any(number >= count for number, count in zip(chunk, counts, strict=True))
            ]
        )


def append(array: Array, data: Any, axis: int) -> tuple[int, ...]:
    """Add elements at the end of one dimension; see :meth:`Array.append`."""
    values = np.asarray(data)
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
    start = old[axis]
    new = (*old[:axis], start + values.shape[axis], *old[axis + 1 :])
    resize(array, (new,))
    array[(slice(None),) * axis + (slice(start, None),)] = values
    return new


def _as_shape(shape: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    items: Any = shape
    if len(shape) == 1 and hasattr(shape[0], "__iter__"):
        items = shape[0]
    new = tuple(as_integer(length) for length in items)
    if any(length < 0 for length in new):
        raise ValueError(f"lengths of dimensions are not negative: {new}")
    return new


def _regridded(array: Array, shape: tuple[int, ...], definition: Any) -> Any:
    grid = array._binding.grid
    resized = grid.resized(shape)
    return definition if resized is grid else resized.to_definition()


def _stored(chunks: Any) -> list[tuple[tuple[int, ...], str]]:
    from zarr_core.hierarchy.storage import stored_chunks  # noqa: PLC0415 - only to shrink

    return list(stored_chunks(chunks))


def _clear_beyond(array: Array, shape: tuple[int, ...]) -> None:
    """Set to the fill value what chunks that stay hold beyond the new shape."""
    axes = array._binding.axes
    fill = array._binding.fill_value
    stored = {chunk for chunk, _ in _stored(array._chunks)}
    for dimension, (axis, length) in enumerate(zip(axes, shape, strict=True)):
        if length >= axis.size or length == 0:
            continue
        last = axis.chunk_of(length - 1)
        end = min(axis.start(last) + axis.length(last), axis.size)
        if end == length:
            continue
        for chunk in stored:
            if chunk[dimension] != last:
                continue
            box = Box(
                tuple(
                    slice(length, end, 1)
                    if number == dimension
                    else slice(
                        other.start(at), min(other.start(at) + other.length(at), other.size), 1
                    )
                    for number, (other, at) in enumerate(zip(axes, chunk, strict=True))
                )
            )
            write(array._chunks, box, np.broadcast_to(fill, box.shape))
