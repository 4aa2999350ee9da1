"""Data types in the configuration of numcodecs filters, checked against the array.

A codec receives elements in native byte order; the ``bytes`` codec chooses the stored
byte order.  The byte order of a type string is therefore ignored.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import data_type_for

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation

    Array = np.ndarray[Any, Any]


@lru_cache(maxsize=256)
def parse_dtype(member: str, text: str, kinds: str) -> np.dtype[Any]:
    """Return the dtype in native byte order that a member of a configuration names.

    ``text`` is a NumPy type string such as ``"<i4"``, or a name such as ``"int32"``; ValueError if
    its ``dtype.kind`` is not one of ``kinds``.
    """
    try:
        dtype = np.dtype(text).newbyteorder("=")
    except (TypeError, ValueError, SyntaxError) as error:
        raise ValueError(f"{member} {text!r} is not a NumPy type string") from error
    if dtype.kind not in kinds:
        raise ValueError(f"{member} {text!r} is not supported by the codec")
    return dtype


def check_dtype(decoded: ArrayRepresentation, dtype: np.dtype[Any]) -> None:
    """Raise a ValueError if the elements do not have the configured data type.

    Interpreted as another type, the elements would become other numbers.  int64 is accepted for
    datetime64 and timedelta64, which NumPy stores as int64.
    """
    actual = decoded.data_type.numpy_dtype
    if actual == dtype or (actual.kind in "mM" and dtype == np.int64):
        return
    raise ValueError(f"the codec is configured for dtype {dtype}, but the array has dtype {actual}")


def encoded_representation(
    decoded: ArrayRepresentation, dtype: np.dtype[Any], shape: tuple[int, ...] | None = None
) -> ArrayRepresentation:
    """Return the representation of the encoded chunk, by default with the same shape.

    The fill value stays the same number, as in zarr-python.  It is the value of missing inner
    chunks of a shard.
    """
    shape = decoded.shape if shape is None else shape
    actual = decoded.data_type.numpy_dtype
    if dtype == actual:
        return decoded if shape == decoded.shape else replace(decoded, shape=shape)
    is_text = actual.kind in "OTUS"  # not convertible to a number
    with np.errstate(all="ignore"):
        fill_value = np.zeros((), dtype) if is_text else decoded.fill_value.astype(dtype)
    return replace(decoded, shape=shape, data_type=data_type_for(dtype), fill_value=fill_value)


def stored_dtype(
    actual: np.dtype[Any], dtype: str | None, astype: str | None, kinds: str
) -> np.dtype[Any]:
    """Return the dtype of stored elements for elements of dtype ``actual``.

    ``dtype`` and ``astype`` are the members of the configuration: the data types of the array and
    of the stored elements.
    """
    text = astype or dtype
    return actual if text is None else parse_dtype("astype", text, kinds)


def converted_representation(
    decoded: ArrayRepresentation, dtype: str | None, astype: str | None, kinds: str
) -> ArrayRepresentation:
    """Return the representation of a chunk whose elements become ``astype``.

    Parameters as for :func:`stored_dtype`; errors as for :func:`check_dtype`.
    """
    actual = decoded.data_type.numpy_dtype
    check_dtype(decoded, parse_dtype("dtype", dtype or actual.str, kinds))
    return encoded_representation(decoded, stored_dtype(actual, dtype, astype, kinds))
