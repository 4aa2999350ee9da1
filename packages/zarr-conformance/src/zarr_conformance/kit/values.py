"""Values of every NumPy dtype, as strategies of hypothesis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from zarr_core.extension import DataType

    Array = np.ndarray[Any, Any]

_TEXT = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def arrays(data_type: DataType, shape: tuple[int, ...]) -> SearchStrategy[Array]:
    """Arrays of a data type: of any bits for numbers, so of NaN with any payload as well.

    Parameters
    ----------
    data_type : DataType
        Its ``numpy_dtype`` says what elements are; objects are taken to be ``bytes``.
    shape : tuple of int
        Shape of the arrays.
    """
    elements = _of_dtype(data_type.numpy_dtype, shape)
    return elements.map(data_type.clear_unused_bits) if data_type.unused_bits else elements


def _of_dtype(dtype: np.dtype[Any], shape: tuple[int, ...]) -> SearchStrategy[Array]:
    size = math.prod(shape)
    if dtype.names is not None:
        parts = {name: _of_dtype(dtype[name], shape) for name in dtype.names}
        return st.fixed_dictionaries(parts).map(lambda elements: _joined(elements, dtype, shape))
    if dtype.subdtype is not None:
        base, inner = dtype.subdtype
        return _of_dtype(base, shape + inner)
    match dtype.kind:
        case "b":
            items: SearchStrategy[Any] = st.booleans()
        case "U":
            items = st.text(_TEXT, max_size=dtype.itemsize // 4)
        case "S":
            items = st.binary(max_size=dtype.itemsize).map(lambda value: value.rstrip(b"\0"))
        case "T":
            items = st.text(_TEXT, max_size=12)
        case "O":
            items = st.binary(max_size=12)
        case _:
            return _of_bits(dtype, shape, size * dtype.itemsize)
    return st.lists(items, min_size=size, max_size=size).map(
        lambda elements: _filled(elements, dtype, shape)
    )


def _of_bits(dtype: np.dtype[Any], shape: tuple[int, ...], nbytes: int) -> SearchStrategy[Array]:
    # Few bytes repeated make runs, which random ones do not.
    bits = st.binary(min_size=nbytes, max_size=nbytes) | st.binary(min_size=1, max_size=4).map(
        lambda part: (part * (nbytes // len(part) + 1))[:nbytes]
    )
    return bits.map(lambda content: np.frombuffer(bytearray(content), dtype).reshape(shape))


def _filled(items: list[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(items), dtype)
    for number, item in enumerate(items):
        array[number] = item
    return array.reshape(shape)


def _joined(parts: dict[str, Array], dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    array = np.zeros(shape, dtype)
    for name, part in parts.items():
        array[name] = part
    return array


def identical(left: Any, right: Any) -> bool:
    """Whether two arrays have the same shape, dtype and elements, to the bit.

    Byte orders may differ; NaN of one payload are the same.
    """
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape or left.dtype.kind != right.dtype.kind:
        return False
    if left.dtype.kind in "OT":
        return bool(left.tolist() == right.tolist())
    return left.dtype.newbyteorder("=") == right.dtype.newbyteorder("=") and (
        native(left).tobytes() == native(right).tobytes()
    )


def native(array: Array) -> Array:
    """The same elements in the byte order of this machine."""
    return array.astype(array.dtype.newbyteorder("="))
