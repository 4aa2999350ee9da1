"""Index arrays: what a user gave as one, checked against a dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.selection.normalised import Indices

__all__ = ["as_array", "broadcast_points", "mask_points", "progression", "within"]

_LARGEST = int(np.iinfo(np.intp).max)


def as_array(item: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Make the array of integers or booleans that an item of an index stands for.

    Parameters
    ----------
    item : array-like
        What the user wrote: array, list, range, anything with ``__array__``.
    shape : tuple of int
        Shape of the array that is indexed, for the error.

    Raises
    ------
    SelectionError
        If it is not an array of integers or booleans with at least one dimension.
    """
    try:
        array = np.asarray(item)
    except (ValueError, TypeError) as error:
        raise SelectionError(f"{_brief(item)} is not an index: {error}", shape) from error
    if array.size == 0 and not hasattr(item, "dtype"):
        array = array.astype(np.intp)  # an empty list has no type of its own
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
    """Make indices from 0 to the length of a dimension out of integers or a mask.

    Parameters
    ----------
    array : ndarray
        Integers of any shape, negative ones counted from the end; or booleans
        of one dimension, as long as the dimension of the array.
    dimension : int
        Which dimension of ``shape`` they index.
    shape : tuple of int
        Shape of the array that is indexed.

    Returns
    -------
    ndarray of intp, contiguous
        With the shape of ``array``, or for a mask the positions that are true.

    Raises
    ------
    SelectionError
        If an index is out of bounds or the mask has another length.
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
    """Find the ascending slice that selects the same as one-dimensional indices, if any."""
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
    """Make coordinates of points, flat, with the shape to which they broadcast.

    Raises
    ------
    SelectionError
        If they do not broadcast, are out of bounds, or one is a mask.
    """
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


def mask_points(mask: np.ndarray[Any, Any], shape: tuple[int, ...]) -> tuple[Indices, ...]:
    """Find the coordinates where a mask is true, in C order.

    Raises
    ------
    SelectionError
        If it is not boolean, or has another shape than the array.
    """
    if mask.dtype.kind != "b":
        raise SelectionError(f"a mask holds booleans, not {mask.dtype}", shape)
    if mask.shape != shape:
        raise SelectionError(f"a mask of shape {mask.shape} does not fit", shape)
    return tuple(np.ascontiguousarray(indices) for indices in np.nonzero(mask))
