"""Arrays as nested lists that end with a dtype, then a shape: what JSON has words for."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation

_OBJECT = "|O"
_LONG = 64  # elements; of shorter rows one list is made


def refuse_records(decoded: ArrayRepresentation) -> None:
    """Refuse elements with fields: they would be written as lists, and read as more elements.

    Raises
    ------
    ValueError
        If the data type has fields.
    """
    if decoded.data_type.numpy_dtype.names is not None:
        raise ValueError("elements with fields cannot be stored so")


def to_items(array: np.ndarray[Any, Any]) -> list[Any]:
    """Elements in nested lists, then typestr and shape.

    Parameters
    ----------
    array : ndarray
        One without dimensions is listed as if it had one.
    """
    items: list[Any] = np.atleast_1d(array).tolist()
    items.append(_typestr(array.dtype))
    items.append(list(array.shape))
    return items


def from_items(items: Any, decoded: ArrayRepresentation, name: str) -> np.ndarray[Any, Any]:
    """The array that such a list describes, which must be one of a chunk.

    Parameters
    ----------
    items : list
        As :func:`to_items` gives it.
    decoded : ArrayRepresentation
        The chunk.
    name : str
        The codec; for messages.

    Notes
    -----
    zarr-python 2 lists the dimensions in the order of the array also where those of
    a chunk in memory are reversed (order ``"F"``).  Such a list is transposed.

    Raises
    ------
    ChunkDecodeError
        If dtype, shape or lists are others than those of the chunk.
    """
    if not isinstance(items, list) or len(items) < 2:
        raise ChunkDecodeError("no list that ends with a dtype and a shape", name)
    *elements, typestr, shape = items
    dtype = decoded.data_type.numpy_dtype
    expected = _typestr(dtype)
    if typestr not in (expected, np.dtype(expected).newbyteorder("S").str):
        raise ChunkDecodeError(f"elements of dtype {typestr!r} instead of {expected!r}", name)
    wanted = list(decoded.shape)
    if shape not in (wanted, wanted[::-1]):
        raise ChunkDecodeError(f"shape {shape!r} instead of {wanted}", name)
    shape = wanted if shape == wanted else wanted[::-1]  # of integers: 1.0 and true are 1 as well
    rows = _rows(elements, shape or [1], name)
    try:
        if expected == _OBJECT and dtype.kind != "T":
            result = np.fromiter(chain.from_iterable(rows), object, decoded.size)
        else:
            if dtype.kind == "T":
                for row in rows:
                    "".join(row)  # quick, and fails for what NumPy would make strings of
            result = np.array(rows, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ChunkDecodeError(f"elements that are no {dtype}: {error}", name) from error
    if result.ndim > 2:
        raise ChunkDecodeError(f"elements that are no {dtype}: lists", name)
    result = result.reshape(shape)
    return result if shape == wanted else result.transpose()


def _typestr(dtype: np.dtype[Any]) -> str:
    return _OBJECT if dtype.kind in "OT" else dtype.str


def _rows(elements: list[Any], shape: list[int], name: str) -> list[list[Any]]:
    """Elements in lists of some length; an element may itself be a list."""
    if len(elements) != shape[0]:
        raise ChunkDecodeError(f"{len(elements)} elements instead of {shape[0]}", name)
    rows = [elements]
    for length in shape[1:]:
        rows = list(chain.from_iterable(rows))
        if any(not isinstance(row, list) or len(row) != length for row in rows):
            raise ChunkDecodeError(f"lists that do not have the shape {shape}", name)
    return rows if shape[-1] >= _LONG else [list(chain.from_iterable(rows))]
