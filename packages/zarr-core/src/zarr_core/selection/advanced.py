"""Parsing of index arrays, masks and integers together, with NumPy's meaning.

NumPy's documentation, "Advanced indexing": index arrays and integers broadcast together
and select points.  Their axes come first in the result, or replace those of the arrays if
these are adjacent.

Functions raise :class:`SelectionError` for invalid items.  Unlike in NumPy, items are checked even
if the index selects nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import SelectionError
from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    MaskIndexer,
    OrthogonalIndexer,
)
from zarr_core.selection.parsed_selection import (
    ParsedSelection,
    as_integer,
    canonical,
    expanded,
    in_bounds,
    is_integer,
    slice_bounds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.selection import AnySelection, Indices, Selection

_LARGEST = int(np.iinfo(np.intp).max)
_SPARSE = 8  # bytes of a coordinate per byte of a mask
_INSTEAD = "use oindex for the outer product of arrays, or vindex for points"


@dataclass(slots=True)
class _Parsed:
    """What the items of an index select."""

    parts: list[slice | Indices] = field(default_factory=list)
    """A slice for each dimension, or indices of any shape that broadcast with the others."""
    lengths: list[int] = field(default_factory=list)
    """Lengths of the axes of slices and of ``None``, in the order of the items."""
    axes: list[int | None] = field(default_factory=list)
    """The place of each dimension in ``lengths``; None if its indices broadcast."""
    flipped: list[int] = field(default_factory=list)
    """Dimensions whose slice has a negative step."""
    scalars: list[tuple[int, ...]] = field(default_factory=list)
    """Shapes that booleans without dimensions contribute."""
    before: int | None = None
    """Length of ``lengths`` at the first item that broadcasts."""


def single(items: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """The converted items of an index with one array and no integers.

    None if the array is a boolean without dimensions, or a mask of several.
    """
    given = tuple([_converted(item, shape) for item in items])
    return given if all(_dimensions(item) == 1 for item in given if _broadcasts(item)) else None


def advanced(items: tuple[Any, ...], shape: tuple[int, ...]) -> ParsedSelection:
    """Parse an index with arrays of integers, masks of any dimensions, or booleans.

    Raises
    ------
    SelectionError
        If an item is out of bounds or not an index, a mask has another shape than its
        dimensions, arrays do not broadcast together, or there are too many points.
    """
    given = [_converted(item, shape) for item in items]
    sizes = [_dimensions(item) for item in given]
    parsed = _Parsed()
    for item in expanded(tuple(given), shape, sizes):
        _parse(item, parsed, shape)
    arrays = [part for part in parsed.parts if not isinstance(part, slice) and part.ndim]
    try:
        together = np.broadcast_shapes(*(part.shape for part in arrays), *parsed.scalars)
    except ValueError:
        shapes = ", ".join(str(part.shape) for part in arrays)
        raise SelectionError(
            f"index arrays of shapes {shapes} do not broadcast to one shape; {_INSTEAD}", shape
        ) from None
    assert parsed.before is not None  # there is an array or a boolean
    place = parsed.before if _are_adjacent(given) else 0
    if len(arrays) == 1 and not parsed.scalars:
        return _along_one_dimension(parsed, arrays[0], place)
    return _points(parsed, together, place, shape)


def _parse(item: Any, parsed: _Parsed, shape: tuple[int, ...]) -> None:
    dimension = len(parsed.parts)
    if item is None:
        parsed.lengths.append(1)
        return
    if isinstance(item, slice):
        start, stop, step = slice_bounds(item, shape[dimension], shape)
        count = len(range(start, stop, step))
        if step < 0:
            start, step = start + (count - 1) * step, -step
            parsed.flipped.append(dimension)
        parsed.axes.append(len(parsed.lengths))
        parsed.parts.append(canonical(start, count, step))
        parsed.lengths.append(count)
        return
    if parsed.before is None:
        parsed.before = len(parsed.lengths)
    if isinstance(item, int) and not isinstance(item, bool):
        found = [np.asarray(in_bounds(item, dimension, shape))]
    elif isinstance(item, bool):
        parsed.scalars.append((int(item),))
        return
    elif item.dtype.kind == "b":
        end = dimension + item.ndim
        if item.shape != shape[dimension:end]:
            raise SelectionError(
                f"a mask of shape {item.shape} does not fit dimensions of lengths "
                f"{shape[dimension:end]} from dimension {dimension}; {_INSTEAD}",
                shape,
            )
        found = [np.ascontiguousarray(axis) for axis in np.nonzero(item)]
    else:
        found = [within(item, dimension, shape)]
    parsed.parts.extend(found)
    parsed.axes.extend([None] * len(found))


def _along_one_dimension(parsed: _Parsed, array: Indices, place: int) -> ParsedSelection:
    """Indices along one dimension: an outer product, perhaps with its axes in another order."""
    flat = array.reshape(-1)
    own = next(number for number, part in enumerate(parsed.parts) if part is array)
    parts: list[slice | Indices] = []
    for part in parsed.parts:
        if isinstance(part, slice):
            parts.append(part)
        elif part is array:
            parts.append(progression(flat) or flat)
        else:
            parts.append(slice(int(part), int(part) + 1, 1))
    # Where the axes of the array are in the order of the dimensions.
    first = max((axis + 1 for axis in parsed.axes[:own] if axis is not None), default=0)
    lengths = parsed.lengths
    result = (*lengths[:place], *array.shape, *lengths[place:])
    axes: tuple[int, ...] = ()
    if any(length != 1 for length in lengths[min(first, place) : max(first, place)]):
        others = [axis for axis in range(len(result)) if not place <= axis < place + array.ndim]
        moved = range(place, place + array.ndim)
        axes = (*others[:first], *moved, *others[first:])
    return ParsedSelection(
        OrthogonalIndexer(tuple(parts)), result, tuple(parsed.flipped), axes=axes
    )


def _points(
    parsed: _Parsed, together: tuple[int, ...], place: int, shape: tuple[int, ...]
) -> ParsedSelection:
    """Indices along several dimensions: the selection as points, even along its slices."""
    result = (*parsed.lengths[:place], *together, *parsed.lengths[place:])
    size = prod(result)
    if not parsed.parts and not size:
        return ParsedSelection(MaskIndexer(np.zeros((), bool)), result)
    if not parsed.parts and size != 1:
        raise SelectionError(
            "no element of an array without dimensions is selected; read it with array[()], "
            f"and with dimensions {_INSTEAD}",
            shape,
        )
    coordinates = []
    try:
        for dimension, (part, axis) in enumerate(zip(parsed.parts, parsed.axes, strict=True)):
            if isinstance(part, slice):
                assert axis is not None  # each slice has an axis
                steps = np.arange(parsed.lengths[axis], dtype=np.intp) * part.step + part.start
                if dimension in parsed.flipped:
                    steps = steps[::-1]
                after = len(parsed.lengths) - axis - 1 + (len(together) if axis < place else 0)
                aligned = steps.reshape((-1,) + (1,) * after)
            else:
                aligned = part.reshape(part.shape + (1,) * (len(parsed.lengths) - place))
            coordinates.append(
                np.ascontiguousarray(np.broadcast_to(aligned, result), np.intp).reshape(-1)
            )
    except (MemoryError, OverflowError, ValueError) as error:
        raise SelectionError(
            f"the coordinates of {size} points do not fit into memory; {_INSTEAD}", shape
        ) from error
    points = tuple(coordinates)
    return ParsedSelection(points_selection(points), result)


def _converted(item: Any, shape: tuple[int, ...]) -> Any:
    """An item as None, ``...``, slice, int, bool, or array of integers or booleans."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if is_integer(item):
        return as_integer(item)
    return bool(item) if _is_boolean(item) else as_array(item, shape)


def _broadcasts(item: Any) -> bool:
    """Whether an item is an array, an integer or a boolean."""
    return not (item is None or item is Ellipsis or isinstance(item, slice))


def _is_boolean(item: Any) -> bool:
    """Whether an item is a boolean without dimensions."""
    return isinstance(item, bool | np.bool_) or (
        isinstance(item, np.ndarray) and not item.ndim and item.dtype.kind == "b"
    )


def _dimensions(item: Any) -> int:
    """The number of dimensions of the array that an item selects from."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" else 1


def _are_adjacent(items: Sequence[Any]) -> bool:
    """Whether the items that broadcast are adjacent."""
    places = [place for place, item in enumerate(items) if _broadcasts(item)]
    return places[-1] - places[0] == len(places) - 1


# --- index arrays ---


def as_array(item: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return an array-like item of an index as an array of integers or booleans.

    Raises SelectionError for anything else, and for arrays without dimensions.
    """
    try:
        array = np.asarray(item)
    except (ValueError, TypeError) as error:
        raise SelectionError(f"{_brief(item)} is not an index: {error}", shape) from error
    if array.size == 0 and not hasattr(item, "dtype"):
        array = array.astype(np.intp)  # NumPy converts an empty list to float64
    if array.ndim and array.dtype.kind in "iub":
        return array
    raise SelectionError(
        f"{_brief(item)} ({type(item).__name__}) is not an index; "
        "use integers, slices, ..., None, or arrays of integers or booleans",
        shape,
    )


def _brief(item: Any) -> str:
    text = repr(item)
    return text if len(text) <= 60 else f"{text[:57]}..."


def within(array: np.ndarray[Any, Any], dimension: int, shape: tuple[int, ...]) -> Indices:
    """Return integers or a mask as contiguous indices from 0 to the length of a dimension.

    Integers have any shape; negative ones count from the end.  A mask is as long as the dimension
    and gives the positions that are true.
    """
    size = shape[dimension]
    if array.dtype.kind == "b":
        if array.shape != (size,):
            raise SelectionError(
                f"a mask of shape {array.shape} does not fit dimension {dimension} "
                f"of length {size}",
                shape,
            )
        return np.flatnonzero(array)
    if array.size == 0:
        return np.zeros(array.shape, np.intp)
    # Before the cast to intp: it would turn large unsigned numbers into negative ones.
    low, high = int(array.min()), int(array.max())
    if low < -size or high >= size:
        wrong = low if low < -size else high
        raise SelectionError(
            f"index {wrong} is out of bounds for dimension {dimension} of length {size}", shape
        )
    indices = np.ascontiguousarray(array, np.intp)
    if low < 0:
        if size > _LARGEST:
            raise SelectionError(
                f"negative indices in an array cannot count from the end of dimension "
                f"{dimension} of length {size}; use an integer or slice",
                shape,
            )
        indices = np.where(indices < 0, indices + size, indices)
    return indices


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
    if not (indices[1:] - indices[:-1] == step).all():
        return None
    return slice(first, last + 1, step)


def broadcast_points(
    arrays: Sequence[np.ndarray[Any, Any]], shape: tuple[int, ...]
) -> tuple[tuple[Indices, ...], tuple[int, ...]]:
    """Return the flat coordinates of points, and the shape to which they broadcast."""
    if any(array.dtype.kind == "b" for array in arrays):
        raise SelectionError(
            "coordinates must be integers; a mask has the shape of the whole array and stands alone",
            shape,
        )
    checked = [within(array, dimension, shape) for dimension, array in enumerate(arrays)]
    try:
        together = np.broadcast_arrays(*checked)
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise SelectionError(
            f"coordinate arrays of shapes {shapes} do not broadcast to one shape", shape
        ) from None
    flat = tuple(np.ascontiguousarray(array.reshape(-1)) for array in together)
    return flat, together[0].shape


def mask_selection(mask: np.ndarray[Any, Any], shape: tuple[int, ...]) -> AnySelection:
    """The selection of the elements where a mask is true, in C order.

    A BasicIndexer if they are all elements of a box; the indexer of their coordinates if those take
    less memory than the mask; otherwise a MaskIndexer.
    """
    if mask.dtype.kind != "b":
        raise SelectionError(f"a mask holds booleans, not {mask.dtype}", shape)
    if mask.shape != shape:
        raise SelectionError(f"a mask of shape {mask.shape} does not fit", shape)
    count = np.count_nonzero(mask)
    if count * mask.ndim * _SPARSE <= mask.size:
        points = tuple(np.ascontiguousarray(indices) for indices in np.nonzero(mask))
        return points_selection(points)
    box: list[slice] = []
    inside = mask
    for axis in range(mask.ndim):
        others = tuple(other for other in range(mask.ndim) if other != axis)
        some = np.flatnonzero(inside.any(axis=others))
        box.append(slice(int(some[0]), int(some[-1]) + 1, 1))
        inside = mask[tuple(box)]
    return BasicIndexer(tuple(box)) if count == inside.size else MaskIndexer(mask)


def points_selection(points: tuple[Indices, ...]) -> Selection:
    """Return the selection of points.

    An OrthogonalIndexer selects the same along a single dimension, and detects runs.
    """
    return OrthogonalIndexer(points) if len(points) == 1 else CoordinateIndexer(points)
