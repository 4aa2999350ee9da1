"""Change the shape of a stored array."""

from __future__ import annotations

from itertools import product
from math import gcd
from operator import lt
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import StoreCapabilityError
from zarr_core.interfaces.chunk_observer import forget_chunks
from zarr_core.interfaces.codec import SubchunkCodec
from zarr_core.interfaces.selection import BasicIndexer
from zarr_core.registry.overrides import override_extensions
from zarr_core.registry.resolve import create_extension
from zarr_core.selection import parse
from zarr_core.selection.parse import as_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.metadata.array import ArrayMetadata


def new_shape(
    array: StoredArray,
    old: tuple[int, ...],
    shape: tuple[int | Sequence[int | None] | None, ...],
    only: str | None,
    metadata_only: bool,
) -> tuple[int, ...]:
    """Parse the arguments of :meth:`zarr_core.Array.resize` for the shape that is stored now."""
    if only not in ("grow", "shrink", None):
        raise ValueError(f'only must be "grow" or "shrink", not {only!r}')
    items: Any = shape[0] if len(shape) == 1 and hasattr(shape[0], "__iter__") else shape
    try:
        lengths = tuple(None if length is None else as_integer(length) for length in items)
    except TypeError:
        raise TypeError(f"lengths of dimensions are integers or None, not {items!r}") from None
    if any(length is not None and length < 0 for length in lengths):
        raise ValueError(f"the shape {lengths} has negative lengths")
    if len(lengths) != len(old):
        raise ValueError(
            f"resizing keeps the number of dimensions: {len(old)}, not {len(lengths)} for {lengths}"
        )
    new = tuple(
        before if length is None else length for length, before in zip(lengths, old, strict=True)
    )
    for dimension, (before, after) in enumerate(zip(old, new, strict=True)):
        if (only == "grow" and after < before) or (only == "shrink" and after > before):
            change = "shrink" if after < before else "grow"
            raise ValueError(
                f"{array.location}: resizing would {change} dimension {dimension} from {before} to "
                f'{after}, but only="{only}"; nothing is changed'
            )
    store = array.store
    removes = not metadata_only and any(map(lt, new, old))
    if removes and not (store.supports_listing and store.traits.supports_erasing):
        raise StoreCapabilityError(
            "an array can only shrink in a store that lists and erases keys; with "
            "metadata_only=True, its chunks are kept", store
        )  # fmt: skip
    return new


def grown(array: StoredArray, metadata: ArrayMetadata, values: Any, axis: int) -> ArrayMetadata:
    """Write elements after the end of an array; return its metadata with the new shape.

    ``metadata`` is the stored metadata: other writers may have appended elements.
    """
    shape = metadata.shape
    ndim = len(shape)
    try:
        axis = as_integer(axis)
    except TypeError:
        raise TypeError(f"axis must be an integer, not {axis!r}") from None
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of range for an array with {ndim} dimensions")
    axis %= ndim
    before, after = shape[:axis], shape[axis + 1 :]
    if values.ndim != ndim or (values.shape[:axis], values.shape[axis + 1 :]) != (before, after):
        raise ValueError(
            f"cannot append an array of shape {values.shape} to one of shape {shape} along axis {axis}"
        )
    new = (*before, shape[axis] + values.shape[axis], *after)
    changed = resized(array, metadata, new)
    parsed = parse.basic((slice(None),) * axis + (slice(shape[axis], None),), new)
    array.with_metadata(changed).write(parsed.selection, parsed.broadcast(values))
    return changed


def resized(array: StoredArray, metadata: ArrayMetadata, shape: tuple[int, ...]) -> ArrayMetadata:
    """The stored metadata of an array with another shape, which its grid and codecs support."""
    location = array.location
    with override_extensions(array.extensions):
        # The stored grid: the array may have been resized concurrently.
        if metadata.chunk_grid is array.metadata.chunk_grid and not metadata.storage_transformers:
            grid = array.resolved.grid
        else:
            grid = create_extension("chunk_grid", metadata.chunk_grid, location.at("/chunk_grid"))
        new_grid = grid.resized(_in_inner_chunks(array, shape))
        new = metadata.replace(shape=shape)
        if new_grid is not grid:
            new = new.replace(chunk_grid=new_grid.to_definition())
        # An invalid shape raises before anything is stored.
        resolved = array.with_metadata(new).resolved
    resolved.check_lengths(location)
    return new


def _in_inner_chunks(array: StoredArray, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape, rounded up to whole inner chunks, which shards that a grid adds must consist of."""
    if not isinstance(array.codecs.array_to_bytes, SubchunkCodec):
        return shape
    inner = array.codecs.inner_codecs
    if inner is not None:
        units = inner.decoded.shape
    else:  # their dimensions are permuted; shards consist of whole ones
        units = tuple(gcd(*map(axis.length, range(axis.count))) for axis in array.axes)
    return tuple(
        -(-length // unit) * unit if unit else length
        for length, unit in zip(shape, units, strict=True)
    )


def clear_beyond(array: StoredArray, new: StoredArray) -> None:
    """Remove the elements of an array that are beyond its new shape."""
    # Otherwise they would reappear when the array grows again.
    shape = new.metadata.shape
    if all(axis.size <= length for axis, length in zip(array.axes, shape, strict=True)):
        return
    box = [range(axis.count) for axis in array.axes]
    beyond, cut = [], []
    for dimension, (axis, after) in enumerate(zip(array.axes, new.axes, strict=True)):
        count = min(axis.count, after.count)
        beyond.append([*box[:dimension], range(count, axis.count), *box[dimension + 1 :]])
        box[dimension] = range(count)
    for dimension, (axis, length) in enumerate(zip(array.axes, shape, strict=True)):
        if 0 < length < axis.size:
            last = axis.chunk_of(length - 1)
            end = min(axis.start(last) + axis.length(last), axis.size)
            if end > length:
                edge = [*box[:dimension], range(last, last + 1), *box[dimension + 1 :]]
                cut.append((dimension, slice(length, end, 1), edge))
    boxes = [*beyond, *(edge for _, _, edge in cut)]
    stored = array.stored_chunks_in(boxes)

    def chunks_in(box: Sequence[range]) -> Iterable[tuple[int, ...]]:
        if stored is None:  # product would copy long ranges even if another is empty
            return product(*box) if all(box) else ()
        return (chunk for chunk in stored if all(map(range.__contains__, box, chunk)))

    store = array.chunk_store
    store.erase_values(array.chunk_key(chunk) for box in beyond for chunk in chunks_in(box))
    forget_chunks(store, array.prefix)
    for dimension, part, edge in cut:
        for chunk in chunks_in(edge):
            if stored is not None or store.exists(array.chunk_key(chunk)):
                index = [
                    slice(axis.start(at), min(axis.start(at) + axis.length(at), axis.size), 1)
                    for axis, at in zip(array.axes, chunk, strict=True)
                ]
                index[dimension] = part
                extent = BasicIndexer(tuple(index))
                array.write(extent, np.broadcast_to(array.resolved.fill_value, extent.shape))
