"""Convert values that are assigned, and the data of new arrays, to NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import suppress
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.stored_array import StoredArray
from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.selection.parse import ParsedSelection


_OBJECT = np.dtype(object)


def assigned_values(
    stored: StoredArray, parsed: ParsedSelection, value: Any, chosen: str | list[str] | None
) -> np.ndarray[Any, Any]:
    """The elements that are assigned to a selection, or to its fields, with its shape.

    Python numbers that do not fit raise an error; arrays are cast chunk by chunk, when they are
    written.
    """
    dtype = stored.resolved.dtype
    if chosen is None:
        if dtype.kind == "O" and not parsed.shape:
            value = _one_object(value)
        return parsed.broadcast(cast_assigned(value, stored.resolved.data_type))
    dtype = dtype[chosen]
    if dtype.shape:
        raise SelectionError(
            f"the field {chosen!r} contains arrays of shape {dtype.shape}; write whole elements"
        )
    return parsed.broadcast(to_array(value, dtype))


def _one_object(value: Any) -> np.ndarray[Any, Any]:
    """A zero-dimensional array that contains an object, such as a list."""
    if isinstance(value, np.ndarray) and value.dtype.hasobject and not value.ndim:
        return value
    holder = np.empty((), object)
    holder[()] = value
    return holder


def to_array(value: Any, dtype: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """Convert an array-like to a NumPy array; values with a dtype keep it."""
    if dtype is not None:
        _check_representable(value, dtype)
    if dtype is None or hasattr(value, "__array__"):
        dtype = None
        _check_missing(value)
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


def cast_assigned(value: Any, data_type: DataType) -> np.ndarray[Any, Any]:
    """Convert assigned elements to an array; most keep their dtype."""
    _check_missing(value)  # a data type may convert the value
    try:
        value = data_type.as_elements(value)
    except OverflowError as error:
        raise SelectionError(f"cannot be stored: {error}") from error
    return to_array(value, data_type.numpy_dtype)


def _check_missing(value: Any) -> None:
    """Raise a ValueError for masked and missing elements, which NumPy would convert to NaN or text."""
    if type(value) is np.ndarray:
        return
    if isinstance(value, np.ndarray):
        missing = getattr(value, "mask", False)
        remedy = "values.filled(...)"
    elif hasattr(value, "isna") and hasattr(value, "__array__"):  # pandas
        # NaN and NaT are values of NumPy data types.
        dtypes = [value.dtype] if hasattr(value, "dtype") else value.dtypes  # of a frame
        is_extension = np.array([not isinstance(dtype, np.dtype) for dtype in dtypes], bool)
        missing = np.asarray(value.isna()) & is_extension
        remedy = "values.fillna(...), or values.to_numpy(dtype=..., na_value=...)"
    else:
        count = getattr(value, "null_count", 0)  # a method of Polars
        missing = count() if callable(count) else count
        remedy = "values.fill_null(...)"
    if np.any(missing):
        kind = "masked" if isinstance(value, np.ndarray) else "missing"
        raise ValueError(f"{kind} elements cannot be stored; replace them with {remedy}")


def _check_representable(value: Any, dtype: np.dtype[Any]) -> None:
    """Raise a ValueError for missing elements that NumPy would convert to a text, False or a number."""
    if not hasattr(value, "dtype") and (dtype.kind == "b" or hasattr(value, "__array__")):
        with suppress(ValueError):  # nested sequences of different lengths
            converted = np.asarray(value)
            value = converted if converted.dtype.kind in "biumMO" else value
    source = getattr(value, "dtype", _OBJECT)
    items: Any = ()
    is_object = source == _OBJECT or hasattr(source, "na_object")
    if is_object and dtype.kind in "TSUb" and not isinstance(value, str | bytes | bool):
        items = np.asarray(value, _OBJECT).flat
    elif isinstance(source, np.dtype) and source.kind in "mM" and dtype.kind not in "mMOV":
        items = np.asarray(value)[np.isnat(value)]
    for item in items:
        try:
            equal = item is not None and bool(item == item)
        except (TypeError, ValueError):  # pandas.NA has no truth value
            equal = False
        if not equal:  # None, NaN, NaT or a masked element
            raise ValueError(f"{item!r} cannot be stored as {dtype}: replace missing values first")


# --- the data of a new array ---


def is_chunked(data: Any) -> bool:
    """Whether data is an array of a library with chunks, which can be read in parts."""
    return hasattr(data, "chunks") and isinstance(getattr(data, "dtype", None), np.dtype)


def data_to_array(data: Any) -> Any:
    """Convert data to a NumPy array, except chunked arrays, which are returned unchanged."""
    if is_chunked(data):
        return data
    values = to_array(data)
    if values.dtype == _OBJECT and getattr(getattr(data, "dtype", None), "type", None) is str:
        return values.astype(np.dtypes.StringDType())  # strings of pandas
    return values


def data_type_of(values: Any) -> Any:
    """The dtype of the result of :func:`data_to_array`; for Zarr arrays, their data type."""
    # Several data types have the same dtype, such as those with object elements.
    stored = getattr(values, "stored", None)
    return stored.resolved.data_type if isinstance(stored, StoredArray) else values.dtype


def cast_data(values: Any, data: Any, data_type: DataType) -> Any:
    """Cast the result of :func:`data_to_array` for data without a dtype, as in an assignment."""
    if hasattr(data, "__array__") or values.dtype == data_type.numpy_dtype:
        return values
    elements = cast_assigned(data, data_type)
    return elements if elements.shape == values.shape else values
