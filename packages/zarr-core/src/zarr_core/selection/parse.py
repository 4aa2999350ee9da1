"""Parsing of what a user writes in brackets to a normalised selection.

Functions raise :class:`SelectionError` for what is not an index, is out of bounds or has too many
items; for masks of another shape; and for arrays that do not broadcast together.

Integers and slices are parsed without NumPy.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.errors import SelectionError
from zarr_core.interfaces.selection import BasicIndexer, OrthogonalIndexer
from zarr_core.selection.parsed_selection import (
    ParsedSelection,
    as_integer,
    canonical,
    expanded,
    in_bounds,
    is_integer,
    items_of,
    slice_bounds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.selection import Indices

__all__ = ["ParsedSelection", "basic", "block", "coordinate", "fancy", "mask", "orthogonal"]


def basic(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse integers, slices with any step, ``...`` and ``None``, with NumPy's meaning."""
    return _quick(index, shape) or _itemwise(index, shape, arrays=False)


def orthogonal(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse an index in which every dimension is selected independently ("oindex").

    In addition to what :func:`basic` accepts: arrays, lists or ranges of integers in any order,
    perhaps repeated, and one-dimensional masks.  The result is the outer product; the axes of an
    array of several dimensions replace the dimension that it selects from.
    """
    return _quick(index, shape) or _itemwise(index, shape, arrays=True)


def coordinate(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse the coordinates of single points ("vindex").

    One array of integers per dimension; they broadcast together, and the result has their shape.
    A single boolean array is parsed by :func:`mask`.
    """
    from zarr_core.selection import advanced  # imports NumPy

    items = [item for item in items_of(index) if item is not Ellipsis]
    if all(is_integer(item) for item in items) and len(items) == len(shape):
        return basic(tuple(items), shape)
    plain = not any(isinstance(item, slice) or item is None for item in items)
    if (
        plain and len(items) == 1
        and (array := advanced.as_array(items[0], shape)).dtype.kind == "b"
    ):  # fmt: skip
        return mask(array, shape)
    if len(items) != len(shape) or not plain:
        raise SelectionError(
            f"coordinates need one array of integers for each of {len(shape)} dimensions; "
            "for slices beside arrays use orthogonal indexing",
            shape,
        )
    arrays = [
        advanced.as_array([as_integer(item)] if is_integer(item) else item, shape) for item in items
    ]
    points, together = advanced.broadcast_points(arrays, shape)
    return ParsedSelection(advanced.points_selection(points), together)


def mask(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse a boolean array of the shape of the whole array; the result is flat, in C order."""
    from zarr_core.selection import advanced  # imports NumPy

    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    selection = advanced.mask_selection(advanced.as_array(index, shape), shape)
    return ParsedSelection(selection, (prod(selection.shape),))


def block(index: Any, axes: Sequence[ChunkAxis]) -> ParsedSelection:
    """Parse integers, slices of step 1 and ``...`` that count chunks; an integer keeps its axis."""
    counts = tuple(axis.count for axis in axes)
    try:
        return _block(index, axes, counts)
    except SelectionError as error:  # error.shape would be the shape of the grid
        raise SelectionError(f"{error.reason} (grid of chunks {counts})") from None


def _block(index: Any, axes: Sequence[ChunkAxis], counts: tuple[int, ...]) -> ParsedSelection:
    parts = []
    for dimension, (item, axis) in enumerate(zip(expanded(index, counts), axes, strict=True)):
        if isinstance(item, slice):
            first, stop, step = slice_bounds(item, axis.count, counts)
            if step != 1:
                raise SelectionError(f"slices of chunks have step 1, not {step}", counts)
        elif is_integer(item):
            first = in_bounds(as_integer(item), dimension, counts, "chunk grid dimension")
            stop = first + 1
        else:
            raise SelectionError(
                f"{type(item).__name__} does not select chunks; use integers and slices", counts
            )
        if first < stop:
            end = axis.start(stop - 1) + axis.length(stop - 1)
            parts.append(slice(axis.start(first), min(end, axis.size), 1))
        else:
            parts.append(slice(0, 0, 1))
    selection = BasicIndexer(tuple(parts))
    return ParsedSelection(selection, selection.shape)


def fancy(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse any index in ``array[...]``, with NumPy's meaning."""
    parsed = _quick(index, shape)
    if parsed is not None:
        return parsed
    items = items_of(index)
    integers = arrays = 0
    for item in items:
        if not (item is None or item is Ellipsis or type(item) is slice):
            if is_integer(item):
                integers += 1
            else:
                arrays += 1
    if not arrays:
        return _itemwise(index, shape, arrays=False)
    from zarr_core.selection import advanced  # imports NumPy

    if len(items) == arrays == 1 and _is_whole_mask(items[0], shape):
        return mask(items[0], shape)
    if arrays == 1 and not integers:
        given = advanced.single(items, shape)
        if given is not None:
            return _itemwise(given, shape, arrays=True)
    return advanced.advanced(items, shape)


def _is_whole_mask(item: Any, shape: tuple[int, ...]) -> bool:
    is_boolean = getattr(getattr(item, "dtype", None), "kind", "") == "b"
    return bool(shape) and is_boolean and getattr(item, "shape", None) == shape


def _quick(index: Any, shape: tuple[int, ...]) -> ParsedSelection | None:
    """Parse plain integers and slices without a step; return None for anything else."""
    if type(index) is not tuple:
        index = (index,)
    if len(index) > len(shape):
        return None
    parts = []
    lengths = []
    for item, size in zip(index, shape, strict=False):
        if type(item) is int:
            if item < 0:
                item += size
            if not 0 <= item < size:
                return None  # _itemwise raises the error
            parts.append(slice(item, item + 1, 1))
        elif type(item) is slice and item.step is None:
            try:
                start, stop, _ = item.indices(size)
            except TypeError:
                return None
            if stop < start:
                stop = start
            parts.append(slice(start, stop, 1))
            lengths.append(stop - start)
        else:
            return None
    for size in shape[len(parts) :]:
        parts.append(slice(0, size, 1))
        lengths.append(size)
    return ParsedSelection(
        BasicIndexer(tuple(parts)), tuple(lengths), (), not lengths, len(lengths) == len(parts)
    )


def _itemwise(index: Any, shape: tuple[int, ...], *, arrays: bool) -> ParsedSelection:
    """Parse an index whose items do not depend on each other."""
    items = expanded(index, shape)
    parts: list[Any] = []
    result: list[int] = []
    flipped = []
    for item in items:
        dimension = len(parts)
        if item is None:
            result.append(1)
        elif isinstance(item, slice):
            start, stop, step = slice_bounds(item, shape[dimension], shape)
            count = len(range(start, stop, step))
            if step < 0:
                start, step = start + (count - 1) * step, -step
                flipped.append(dimension)
            parts.append(canonical(start, count, step))
            result.append(count)
        elif is_integer(item):
            number = in_bounds(as_integer(item), dimension, shape)
            parts.append(slice(number, number + 1, 1))
        elif not arrays:
            raise SelectionError(
                f"{type(item).__name__} is not supported in a basic index; "
                "use integers, slices, ... and None, or oindex or vindex for arrays",
                shape,
            )
        else:
            part, lengths = _array_item(item, dimension, shape)
            parts.append(part)
            result.extend(lengths)
    only_slices = all(isinstance(part, slice) for part in parts)
    selection = BasicIndexer(tuple(parts)) if only_slices else OrthogonalIndexer(tuple(parts))
    # As in NumPy, the result with an ellipsis is an array even without dimensions.
    scalar = not result and not any(item is Ellipsis for item in items_of(index))
    return ParsedSelection(selection, tuple(result), tuple(flipped), scalar)


def _array_item(
    item: Any, dimension: int, shape: tuple[int, ...]
) -> tuple[slice | Indices, tuple[int, ...]]:
    from zarr_core.selection import advanced  # imports NumPy

    numbers = advanced.within(advanced.as_array(item, shape), dimension, shape)
    flat = numbers.reshape(-1)
    return advanced.progression(flat) or flat, numbers.shape
