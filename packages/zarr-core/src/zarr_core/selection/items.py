"""The items of an index: integers, slices and ``...``, checked against the shape of an array."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["canonical", "expanded", "in_bounds", "is_integer", "items_of", "slice_bounds"]


def canonical(start: int, count: int, step: int) -> slice:
    """Return a slice that stops right after its last element, with step 1 if there is only one."""
    if count <= 0:
        return slice(0, 0, 1)
    return slice(start, start + (count - 1) * step + 1, step if count > 1 else 1)


def items_of(index: Any) -> tuple[Any, ...]:
    """The items of an index, which is one item or a tuple."""
    return index if isinstance(index, tuple) else (index,)


def expanded(
    index: Any, shape: tuple[int, ...], sizes: Sequence[int] | None = None
) -> tuple[Any, ...]:
    """Replace the ellipsis and missing items by full slices.

    ``sizes`` has the number of dimensions that each item selects from; by default one, and none
    for ``...`` and ``None``.
    """
    items = items_of(index)
    if sizes is None:
        given = sum(item is not None and item is not Ellipsis for item in items)
    else:
        given = sum(sizes)
    missing = len(shape) - given
    if missing < 0:
        raise SelectionError(f"{given} indices are too many for {len(shape)} dimensions", shape)
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise SelectionError("an index can only have a single ellipsis ('...')", shape)
    place = ellipses[0] if ellipses else len(items)
    return (*items[:place], *(slice(None),) * missing, *items[place + 1 :])


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


def in_bounds(number: int, dimension: int, shape: tuple[int, ...], what: str = "dimension") -> int:
    """An index from 0 to the length of a dimension; negative ones count from the end."""
    size = shape[dimension]
    if -size <= number < size:
        return number + size if number < 0 else number
    raise SelectionError(
        f"index {number} is out of bounds for {what} {dimension} of length {size}", shape
    )


def slice_bounds(item: slice, size: int, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Start, stop and step of a slice of a dimension."""
    try:
        return item.indices(size)
    except (TypeError, ValueError) as error:  # not integers, or a step of zero
        raise SelectionError(f"{item!r}: {error}", shape) from None
