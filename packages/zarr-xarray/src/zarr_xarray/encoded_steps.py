"""Encode steps like the stored elements; elements that would be changed are errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import Variable, conventions
from xarray.coders import CFDatetimeCoder

from zarr_xarray import _xarray
from zarr_xarray.step_labels import is_missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_xarray.committed_lengths import Growing

_USUAL_CALENDARS = ("standard", "gregorian", "proleptic_gregorian")
RESOLUTIONS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
"""NumPy's resolution of units of times."""

_CHANGING = (
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "units",
    "_Unsigned",
    "dtype",
)


def encode_steps(name: str, values: np.ndarray[Any, Any], item: Growing) -> np.ndarray[Any, Any]:
    """Encode the elements of some steps as the stored ones are encoded.

    Parameters
    ----------
    name : str
        The variable.
    values : ndarray
        The elements, as xarray decodes them, in the order of the stored dimensions.
    item : Growing
        The stored array.

    Raises
    ------
    ValueError
        If the elements cannot be encoded, or if decoding the encoded elements does not return the
        given ones, apart from rounding to the precision of the stored data type or the scale
        factor.
    """
    if _is_stored_as_given(values, item):
        return values
    variable = Variable(item.raw.dims, _in_stored_resolution(values, item))
    try:
        _xarray.check_append_dtype(name, item.decoded, variable)
        variable.encoding = item.decoded.encoding
        encoded = _xarray.encode_variable(variable, name=name)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(_error_message(name, item, f"they cannot be encoded ({error})")) from error
    data = np.asarray(encoded.data)
    dtype = item.array.dtype
    try:
        stored = data.astype(dtype, casting="same_kind", copy=False)
    except TypeError:
        raise ValueError(_error_message(name, item, f"their data type is {data.dtype}")) from None
    try:
        decoded = decode_steps(stored, item)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(_error_message(name, item, f"they cannot be decoded ({error})")) from error
    wrong = _differs(variable.values, decoded, item)
    if wrong.any():
        given, found = variable.values[wrong][0], decoded[wrong][0]
        if str(given) == str(found):  # of different types
            given, found = repr(given), repr(found)
        raise ValueError(_error_message(name, item, f"{given} would be read as {found}"))
    return stored


def _in_stored_resolution(values: np.ndarray[Any, Any], item: Growing) -> np.ndarray[Any, Any]:
    """Return times in a resolution that is not coarser than the stored units.

    xarray encodes coarser ones as NaT.
    """
    unit = RESOLUTIONS.get(str(item.decoded.encoding.get("units")).partition(" ")[0])
    if values.dtype.kind not in "mM" or unit is None:
        return values
    finer = values.astype(np.result_type(values, np.dtype(f"{values.dtype.kind}8[{unit}]")))
    # NumPy does not report that times are out of range.
    is_equal = is_missing(values) | (finer.astype(values.dtype) == values)
    return finer if is_equal.all() else values


def decode_steps(values: np.ndarray[Any, Any], item: Growing) -> np.ndarray[Any, Any]:
    """Decode elements of a stored array, as xarray does."""
    attributes = _decoding_attributes(item)
    raw = Variable(item.raw.dims, values, attributes)
    decoded: np.ndarray[Any, Any] = conventions.decode_cf_variable(
        item.array.name, raw, decode_times=time_decoder(attributes)
    ).values
    return decoded


def time_decoder(attributes: Mapping[Any, Any]) -> Any:
    """Return ``decode_times`` for attributes; xarray cannot guess it for arrays without elements.

    The times of calendars other than the usual one are never those of NumPy.
    """
    calendar = str(attributes.get("calendar", "standard")).lower()
    return calendar in _USUAL_CALENDARS or CFDatetimeCoder(use_cftime=True)


def _is_stored_as_given(values: np.ndarray[Any, Any], item: Growing) -> bool:
    """Whether encoding changes nothing."""
    if values.dtype != item.array.dtype or values.dtype.kind not in "biufc":
        return False
    coding = {**item.raw.attrs, **item.decoded.encoding}
    if any(key in coding for key in ("scale_factor", "add_offset", "_Unsigned", "missing_value")):
        return False
    fill = coding.get("_FillValue")
    if fill is not None and not (values.dtype.kind == "f" and bool(np.isnan(fill))):
        return False
    return bool(item.decoded.dtype == item.array.dtype)


def _decoding_attributes(item: Growing) -> dict[str, Any]:
    """Return the attributes that xarray decodes the stored elements with."""
    coding = item.decoded.encoding
    # Bounds of times have the units of the times.
    shared = {key: coding[key] for key in ("units", "calendar") if key in coding}
    return {**shared, **item.raw.attrs}


def _differs(
    given: np.ndarray[Any, Any], decoded: np.ndarray[Any, Any], item: Growing
) -> np.ndarray[Any, Any]:
    """Return where elements differ by more than the precision of the stored ones."""
    missing = is_missing(given)
    different: Any = missing != is_missing(decoded)
    if given.dtype.kind not in "fc":
        if decoded.dtype.kind == "f" and given.dtype.kind in "iu":
            decoded = decoded.astype(given.dtype)
        return np.asarray(different | (~missing & (given != decoded)), bool)
    coding = item.decoded.encoding
    kind = item.array.dtype.kind
    if kind == "f" and "scale_factor" not in coding and "add_offset" not in coding:
        tolerance = np.abs(given) * float(np.finfo(item.array.dtype).eps)
        tolerance = tolerance + float(np.finfo(item.array.dtype).smallest_subnormal)
    elif kind in "iu" and ("scale_factor" in coding or "add_offset" in coding):
        scale = abs(float(coding.get("scale_factor", 1)))
        eps = float(np.finfo(decoded.dtype).eps) if decoded.dtype.kind == "f" else 0.0
        tolerance = 0.501 * scale + 4 * eps * np.abs(given)
    elif kind == "f":
        tolerance = (
            4
            * float(np.finfo(item.array.dtype).eps)
            * (np.abs(given) + abs(float(coding.get("add_offset", 0))))
        )
    else:
        tolerance = np.zeros(())
    with np.errstate(invalid="ignore"):
        near = np.isfinite(given) & (np.abs(given - decoded) <= tolerance)
        same = (given == decoded) | near
    return np.asarray(different | (~missing & ~same), bool)


def _error_message(name: str, item: Growing, reason: str) -> str:
    coding = item.decoded.encoding
    details = ", ".join(
        f"{key} {coding[key]!r}"
        for key in _CHANGING
        if coding.get(key) is not None and not (key == "dtype" and coding[key] == item.array.dtype)
    )
    return (
        f"cannot append these elements of {name!r} to {item.array.store} {item.array.name!r}: "
        f"{reason}; it is stored as {item.array.dtype}{' with ' if details else ''}{details}. "
        "Create the data with an encoding that can represent them, such as "
        "{'units': 'microseconds since 1970-01-01'} for times"
    )
