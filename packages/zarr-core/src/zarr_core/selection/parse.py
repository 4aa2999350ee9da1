"""From what a user writes between brackets to a normalised selection.

Integers and slices are parsed without NumPy.
"""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

from zarr_core.errors import SelectionError
from zarr_core.selection.normalised import Box, Outer, Points
from zarr_core.selection.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.selection.normalised import Indices

__all__ = ["Request", "basic", "block", "coordinate", "fancy", "mask", "orthogonal"]


def basic(index: Any, shape: tuple[int, ...]) -> Request:
    """Parse integers, slices, ``...`` and ``None``, with NumPy's meaning.

    Parameters
    ----------
    index : object
        One item or a tuple of them.  Steps may be negative.
    shape : tuple of int
        Shape of the array.

    Raises
    ------
    SelectionError
        If an integer is out of bounds, there are too many items, or an item is
        something else.
    """
    return _quick(index, shape) or _itemwise(index, shape, arrays=False)


def orthogonal(index: Any, shape: tuple[int, ...]) -> Request:
    """Parse an index in which every dimension is selected by itself ("oindex").

    Beside what :func:`basic` takes: arrays, lists or ranges of integers in any
    order, perhaps repeated, and one-dimensional masks.  The result is the outer
    product; an array of several dimensions puts them in the place of its own.

    Raises
    ------
    SelectionError
        As :func:`basic`, and if a mask is not as long as its dimension.
    """
    return _quick(index, shape) or _itemwise(index, shape, arrays=True)


def coordinate(index: Any, shape: tuple[int, ...]) -> Request:
    """Parse the coordinates of single points ("vindex").

    Parameters
    ----------
    index : tuple of array-like of int, or a mask
        One item a dimension; they broadcast together, and the result has their
        shape.  A single boolean array is handed to :func:`mask`.
    shape : tuple of int
        Shape of the array.

    Raises
    ------
    SelectionError
        If items are missing, do not broadcast, are out of bounds or not integers.
    """
    from zarr_core.selection import indices  # noqa: PLC0415 - lazy: it imports NumPy

    items = [item for item in _items(index) if item is not Ellipsis]
    if all(_is_integer(item) for item in items) and len(items) == len(shape):
        return basic(tuple(items), shape)
    if len(items) == 1 and (array := indices.as_array(items[0], shape)).dtype.kind == "b":
        return mask(array, shape)
    if len(items) != len(shape) or any(isinstance(item, slice) or item is None for item in items):
        raise SelectionError(
            f"coordinates need one array of integers for each of {len(shape)} dimensions; "
            "for slices beside arrays use orthogonal indexing",
            shape,
        )
    arrays = [
        indices.as_array([as_integer(item)] if _is_integer(item) else item, shape) for item in items
    ]
    points, together = indices.broadcast_points(arrays, shape)
    return _points(points, together)


def mask(index: Any, shape: tuple[int, ...]) -> Request:
    """Parse a boolean array of the shape of the whole array; the result is flat, in C order.

    Raises
    ------
    SelectionError
        If it is not boolean, or has another shape.
    """
    from zarr_core.selection import indices  # noqa: PLC0415 - lazy: it imports NumPy

    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    points = indices.mask_points(indices.as_array(index, shape), shape)
    return _points(points, (len(points[0]),))


def _points(points: tuple[Indices, ...], together: tuple[int, ...]) -> Request:
    # Along a single dimension points are an outer product too, which knows runs.
    return Request(Outer(points) if len(points) == 1 else Points(points), together)


def block(index: Any, axes: Sequence[ChunkAxis]) -> Request:
    """Parse an index that counts chunks instead of elements.

    Parameters
    ----------
    index : object
        Integers, slices of step 1 and ``...``; an integer keeps its axis.
    axes : sequence of ChunkAxis
        The chunks along each dimension.

    Raises
    ------
    SelectionError
        If a chunk number is out of bounds, or an item is something else.
    """
    counts = tuple(axis.count for axis in axes)
    parts = []
    for dimension, (item, axis) in enumerate(zip(_expanded(index, counts), axes, strict=True)):
        if isinstance(item, slice):
            first, stop, step = _slice_bounds(item, axis.count, counts)
            if step != 1:
                raise SelectionError(f"slices of chunks have step 1, not {step}", counts)
        elif _is_integer(item):
            first = _in_bounds(as_integer(item), dimension, counts, "chunk grid dimension")
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
    box = Box(tuple(parts))
    return Request(box, box.shape)


def fancy(index: Any, shape: tuple[int, ...]) -> Request:
    """Parse whatever is written in ``array[...]``.

    Integers, slices, ``...`` and ``None`` mean what they mean to NumPy.  With one
    index array the selection is orthogonal.  With index arrays for every
    dimension, and nothing else but integers, it is by coordinate, as in NumPy;
    if some of them are masks, it is orthogonal.  A mask of the whole shape
    selects elements.

    Raises
    ------
    SelectionError
        If the index is out of bounds or none of these.  Several arrays beside
        slices are refused, because NumPy and orthogonal indexing disagree.
    """
    request = _quick(index, shape)
    if request is not None:
        return request
    items = _items(index)
    arrays = [item for item in items if not _is_plain(item)]
    if not arrays:
        return _itemwise(index, shape, arrays=False)
    from zarr_core.selection import indices  # noqa: PLC0415 - lazy: it imports NumPy

    kinds = [indices.as_array(item, shape) for item in arrays]
    if len(items) == 1 and kinds[0].dtype.kind == "b" and kinds[0].ndim != 1:
        return mask(kinds[0], shape)
    if len(arrays) == 1:
        return _itemwise(index, shape, arrays=True)
    full = len(items) == len(shape)
    if full and any(array.dtype.kind == "b" for array in kinds) and len(arrays) == len(items):
        return _itemwise(index, shape, arrays=True)
    if full and all(_is_integer(item) or not _is_plain(item) for item in items):
        return coordinate(index, shape)
    raise SelectionError(
        "several index arrays beside slices or left-out dimensions are ambiguous; "
        "say oindex for their outer product or vindex for points",
        shape,
    )


def _quick(index: Any, shape: tuple[int, ...]) -> Request | None:
    """Parse plain integers and slices without a step; None for all the rest."""
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
                return None  # the thorough way words the error
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
    return Request(Box(tuple(parts)), tuple(lengths), (), not lengths, len(lengths) == len(parts))


def _itemwise(index: Any, shape: tuple[int, ...], *, arrays: bool) -> Request:
    """Parse an index whose items do not depend on each other."""
    items = _expanded(index, shape)
    parts: list[Any] = []
    result: list[int] = []
    flipped = []
    for item in items:
        dimension = len(parts)
        if item is None:
            result.append(1)
        elif isinstance(item, slice):
            start, stop, step = _slice_bounds(item, shape[dimension], shape)
            count = len(range(start, stop, step))
            if step < 0:
                start, step = start + (count - 1) * step, -step
                flipped.append(dimension)
            parts.append(_canonical(start, count, step))
            result.append(count)
        elif _is_integer(item):
            number = _in_bounds(as_integer(item), dimension, shape)
            parts.append(slice(number, number + 1, 1))
        elif not arrays:
            raise SelectionError(
                f"{type(item).__name__} is no item of a basic index; "
                "use integers, slices, ... and None, or oindex or vindex for arrays",
                shape,
            )
        else:
            part, lengths = _array_item(item, dimension, shape)
            parts.append(part)
            result.extend(lengths)
    boxed = all(isinstance(part, slice) for part in parts)
    selection = Box(tuple(parts)) if boxed else Outer(tuple(parts))
    # As in NumPy, an ellipsis asks for an array even if it has no dimensions.
    scalar = not result and not any(item is Ellipsis for item in _items(index))
    return Request(selection, tuple(result), tuple(flipped), scalar)


def _array_item(
    item: Any, dimension: int, shape: tuple[int, ...]
) -> tuple[slice | Indices, tuple[int, ...]]:
    from zarr_core.selection import indices  # noqa: PLC0415 - lazy: it imports NumPy

    numbers = indices.within(indices.as_array(item, shape), dimension, shape)
    flat = numbers.reshape(-1)
    return indices.progression(flat) or flat, numbers.shape


def _canonical(start: int, count: int, step: int) -> slice:
    """Make a slice that stops right behind its last element, with step 1 if it has only one."""
    if count <= 0:
        return slice(0, 0, 1)
    return slice(start, start + (count - 1) * step + 1, step if count > 1 else 1)


def _items(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _expanded(index: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Put full slices for the ellipsis and for dimensions that were left out."""
    items = _items(index)
    given = sum(item is not None and item is not Ellipsis for item in items)
    missing = len(shape) - given
    if missing < 0:
        raise SelectionError(f"{given} indices are too many for {len(shape)} dimensions", shape)
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise SelectionError("an index can only have a single ellipsis ('...')", shape)
    place = ellipses[0] if ellipses else len(items)
    return (*items[:place], *(slice(None),) * missing, *items[place + 1 :])


def _is_integer(item: Any) -> bool:
    if type(item) is int:
        return True
    if isinstance(item, bool) or getattr(item, "ndim", 0) != 0:
        return False
    try:
        as_integer(item)
    except TypeError:
        return False
    return True


def _is_plain(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice) or _is_integer(item)


def _in_bounds(number: int, dimension: int, shape: tuple[int, ...], what: str = "dimension") -> int:
    size = shape[dimension]
    if -size <= number < size:
        return number + size if number < 0 else number
    raise SelectionError(
        f"index {number} is out of bounds for {what} {dimension} of length {size}", shape
    )


def _slice_bounds(item: slice, size: int, shape: tuple[int, ...]) -> tuple[int, int, int]:
    try:
        return item.indices(size)
    except (TypeError, ValueError) as error:  # not integers, or a step of zero
        raise SelectionError(f"{item!r}: {error}", shape) from None
