"""Types of elements that filters of numcodecs name, checked against those of the array.

A codec sees elements in the byte order of this machine; the ``bytes`` codec
chooses the one that is stored.  So the byte order of a type string is no matter.
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
def native(member: str, text: str, kinds: str) -> np.dtype[Any]:
    """The dtype that a member of a configuration names, in native byte order.

    Parameters
    ----------
    member : str
        Its name; for messages.
    text : str
        A NumPy type string such as ``"<i4"``, or a name such as ``"int32"``.
    kinds : str
        Letters of the kinds of dtype that are permitted.

    Raises
    ------
    ValueError
        If it is no dtype, or of another kind.
    """
    try:
        dtype = np.dtype(text).newbyteorder("=")
    except (TypeError, ValueError, SyntaxError) as error:
        raise ValueError(f"{member} {text!r} is no NumPy type string") from error
    if dtype.kind not in kinds:
        raise ValueError(f"{member} {text!r} is of a kind that the codec does not take")
    return dtype


def require(decoded: ArrayRepresentation, dtype: np.dtype[Any]) -> None:
    """Refuse elements of another type than the configuration says.

    Taken for something else they would become other numbers.

    Raises
    ------
    ValueError
        If they are of another type.  The integers in which NumPy keeps dates
        and durations may be named in their place.
    """
    found = decoded.data_type.numpy_dtype
    if found == dtype or (found.kind in "mM" and dtype == np.int64):
        return
    raise ValueError(
        f"the codec is configured for elements of dtype {dtype}, those of the array are {found}"
    )


def encoded(
    decoded: ArrayRepresentation, dtype: np.dtype[Any], shape: tuple[int, ...] | None = None
) -> ArrayRepresentation:
    """The representation of what comes out of a codec.

    Parameters
    ----------
    decoded : ArrayRepresentation
        What goes in.
    dtype : dtype
        That of the elements that come out.
    shape : tuple of int, optional
        That of the chunk that comes out; the same if not given.

    Notes
    -----
    The fill value stays the same number, as it does for zarr-python: it says what
    inner chunks of a shard hold that are not stored.
    """
    shape = decoded.shape if shape is None else shape
    found = decoded.data_type.numpy_dtype
    if dtype == found:
        return decoded if shape == decoded.shape else replace(decoded, shape=shape)
    is_text = found.kind in "OTUS"  # which has no number
    with np.errstate(all="ignore"):
        fill_value = np.zeros((), dtype) if is_text else decoded.fill_value.astype(dtype)
    return replace(decoded, shape=shape, data_type=data_type_for(dtype), fill_value=fill_value)
