"""Conversion of fill values of version 1: a JSON scalar that NumPy assigns to every element.

Specification: version 1, "Metadata".  The meaning of a number for records, or of a string for
dates, is that of zarr 1.0 and 1.1, which pass it to ``numpy.ndarray.fill``.  Integers out of
range wrap, as in these versions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_formats.metadata_error import metadata_error
from zarr_formats.typestr import create_data_type

if TYPE_CHECKING:
    from zarr_core.extension import JSON

    from zarr_formats.typestr import Dtype

    Array = np.ndarray[Any, Any]

_POINTER = "/fill_value"


def fill_from_v1(value: JSON, dtype: Dtype) -> tuple[JSON, bool]:
    """Return a fill value in the form of version 3, and whether it is undefined (null).

    An undefined fill value is that of zero bytes.
    """
    data_type = create_data_type(dtype.data_type)
    if value is None:
        return data_type.fill_value_to_json(data_type.default_fill_value()), True
    try:
        element = _element(value, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        message = f"{value!r} cannot be an element of {dtype.value!r}: {error}"
        raise metadata_error(_POINTER, message) from error
    return data_type.fill_value_to_json(element.astype(data_type.numpy_dtype)), False


def fill_to_v1(value: JSON, dtype: Dtype, undefined: bool) -> JSON:
    """Write a fill value, the inverse of :func:`fill_from_v1`."""
    if undefined:
        return None
    try:
        element = (
            create_data_type(dtype.data_type)
            .fill_value_from_json(value)
            .astype(dtype.numpy_dtype())
        )
        written = _scalar(element, dtype.kind)
        if _element(written, dtype).tobytes() == element.tobytes():
            return written
    except (ValueError, TypeError, OverflowError) as error:
        raise metadata_error(_POINTER, f"{value!r}: {error}") from error
    if dtype.has_fields and not any(element.tobytes()):
        return None  # no scalar represents zero bytes of text in a record: 0 becomes "0"
    raise metadata_error(_POINTER, f"version 1 cannot represent the value {value!r}")


def _element(value: JSON, dtype: Dtype) -> Array:
    element = np.zeros((), dtype.numpy_dtype())
    if dtype.kind in "iu" and isinstance(value, int | float):
        # As in C: integers out of range wrap.
        value = int(value) % (1 << 8 * element.itemsize)
        element = np.array(value, f"u{element.itemsize}").view(f"{dtype.kind}{element.itemsize}")
        return element.astype(dtype.numpy_dtype())
    if dtype.kind == "V" and not dtype.has_fields:
        if value != 0:
            raise ValueError("bytes can only be zero")
        return element
    with np.errstate(all="ignore"):
        element.fill(value)
    return element


def _scalar(element: Array, kind: str) -> JSON:
    """Return the JSON scalar that may represent an element."""
    match kind:
        case "b" | "i" | "u":
            plain: JSON = element.item()
            return plain
        case "f" | "c":
            number = float(element.real)
            return math.nan if math.isnan(number) else number
        case "m" | "M":
            return int(element.astype(element.dtype.newbyteorder("=")).view(np.int64))
        case "S":
            return bytes(element.item()).decode("ascii")
        case "U":
            return str(element.item())
    return 0
