"""Conversion of arrays to nested lists, followed by a dtype and a shape, for JSON."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation

_OBJECT = "|O"
_LONG = 64  # elements; shorter rows are joined to one list


def reject_structured(decoded: ArrayRepresentation) -> None:
    """Raise a ValueError for structured data types, whose elements would be read as lists."""
    if decoded.data_type.numpy_dtype.names is not None:
        raise ValueError("structured data types are not supported by the codec")


def to_items(array: np.ndarray[Any, Any]) -> list[Any]:
    """Return the elements in nested lists, followed by the typestr and the shape.

    A zero-dimensional array gives a list of one element.
    """
    items: list[Any] = np.atleast_1d(array).tolist()
    items.append(_typestr(array.dtype))
    items.append(list(array.shape))
    return items


def from_items(items: Any, decoded: ArrayRepresentation, name: str) -> np.ndarray[Any, Any]:
    """Return the array of a list from :func:`to_items`, after a comparison with the chunk.

    For arrays of order ``"F"``, zarr-python 2 writes the elements of the transposed
    chunk, with its reversed shape.  Such a list is transposed when it is read.
    """
    if not isinstance(items, list) or len(items) < 2:
        raise ChunkDecodeError("not a list that ends with a dtype and a shape", name)
    *elements, typestr, shape = items
    dtype = decoded.data_type.numpy_dtype
    expected = _typestr(dtype)
    if typestr not in (expected, np.dtype(expected).newbyteorder("S").str):
        raise ChunkDecodeError(f"elements of dtype {typestr!r} instead of {expected!r}", name)
    wanted = list(decoded.shape)
    if shape not in (wanted, wanted[::-1]):
        raise ChunkDecodeError(f"shape {shape!r} instead of {wanted}", name)
    shape = wanted if shape == wanted else wanted[::-1]  # integers: JSON 1.0 and true equal 1
    rows = _rows(elements, shape or [1], name)
    try:
        if expected == _OBJECT and dtype.kind != "T":
            result = np.fromiter(chain.from_iterable(rows), object, decoded.size)
        else:
            if dtype.kind == "T":
                for row in rows:
                    "".join(row)  # raises for elements that NumPy would convert to strings
            result = np.array(rows, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ChunkDecodeError(f"elements are not {dtype}: {error}", name) from error
    if result.ndim > 2:
        raise ChunkDecodeError(f"elements are lists, not {dtype}", name)
    result = result.reshape(shape)
    return result if shape == wanted else result.transpose()


def _typestr(dtype: np.dtype[Any]) -> str:
    return _OBJECT if dtype.kind in "OT" else dtype.str


def _rows(elements: list[Any], shape: list[int], name: str) -> list[list[Any]]:
    """Return the elements in lists of equal length; an element may itself be a list."""
    if len(elements) != shape[0]:
        raise ChunkDecodeError(f"{len(elements)} elements instead of {shape[0]}", name)
    rows = [elements]
    for length in shape[1:]:
        rows = list(chain.from_iterable(rows))
        if any(not isinstance(row, list) or len(row) != length for row in rows):
            raise ChunkDecodeError(f"the lists do not have the shape {shape}", name)
    return rows if shape[-1] >= _LONG else [list(chain.from_iterable(rows))]
