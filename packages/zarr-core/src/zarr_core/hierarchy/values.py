"""Values that a user gives to be stored, as NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.errors import SelectionError
from zarr_core.hierarchy.described import DescribedArray

if TYPE_CHECKING:
    from zarr_core.hierarchy.array import Array
    from zarr_core.interfaces.data_type import DataType

_PART_BYTES = 1 << 26


def plain(value: Any) -> np.ndarray[Any, Any]:
    """What is an array, or gives one, as NumPy's own class of arrays.

    Raises
    ------
    ValueError
        If elements are masked: what is beneath the mask is not what is meant.
    """
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        raise ValueError(
            "the values have masked elements, which cannot be stored as such; say what stands for "
            "them: values.filled(...)"
        )
    return np.asarray(value)


def as_array(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Make an array of what a user assigns; what has a dtype keeps it.

    Raises
    ------
    SelectionError
        If a Python number does not fit the dtype.
    """
    if hasattr(value, "__array__"):
        return plain(value)
    try:
        return np.asarray(value, dtype)
    except OverflowError as error:
        raise SelectionError(f"cannot be stored as {dtype}: {error}") from error


def elements_of(value: Any, data_type: DataType) -> np.ndarray[Any, Any]:
    """Make an array of whole elements that a user assigns; most keep the dtype that they have.

    Raises
    ------
    SelectionError
        If a Python number does not fit the data type.
    """
    try:
        value = data_type.as_elements(value)
    except OverflowError as error:
        raise SelectionError(f"cannot be stored: {error}") from error
    return as_array(value, data_type.numpy_dtype)


def one_object(value: Any) -> np.ndarray[Any, Any]:
    """An array without dimensions that holds an object as it is: a list, an array."""
    if isinstance(value, np.ndarray) and value.dtype.hasobject and not value.ndim:
        return value
    holder = np.empty((), object)
    holder[()] = value
    return holder


def values_of(data: Any) -> Any:
    """What a user gave as data, as something with a shape, a dtype and elements.

    Chunked arrays, ours and others', are left where they are; the rest becomes an
    array in memory.
    """
    if hasattr(data, "chunks") and isinstance(getattr(data, "dtype", None), np.dtype):
        return data
    return plain(data)


def as_assigned(values: Any, data: Any, data_type: DataType) -> Any:
    """The elements of new data; of what has no dtype itself, those that it would be assigned as.

    Parameters
    ----------
    values
        What :func:`values_of` made of the data.
    data
        What the user gave, such as a list of numbers.
    data_type : DataType
        That of the new array.

    Raises
    ------
    SelectionError
        If a Python number does not fit the data type.
    """
    if hasattr(data, "__array__") or values.dtype == data_type.numpy_dtype:
        return values
    elements = elements_of(data, data_type)
    return elements if elements.shape == values.shape else values


def dtype_of(values: Any) -> Any:
    """The dtype of what :func:`values_of` gave: of our own arrays, their data type.

    It says more than the dtype: those of byte strings and of other objects are the same.
    """
    return values._binding.data_type if isinstance(values, DescribedArray) else values.dtype


def write_values(array: Array, values: Any) -> None:
    """Write all elements of a new array.

    Parameters
    ----------
    array : Array
        The array.
    values : ndarray, or chunked array
        What :func:`values_of` gave.  Of a chunked array, whole rows of our stored
        objects are read at a time, as many as fit into 64 MiB.
    """
    if isinstance(values, np.ndarray) or not array.ndim or array.nbytes <= _PART_BYTES:
        array[...] = values
        return
    (axis, *_) = array._binding.axes
    row_bytes = array.nbytes // axis.size
    first = 0
    while first < axis.count:
        last = first + 1
        while last < axis.count and (
            (axis.start(last) + axis.length(last) - axis.start(first)) * row_bytes <= _PART_BYTES
        ):
            last += 1
        end = min(axis.start(last - 1) + axis.length(last - 1), axis.size)
        rows = slice(axis.start(first), end)
        array[rows] = np.asarray(values[rows])
        first = last
