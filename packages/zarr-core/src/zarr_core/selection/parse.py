"""Parsing of what a user writes in brackets to a normalised selection.

Functions raise :class:`SelectionError` for what is not an index, is out of bounds or has too many
items; for masks of another shape; and for arrays that do not broadcast together.

The items of an index are independent of each other (:func:`_parse_items`), except in NumPy's
"advanced indexing": index arrays and integers broadcast together and select points
(:func:`_broadcast`).  Unlike in NumPy, items are checked even if the index selects nothing.
"""

from __future__ import annotations

from math import prod
from operator import index as index_of
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zarr_core.errors import SelectionError
from zarr_core.interfaces.selection import (
    BasicIndexer,
    CoordinateIndexer,
    MaskIndexer,
    OrthogonalIndexer,
)
from zarr_core.messages import quoted
from zarr_core.selection.array_projection import progression
from zarr_core.selection.projection import outer_product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.selection import AnySelection, Indices, Selection

    Array = np.ndarray[Any, Any]

_LARGEST = int(np.iinfo(np.intp).max)
_SPARSE = 8  # bytes of a coordinate per byte of a mask
_INSTEAD = "use oindex for the outer product of arrays, or vindex for points"


class ParsedSelection(NamedTuple):
    """A selection as the engine reads it, and the layout of the result.

    Parameters
    ----------
    selection : BasicIndexer, OrthogonalIndexer, CoordinateIndexer or MaskIndexer
        The selected elements.  ``selection.shape`` is the *engine's shape*: one axis per
        dimension, or one axis of coordinates.
    shape : tuple of int
        The *user's shape*, of the same size: axes of integers dropped, axes of ``None`` added,
        points in the shape of their coordinate arrays.
    reversed_axes : tuple of int
        Axes of the engine's shape that the user sees reversed.
    scalar : bool
        Whether the result is one element rather than an array (``z[1, 2]``, ``z[()]``).
    is_identity : bool
        Whether the user's shape and directions are known to be the engine's.
    transpose : tuple of int
        The axes of the user's shape in the engine's order, if that differs:
        an argument for :func:`numpy.transpose`.
    """

    selection: AnySelection
    shape: tuple[int, ...]
    reversed_axes: tuple[int, ...] = ()
    scalar: bool = False
    is_identity: bool = False
    transpose: tuple[int, ...] = ()

    @property
    def allows_fortran(self) -> bool:
        """Whether :meth:`view` accepts an array in any memory order.

        It does if the shapes differ only in the order of axes and in axes of length one.
        """
        if self.is_identity:
            return True
        shape = [self.shape[axis] for axis in self.transpose] if self.transpose else self.shape
        return [size for size in shape if size != 1] == [
            size for size in self.selection.shape if size != 1
        ]

    def can_view(self, array: np.ndarray[Any, Any]) -> bool:
        """Whether :meth:`view` returns a view of an array with the user's shape, and no error."""
        return array.flags.c_contiguous or (
            self.shape == self.selection.shape and not self.transpose
        )

    def view(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return a view, with the engine's shape, of an array with the user's shape.

        Raises a SelectionError if only a copy could have the engine's shape, as for an array that is
        not contiguous where points or indices have several dimensions.
        """
        if array.shape != self.shape:
            raise SelectionError(
                f"the array for the result has shape {array.shape}, the selection {self.shape}"
            )
        if self.is_identity:
            return array
        view = self._to_engine(array)
        # A copy is new memory, so it is enough to compare the bounds.
        if view.size and view.base is not array and not np.may_share_memory(view, array):
            raise SelectionError(
                f"an array of strides {array.strides} cannot receive this selection; "
                "give a contiguous one"
            )
        return view

    def broadcast(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Broadcast a value as NumPy does in assignments, and return it with the engine's shape.

        Surplus leading axes of length one are dropped.  The result may be a read-only view.
        """
        shape = value.shape
        if self.is_identity and shape == self.shape:
            return value
        if shape != self.shape:
            if not shape:  # the same everywhere: order does not matter
                return np.broadcast_to(
                    value, self.shape if self.is_identity else self.selection.shape
                )
            surplus = len(shape) - len(self.shape)
            if surplus > 0 and shape[:surplus] == (1,) * surplus:
                value = value.reshape(shape[surplus:])
            try:
                value = np.broadcast_to(value, self.shape)
            except ValueError:
                raise SelectionError(
                    f"a value of shape {shape} does not fit the selection of shape {self.shape}"
                ) from None
        return self._to_engine(value)

    def _to_engine(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return an array of the user's shape with the engine's shape, as a view if possible."""
        if self.transpose:
            array = array.transpose(self.transpose)
        if array.shape != self.selection.shape:
            array = array.reshape(self.selection.shape)
        if not self.reversed_axes:
            return array
        steps = [-1 if axis in self.reversed_axes else 1 for axis in range(array.ndim)]
        return array[tuple(slice(None, None, step) for step in steps)]


# --- the kinds of indexing ---


def basic(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse integers, slices with any step, ``...`` and ``None``, with NumPy's meaning."""
    return _parse_basic(index, shape) or _parse_items(index, shape, arrays=False)


def orthogonal(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse an index in which every dimension is selected independently ("oindex").

    In addition to what :func:`basic` accepts: arrays, lists or ranges of integers in any order,
    perhaps repeated, and one-dimensional masks.  The result is the outer product; the axes of an
    array of several dimensions replace the dimension that it selects from.
    """
    return _parse_basic(index, shape) or _parse_items(index, shape, arrays=True)


def coordinate(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse the coordinates of single points ("vindex").

    One array of integers per dimension; they broadcast together, and the result has their shape.
    A single boolean array is parsed by :func:`mask`.
    """
    items = [item for item in _items_of(index) if item is not Ellipsis]
    if all(is_integer(item) for item in items) and len(items) == len(shape):
        return basic(tuple(items), shape)
    plain = not any(isinstance(item, slice) or item is None for item in items)
    if plain and len(items) == 1 and (array := _as_array(items[0], shape)).dtype.kind == "b":
        return mask(array, shape)
    if len(items) != len(shape) or not plain:
        raise SelectionError(
            f"coordinates need one array of integers for each of {len(shape)} dimensions; "
            "for slices beside arrays use orthogonal indexing",
            shape,
        )
    arrays = [_converted(item, shape) for item in items]
    if any(map(_is_mask, arrays)):
        raise SelectionError(
            "coordinates must be integers; a mask has the shape of the whole array and stands alone",
            shape,
        )
    return _broadcast(arrays, shape)


def mask(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse a boolean array of the shape of the whole array; the result is flat, in C order.

    The selection is a BasicIndexer if all elements of a box are selected; the indexer of their
    coordinates if those take less memory than the mask; otherwise a MaskIndexer.
    """
    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    array = _as_array(index, shape)
    if array.dtype.kind != "b":
        raise SelectionError(f"a mask holds booleans, not {array.dtype}", shape)
    if array.shape != shape:
        raise SelectionError(f"a mask of shape {array.shape} does not fit", shape)
    count = int(np.count_nonzero(array))
    if count * array.ndim * _SPARSE <= array.size:
        points = tuple(np.ascontiguousarray(indices) for indices in np.nonzero(array))
        return ParsedSelection(_points_selection(points), (count,))
    box: list[slice] = []
    inside = array
    for axis in range(array.ndim):
        others = tuple(other for other in range(array.ndim) if other != axis)
        some = np.flatnonzero(inside.any(axis=others))
        box.append(slice(int(some[0]), int(some[-1]) + 1, 1))
        inside = array[tuple(box)]
    selection = BasicIndexer(tuple(box)) if count == inside.size else MaskIndexer(array)
    return ParsedSelection(selection, (count,))


def block(index: Any, axes: Sequence[ChunkAxis]) -> ParsedSelection:
    """Parse integers, slices of step 1 and ``...`` that count chunks; an integer keeps its axis."""
    counts = tuple(axis.count for axis in axes)
    try:
        for item in _items_of(index):
            if not (item is ... or is_integer(item) or isinstance(item, slice)):
                raise SelectionError(
                    f"{type(item).__name__} does not select chunks; use integers and slices"
                )
            if isinstance(item, slice) and item.step not in (None, 1):
                raise SelectionError(f"{item!r} does not select chunks; slices have step 1")
        chunks: Any = basic(index, counts).selection  # a BasicIndexer
    except SelectionError as error:  # error.shape would be the shape of the grid
        raise SelectionError(f"{error.reason} (grid of chunks {counts})") from None
    parts = []
    for item, axis in zip(chunks.index, axes, strict=True):
        start = stop = 0
        if item.start < item.stop:
            last = item.stop - 1
            start = axis.start(item.start)
            stop = min(axis.start(last) + axis.length(last), axis.size)
        parts.append(slice(start, stop, 1))
    selection = BasicIndexer(tuple(parts))
    return ParsedSelection(selection, selection.shape)


def fancy(index: Any, shape: tuple[int, ...]) -> ParsedSelection:
    """Parse any index in ``array[...]``, with NumPy's meaning."""
    parsed = _parse_basic(index, shape)
    if parsed is not None:
        return parsed
    items = _items_of(index)
    arrays = [item for item in items if _broadcasts(item) and not is_integer(item)]
    if not arrays:
        return _parse_items(index, shape, arrays=False)
    kind = getattr(getattr(items[0], "dtype", None), "kind", "")
    if len(items) == 1 and shape and kind == "b" and getattr(items[0], "shape", None) == shape:
        return mask(items[0], shape)
    return _broadcast(items, shape)


# --- items that are independent of each other ---


def _parse_basic(index: Any, shape: tuple[int, ...]) -> ParsedSelection | None:
    """Parse plain integers and slices in ascending order; return None for anything else."""
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
                return None  # _parse_items raises the error
            parts.append(slice(item, item + 1, 1))
        elif type(item) is slice:
            try:
                start, stop, step = item.indices(size)
            except (TypeError, ValueError):
                return None
            if step < 0:
                return None
            count = len(range(start, stop, step))
            stop = start + (count - 1) * step + 1 if count else start  # after the last element
            parts.append(slice(start, stop, step if count > 1 else 1))
            lengths.append(count)
        else:
            return None
    for size in shape[len(parts) :]:
        parts.append(slice(0, size, 1))
        lengths.append(size)
    return ParsedSelection(
        BasicIndexer(tuple(parts)), tuple(lengths), (), not lengths, len(lengths) == len(parts)
    )


def _parse_items(index: Any, shape: tuple[int, ...], *, arrays: bool) -> ParsedSelection:
    """Parse an index whose items do not depend on each other."""
    parts: list[Any] = []
    result_shape: list[int] = []
    reversed_axes = []
    is_identity = True
    for item in _expanded(index, shape):
        dimension = len(parts)
        if item is None:
            result_shape.append(1)
            is_identity = False
        elif isinstance(item, slice):
            part, count, is_reversed = _parse_slice(item, dimension, shape)
            reversed_axes += [dimension] * is_reversed
            parts.append(part)
            result_shape.append(count)
        elif is_integer(item):
            number = _in_bounds(as_integer(item), dimension, shape)
            parts.append(slice(number, number + 1, 1))
            is_identity = False
        elif not arrays:
            raise SelectionError(
                f"{type(item).__name__} is not supported in a basic index; "
                "use integers, slices, ... and None, or oindex or vindex for arrays",
                shape,
            )
        else:
            [numbers] = _indices(_as_array(item, shape), dimension, shape, ndim=1)
            flat = numbers.reshape(-1)
            parts.append(progression(flat) or flat)
            result_shape.extend(numbers.shape)
            is_identity = is_identity and numbers.ndim == 1
    # As in NumPy, the result with an ellipsis is an array even without dimensions.
    scalar = not result_shape and not any(item is Ellipsis for item in _items_of(index))
    is_identity = is_identity and not reversed_axes
    return ParsedSelection(
        outer_product(tuple(parts)), tuple(result_shape), tuple(reversed_axes), scalar, is_identity
    )


# --- items that broadcast together ---


def _broadcast(items: Sequence[Any], shape: tuple[int, ...]) -> ParsedSelection:
    """Parse an index with arrays of integers, or masks of one or more dimensions.

    NumPy's documentation, "Advanced indexing": the axes of the arrays come first in the result, or
    replace those of the arrays if these are adjacent.
    """
    converted = [_converted(item, shape) for item in items]
    # A slice for each dimension, or indices of any shape that broadcast with the others.
    parts: list[Any] = []
    # The lengths of slices and ``None`` in the result, and for each dimension its axis there.
    lengths: list[int] = []
    axes: list[int | None] = []
    reversed_axes: list[int] = []
    before: int | None = None  # axes before the first item that broadcasts
    for item in _expanded(tuple(converted), shape, [_dimensions(item) for item in converted]):
        dimension = len(parts)
        if item is None:
            lengths.append(1)
        elif isinstance(item, slice):
            part, count, is_reversed = _parse_slice(item, dimension, shape)
            reversed_axes += [dimension] * is_reversed
            parts.append(part)
            axes.append(len(lengths))
            lengths.append(count)
        else:
            before = len(lengths) if before is None else before
            indices = _indices(item, dimension, shape)
            parts += indices
            axes += [None] * len(indices)
    arrays = [part for part in parts if not isinstance(part, slice) and part.ndim]
    try:
        together = np.broadcast_shapes(*(part.shape for part in arrays))
    except ValueError:
        shapes = ", ".join(str(part.shape) for part in arrays)
        raise SelectionError(
            f"index arrays of shapes {shapes} do not broadcast to one shape; {_INSTEAD}", shape
        ) from None
    numbers = [number for number, item in enumerate(converted) if _broadcasts(item)]
    are_adjacent = numbers[-1] - numbers[0] == len(numbers) - 1
    first = before if before is not None and are_adjacent else 0
    result_shape = (*lengths[:first], *together, *lengths[first:])
    if len(arrays) == 1:
        return _along_one_dimension(
            parts, axes, arrays[0], first, result_shape, tuple(reversed_axes)
        )
    return _points(parts, axes, reversed_axes, len(together), first, result_shape, shape)


def _along_one_dimension(
    parts: Sequence[Any],
    axes: Sequence[int | None],
    array: Indices,
    first: int,
    result_shape: tuple[int, ...],
    reversed_axes: tuple[int, ...],
) -> ParsedSelection:
    """Indices along one dimension: an outer product, perhaps with its axes in another order."""
    flat = array.reshape(-1)
    own = next(number for number, part in enumerate(parts) if part is array)
    index: list[Any] = [
        part if isinstance(part, slice) else slice(int(part), int(part) + 1, 1)
        for part in (*parts[:own], *parts[own + 1 :])
    ]
    run = progression(flat)
    index.insert(own, flat if run is None else run)
    # Where the axes of the array are in the order of the dimensions.
    ordered = max((axis + 1 for axis in axes[:own] if axis is not None), default=0)
    others = [axis for axis in range(len(result_shape)) if not first <= axis < first + array.ndim]
    order: tuple[int, ...] = ()
    moved = others[min(ordered, first) : max(ordered, first)]
    if any(result_shape[axis] != 1 for axis in moved):
        order = (*others[:ordered], *range(first, first + array.ndim), *others[ordered:])
    return ParsedSelection(
        outer_product(tuple(index)), result_shape, reversed_axes, transpose=order
    )


def _points(
    parts: Sequence[Any],
    axes: Sequence[int | None],
    reversed_axes: Sequence[int],
    ndim: int,
    first: int,
    result_shape: tuple[int, ...],
    shape: tuple[int, ...],
) -> ParsedSelection:
    """Indices along several dimensions: the selection as points, even along its slices."""
    coordinates = []
    try:
        for dimension, (part, axis) in enumerate(zip(parts, axes, strict=True)):
            if axis is None:
                last = first + ndim
            else:
                last = axis + (1 if axis < first else ndim + 1)
                part = np.arange(part.start, part.stop, part.step, dtype=np.intp)
                part = part[::-1] if dimension in reversed_axes else part
            aligned = part.reshape(part.shape + (1,) * (len(result_shape) - last))
            coordinates.append(
                np.ascontiguousarray(np.broadcast_to(aligned, result_shape), np.intp).reshape(-1)
            )
    except (MemoryError, OverflowError, ValueError) as error:
        raise SelectionError(
            f"the coordinates of {prod(result_shape)} points do not fit into memory; {_INSTEAD}",
            shape,
        ) from error
    return ParsedSelection(_points_selection(tuple(coordinates)), result_shape)


def _converted(item: Any, shape: tuple[int, ...]) -> Any:
    """An item as None, ``...``, slice, int, or array of integers or booleans."""
    if not _broadcasts(item):
        return item
    if is_integer(item):
        return as_integer(item)
    return _as_array(item, shape)


def _broadcasts(item: Any) -> bool:
    """Whether an item is an array or an integer."""
    return not (item is None or item is Ellipsis or isinstance(item, slice))


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype.kind == "b"


def _dimensions(item: Any) -> int:
    """The number of dimensions of the array that a converted item selects from."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if _is_mask(item) else 1


def _indices(
    item: Any, dimension: int, shape: tuple[int, ...], ndim: int | None = None
) -> list[Indices]:
    """The indices that an integer or array selects in each of its dimensions, or in ``ndim``."""
    if isinstance(item, int):
        return [np.asarray(_in_bounds(item, dimension, shape))]
    if item.dtype.kind != "b":
        return [_within(item, dimension, shape)]
    lengths = shape[dimension : dimension + (ndim or item.ndim)]
    if item.shape != lengths:
        raise SelectionError(
            f"a mask of shape {item.shape} does not fit dimensions of lengths "
            f"{lengths} from dimension {dimension}{'' if ndim else f'; {_INSTEAD}'}",
            shape,
        )
    return [np.ascontiguousarray(axis) for axis in np.nonzero(item)]


# --- index arrays ---


def _as_array(item: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return an array-like item as integers or booleans with dimensions, or raise SelectionError."""
    try:
        array = np.asarray(item)
    except (ValueError, TypeError) as error:
        raise SelectionError(f"{quoted(item, 60)} is not an index: {error}", shape) from error
    if array.size == 0 and not hasattr(item, "dtype"):
        array = array.astype(np.intp)  # NumPy converts an empty list to float64
    if array.ndim and array.dtype.kind in "iub":
        return array
    raise SelectionError(
        f"{quoted(item, 60)} ({type(item).__name__}) is not an index; "
        "use integers, slices, ..., None, or arrays of integers or booleans",
        shape,
    )


def _within(array: np.ndarray[Any, Any], dimension: int, shape: tuple[int, ...]) -> Indices:
    """Return integers of any shape and sign as indices from 0."""
    size = shape[dimension]
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


def _points_selection(points: tuple[Indices, ...]) -> Selection:
    """Return the selection of points; an OrthogonalIndexer detects runs along one dimension."""
    return OrthogonalIndexer(points) if len(points) == 1 else CoordinateIndexer(points)


# --- slices and integers ---


def _items_of(index: Any) -> tuple[Any, ...]:
    """The items of an index, which is one item or a tuple."""
    return index if isinstance(index, tuple) else (index,)


def _expanded(
    index: Any, shape: tuple[int, ...], sizes: Sequence[int] | None = None
) -> tuple[Any, ...]:
    """Replace the ellipsis and missing items by full slices; ``sizes`` has the dimensions of each item."""
    items = _items_of(index)
    if sizes is None:
        count = sum(item is not None and item is not Ellipsis for item in items)
    else:
        count = sum(sizes)
    missing = len(shape) - count
    if missing < 0:
        raise SelectionError(f"{count} indices are too many for {len(shape)} dimensions", shape)
    ellipses = [number for number, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise SelectionError("an index can only have a single ellipsis ('...')", shape)
    position = ellipses[0] if ellipses else len(items)
    return (*items[:position], *(slice(None),) * missing, *items[position + 1 :])


def as_integer(item: Any) -> int:
    """Convert an integer of Python or NumPy, or an integer array without dimensions.

    Raises a TypeError for anything else, and for booleans of NumPy: before version 2.3, NumPy
    converts them with a DeprecationWarning.
    """
    if type(item) is not int and getattr(getattr(item, "dtype", None), "kind", "") == "b":
        raise TypeError(f"{item!r} is a boolean, not an integer")
    return index_of(item)


def is_integer(item: Any) -> bool:
    """Whether an item is an integer, of Python or NumPy, or an integer array without dimensions."""
    if type(item) is int:
        return True
    if isinstance(item, bool) or getattr(item, "ndim", 0) != 0:
        return False
    try:
        as_integer(item)
    except TypeError:
        return False
    return True


def _in_bounds(number: int, dimension: int, shape: tuple[int, ...]) -> int:
    """An index from 0 to the length of a dimension; negative ones count from the end."""
    size = shape[dimension]
    if -size <= number < size:
        return number + size if number < 0 else number
    raise SelectionError(
        f"index {number} is out of bounds for dimension {dimension} of length {size}", shape
    )


def _parse_slice(item: slice, dimension: int, shape: tuple[int, ...]) -> tuple[slice, int, bool]:
    """A slice with a positive step, the number of its elements, and whether it was reversed."""
    try:
        start, stop, step = item.indices(shape[dimension])
    except (TypeError, ValueError) as error:  # not integers, or a step of zero
        raise SelectionError(f"{item!r}: {error}", shape) from None
    count = len(range(start, stop, step))
    if count <= 0:
        return slice(0, 0, 1), 0, step < 0
    first = start if step > 0 else start + (count - 1) * step
    # Right after the last element; with step 1 if there is only one.
    stop = first + (count - 1) * abs(step) + 1
    return slice(first, stop, abs(step) if count > 1 else 1), count, step < 0
