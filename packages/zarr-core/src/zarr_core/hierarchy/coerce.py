"""Convert values that are assigned to NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Set
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.stored_array import StoredArray
from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.interfaces.data_type import DataType


_OBJECT = np.dtype(object)


def as_array(value: Any, dtype: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """Convert an array-like to a NumPy array; values with a dtype keep it.

    Raises
    ------
    SelectionError
        If a Python number does not fit the dtype.
    TypeError, ValueError
        If NumPy cannot convert the value to the dtype, or elements are missing.
    """
    if dtype is not None and dtype.kind in "TSU":
        _refuse_missing_texts(value)
    if dtype is None or hasattr(value, "__array__"):
        dtype = None
        _refuse_missing(value)
        if isinstance(value, Set | Iterator):  # NumPy stores the object itself
            kind = type(value).__name__
            raise TypeError(f"cannot convert an object of type {kind} to an array; pass a list")
    try:
        return np.asarray(value, dtype)
    except OverflowError as error:
        raise SelectionError(f"cannot be stored as {dtype}: {error}") from error
    except (TypeError, ValueError) as error:
        ragged = "inhomogeneous" in str(error)
        reason = "nested sequences must have the same length at each level" if ragged else error
        text = f"cannot convert {brief(value)} to {dtype or 'an array'}: {reason}"
        # Subclasses may have other arguments.
        raise (ValueError if isinstance(error, ValueError) else TypeError)(text) from error


def _refuse_missing(value: Any) -> None:
    """Raise a ValueError for masked and missing elements, which NumPy would convert to NaN or text."""
    if type(value) is np.ndarray:
        return
    if isinstance(value, np.ndarray):
        missing = getattr(value, "mask", False)
        remedy = "values.filled(...)"
    elif hasattr(value, "isna") and hasattr(value, "__array__"):  # pandas
        missing = np.asarray(value.isna())
        # NaN and NaT are values of NumPy data types.
        if hasattr(value, "dtype"):
            missing = missing & (not isinstance(value.dtype, np.dtype))
        else:  # a frame
            missing = missing[:, [not isinstance(dtype, np.dtype) for dtype in value.dtypes]]
        remedy = "values.fillna(...), or values.to_numpy(dtype=..., na_value=...)"
    else:
        count = getattr(value, "null_count", 0)  # a method of Polars
        missing = count() if callable(count) else count
        remedy = "values.fill_null(...)"
    if np.any(missing):
        kind = "masked" if isinstance(value, np.ndarray) else "missing"
        raise ValueError(f"{kind} elements cannot be stored; replace them with {remedy}")


def _refuse_missing_texts(value: Any) -> None:
    """Raise a ValueError for objects that NumPy would convert to a text such as ``None``."""
    given = getattr(value, "dtype", _OBJECT)
    if isinstance(value, str | bytes) or not (given == _OBJECT or hasattr(given, "na_object")):
        return
    for item in np.asarray(value, _OBJECT).flat:
        try:
            is_missing = item is None or bool(item != item)  # NaN, NaT
        except (TypeError, ValueError):  # pandas.NA has no truth value
            is_missing = True
        if is_missing:
            raise ValueError(
                f"{item!r} is not a string, and the data type has no missing value; replace missing "
                "values, for example with an empty string"
            )


def elements_of(value: Any, data_type: DataType) -> np.ndarray[Any, Any]:
    """Convert assigned elements to an array; most keep their dtype.  Errors as of :func:`as_array`."""
    _refuse_missing(value)  # a data type may convert the value
    try:
        value = data_type.as_elements(value)
    except OverflowError as error:
        raise SelectionError(f"cannot be stored: {error}") from error
    return as_array(value, data_type.numpy_dtype)


def refuse_elements(other: object) -> None:
    """Raise a TypeError if an array is compared with elements, which it is never equal to."""
    if isinstance(other, int | float | complex | list | np.ndarray | np.generic):
        raise TypeError(
            f"an array is compared with {brief(other)}: == compares locations; "
            "to compare elements, read them: array[...] == other"
        )


def one_object(value: Any) -> np.ndarray[Any, Any]:
    """A zero-dimensional array that contains an object, such as a list."""
    if isinstance(value, np.ndarray) and value.dtype.hasobject and not value.ndim:
        return value
    holder = np.empty((), object)
    holder[()] = value
    return holder


def is_chunked(data: Any) -> bool:
    """Whether data is an array of a library with chunks, which can be read in parts."""
    return hasattr(data, "chunks") and isinstance(getattr(data, "dtype", None), np.dtype)


def values_of(data: Any) -> Any:
    """Convert data to an object with a shape, a dtype and elements.

    Chunked arrays are returned unchanged; other data becomes a NumPy array.
    """
    if is_chunked(data):
        return data
    values = as_array(data)
    dtype = getattr(data, "dtype", values.dtype)
    if values.dtype == _OBJECT and getattr(dtype, "type", None) is str:
        return values.astype(np.dtypes.StringDType())  # strings of pandas
    return values


def described(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments of a new array with the shape and dtype of ``data`` instead of the data.

    Data without a dtype, such as lists, has none.
    """
    data = arguments.get("data")
    if data is None:
        return arguments
    values = values_of(data)
    of_data = {"shape": values.shape, "dtype": dtype_of(values) if hasattr(data, "dtype") else None}
    given = {name: value for name, value in arguments.items() if value is not None}
    return {**of_data, **given, "data": None}


def as_assigned(values: Any, data: Any, data_type: DataType) -> Any:
    """The elements of data; without a dtype, converted as in an assignment.

    ``values`` is the result of :func:`values_of` for ``data``.  Raises a SelectionError if a
    Python number does not fit the data type.
    """
    if hasattr(data, "__array__") or values.dtype == data_type.numpy_dtype:
        return values
    elements = elements_of(data, data_type)
    return elements if elements.shape == values.shape else values


def dtype_of(values: Any) -> Any:
    """The dtype of the result of :func:`values_of`; for Zarr arrays, their data type.

    Several data types have the same dtype, such as those with object elements.
    """
    stored = getattr(values, "stored", None)
    return stored.resolved.data_type if isinstance(stored, StoredArray) else values.dtype
