"""Encode elements as they are stored; elements that would be read differently are errors."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import Variable, conventions
from xarray.coders import CFDatetimeCoder

from zarr_xarray import _xarray

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from zarr_core import Array

    NDArray = np.ndarray[Any, Any]

_USUAL_CALENDARS = ("standard", "gregorian", "proleptic_gregorian")
RESOLUTIONS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
"""NumPy's resolution of units of times."""

_FLOAT_PRECISION = np.timedelta64(20, "us")
"""Rounding of times that are stored as double precision days since the year 1."""

_CODING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")
"""Attributes that xarray decodes numbers with."""


@dataclass(frozen=True, slots=True)
class StoredForm:
    """How the elements of a variable are stored."""

    location: str  # the store and the path, for messages
    name: str
    dims: tuple[Hashable, ...]
    dtype: np.dtype[Any]  # of the stored elements
    attributes: Mapping[str, Any]  # that xarray decodes the stored elements with
    encoding: Mapping[str, Any]  # of the decoded variable
    decoded_dtype: np.dtype[Any]
    is_new: bool = False
    """Whether the encoding is that of the variable itself.  It can then round to integers, and mark
    elements as missing."""

    @classmethod
    def of(cls, array: Array, raw: Variable, decoded: Variable) -> StoredForm:
        """Return the form of a stored array, of which ``raw`` and ``decoded`` are the variables."""
        coding = decoded.encoding
        # Bounds of times have the units of the times.
        shared = {key: coding[key] for key in ("units", "calendar") if key in coding}
        return cls(
            f"{array.store} {array.name!r}", array.path.rpartition("/")[2], raw.dims, array.dtype,
            {**shared, **raw.attrs}, coding, decoded.dtype,
        )  # fmt: skip

    @property
    def is_scaled(self) -> bool:
        """Whether numbers are packed."""
        return "scale_factor" in self.encoding or "add_offset" in self.encoding

    @property
    def changes_nothing(self) -> bool:
        """Whether numbers of the stored data type are stored as they are given."""
        if self.dtype.kind not in "biufc" or self.decoded_dtype != self.dtype:
            return False
        coding = {**self.attributes, **self.encoding}
        if any(key in coding for key in ("scale_factor", "add_offset", "_Unsigned")):
            return False
        if self.is_new:
            return True
        fill = coding.get("_FillValue")
        is_nan = self.dtype.kind == "f" and fill is not None and bool(np.isnan(fill))
        return "missing_value" not in coding and (fill is None or is_nan)


def encode_existing(variable: Variable, form: StoredForm) -> Variable:
    """Return a variable in the form of the stored array; chunks of Dask are encoded later.

    The dimensions of the variable are in the stored order.  Raises ValueError as :func:`encode`;
    for chunks of Dask when they are computed, apart from their data type.
    """
    coded = {*_CODING, *(["units"] if "units" in form.encoding else [])}
    if variable.dtype.kind in "biuf" and coded & variable.attrs.keys():
        # The data was read without decoding, perhaps from a store with another encoding.
        variable = conventions.decode_cf_variable(
            form.name, variable, decode_times="units" in coded, decode_timedelta="units" in coded
        )
    if variable.chunks is not None:
        if variable.dtype != object and "units" not in form.encoding:  # xarray needs elements
            encode(np.empty((0,) * variable.ndim, variable.dtype), form)
        data = _xarray.map_chunks(partial(_encode_chunk, form=form), variable.data, form.dtype)
        return Variable(form.dims, data)
    if variable.dtype == form.dtype and form.changes_nothing:
        return Variable(form.dims, variable)
    return Variable(form.dims, encode(variable.values, form))


def check_new(variable: Variable, encoded: Variable, name: Hashable, location: str) -> Variable:
    """Return an encoded variable if xarray decodes its elements to those of the given variable.

    Raises ValueError as :func:`encode`, except that elements can be rounded to integers, and can be
    equal to the fill value that the user chose; for chunks of Dask when they are computed.
    """
    # What the attributes of the variable say about its elements is true already.
    added = {key: encoded.attrs[key] for key in encoded.attrs.keys() - variable.attrs.keys()}
    form = StoredForm(
        location, str(name), variable.dims, encoded.dtype, added,
        {**variable.encoding, "units": added.get("units")}, variable.dtype, is_new=True,
    )  # fmt: skip
    if encoded.dtype == "S1" and encoded.ndim:  # xarray would read the last dimension as one text
        encoded.data = encoded.data.astype("S2")
    is_time = variable.dtype == object and encoded.dtype.kind in "iuf" and "units" in added
    if form.changes_nothing or not (variable.dtype.kind in "mMbiufc" or is_time):
        return encoded  # xarray stores text as it is, and missing text as ""
    if encoded.chunks is None:
        _check(variable.values, np.asarray(encoded.data), form)
    else:
        check = partial(_check_chunk, form=form)
        encoded.data = _xarray.map_chunks(check, variable.data, encoded.dtype, encoded.data)
    return encoded


def encode(values: NDArray, form: StoredForm) -> NDArray:
    """Encode elements, as xarray decodes them, in the form of a stored array.

    Raises ValueError if they cannot be encoded, or if decoding does not return the given ones, apart
    from rounding to the precision of the stored data type or the scale factor.
    """
    if values.dtype == form.dtype and form.changes_nothing:
        return values
    if form.dtype.kind in "mM":  # data types of NumPy that CF does not have
        if values.dtype.kind != form.dtype.kind:
            raise ValueError(_error_message(form, f"their data type is {values.dtype}"))
        data = values.astype(form.dtype)
        if not (is_missing(values) | (data.astype(values.dtype) == values)).all():
            raise ValueError(_error_message(form, _would_be(values, data, data != values)))
        _check(values, data, form)
        return data
    if values.dtype == "S1" and form.dtype == "S2":  # see check_new
        values = values.astype("S2")
    variable = Variable(form.dims, _in_stored_resolution(values, form))
    try:
        _xarray.check_append_dtype(
            form.name, Variable((), np.empty((), form.decoded_dtype)), variable
        )
        variable.encoding = dict(form.encoding)
        data = np.asarray(_xarray.encode_variable(variable, name=form.name).data)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(_error_message(form, f"they cannot be encoded ({error})")) from error
    if not np.can_cast(data.dtype, form.dtype, "same_kind"):
        raise ValueError(_error_message(form, f"their data type is {data.dtype}"))
    data = data.astype(form.dtype, copy=False)
    _check(variable.values, data, form)
    return data


def decode(values: NDArray, form: StoredForm, decode_times: Any = None) -> NDArray:
    """Decode stored elements, as xarray does."""
    decoded = conventions.decode_cf_variable(
        form.name,
        Variable(form.dims, values, dict(form.attributes)),
        stack_char_dim=False,
        decode_times=decode_times or time_decoder(form.attributes),
        decode_timedelta=True if form.decoded_dtype.kind == "m" else None,
    )
    return np.asarray(decoded.values)


def time_decoder(attributes: Mapping[Any, Any]) -> Any:
    """Return ``decode_times`` for attributes; xarray cannot guess it for arrays without elements.

    The times of calendars other than the usual one are never those of NumPy.
    """
    calendar = str(attributes.get("calendar", "standard")).lower()
    return calendar in _USUAL_CALENDARS or CFDatetimeCoder(use_cftime=True)


def _encode_chunk(values: NDArray, form: StoredForm) -> NDArray:
    """Encode a chunk of Dask."""
    with _noting_partial_writes():
        return encode(np.asarray(values), form)


def _check_chunk(values: NDArray, encoded: NDArray, form: StoredForm) -> NDArray:
    """Return encoded elements if they are decoded to the given ones."""
    encoded = np.asarray(encoded).astype(form.dtype)  # xarray's chunks of times may be wider
    with _noting_partial_writes():
        _check(np.asarray(values), encoded, form)
    return encoded


@contextmanager
def _noting_partial_writes() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        error.add_note(
            "chunks of Dask are encoded when they are computed; others may have been stored before"
        )
        raise


def _check(elements: NDArray, encoded: NDArray, form: StoredForm) -> None:
    """Raise ValueError if encoded elements are not decoded to the given ones."""
    try:
        decoded = decode(encoded, form, _decoder_like(elements, form))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(_error_message(form, f"they cannot be decoded ({error})")) from error
    if _time_kind(elements) != _time_kind(decoded):
        reason = f"their data type is {elements.dtype}, and they would be read as {decoded.dtype}"
        raise ValueError(_error_message(form, reason))
    wrong = _differs(elements, decoded, encoded, form)
    if wrong.any():
        raise ValueError(_error_message(form, _would_be(elements, decoded, wrong)))


def _time_kind(values: NDArray) -> str:
    """Return the kind of a data type for times of NumPy; otherwise an empty string."""
    return values.dtype.kind if values.dtype.kind in "mM" else ""


def _decoder_like(elements: NDArray, form: StoredForm) -> Any:
    """Return ``decode_times`` for which times have the data type of the given ones; or None."""
    if elements.dtype == object and elements.size and hasattr(elements.flat[0], "calendar"):
        return CFDatetimeCoder(use_cftime=True)
    unit = np.datetime_data(elements.dtype)[0] if elements.dtype.kind == "M" else ""
    if unit in RESOLUTIONS.values() and time_decoder(form.attributes) is True:
        decoder: Any = CFDatetimeCoder  # the default, nanoseconds, excludes the year 3000
        return decoder(time_unit=unit)
    return None


def _would_be(elements: NDArray, decoded: NDArray, wrong: Any) -> str:
    """Return the first element that would be read differently, as text."""
    one, other = elements[wrong][0], decoded[wrong][0]
    if str(one) == str(other):  # of different types
        one, other = repr(one), repr(other)
    return f"{one} would be read as {other}"


def _in_stored_resolution(values: NDArray, form: StoredForm) -> NDArray:
    """Return times in a resolution that is not coarser than the stored units.

    xarray encodes coarser ones as NaT.
    """
    unit = RESOLUTIONS.get(str(form.encoding.get("units")).partition(" ")[0])
    if values.dtype.kind not in "mM" or unit is None:
        return values
    finer = values.astype(np.result_type(values, np.dtype(f"{values.dtype.kind}8[{unit}]")))
    # NumPy does not report that times are out of range.
    is_equal = is_missing(values) | (finer.astype(values.dtype) == values)
    return finer if is_equal.all() else values


def _differs(elements: NDArray, decoded: NDArray, encoded: NDArray, form: StoredForm) -> NDArray:
    """Return where elements differ by more than the precision of the stored ones."""
    missing = is_missing(elements)
    if form.is_new and not form.is_scaled and elements.dtype.kind in "biuf":
        # The user chose this value for missing elements.
        missing = missing | (is_missing(decoded) & (elements == encoded))
    with np.errstate(invalid="ignore"):
        if elements.dtype.kind in "fc":
            near = np.isfinite(elements) & (
                np.abs(elements - decoded) <= _tolerance(elements, decoded, form)
            )
            same = (elements == decoded) | near
        elif elements.dtype.kind in "biu" and decoded.dtype.kind == "f":
            same = elements == np.where(missing, 0, decoded).astype(elements.dtype)
        elif elements.dtype.kind in "mM" and form.dtype == np.float64:
            same = np.abs(elements - decoded) <= _FLOAT_PRECISION
        else:
            same = elements == decoded
    return np.asarray((missing != is_missing(decoded)) | (~missing & ~same), bool)


def _tolerance(elements: NDArray, decoded: NDArray, form: StoredForm) -> Any:
    """Return how much rounding to the stored data type and scale changes given numbers at most."""
    to_integers = form.dtype.kind in "iu" and (form.is_scaled or form.is_new)
    if not to_integers and form.dtype.kind not in "fc":
        return 0.0
    scale = abs(float(form.encoding.get("scale_factor", 1)))
    offset = abs(float(form.encoding.get("add_offset", 0)))
    rounding = 0.501 * scale if to_integers else float(np.finfo(form.dtype).smallest_subnormal)
    # xarray packs integers in the coarser of both data types.
    dtypes = (elements.dtype, decoded.dtype) if to_integers else (form.dtype,)
    eps = max(float(np.finfo(t).eps) for t in dtypes if t.kind in "fc")
    return rounding + 4 * eps * (np.abs(elements).astype(np.float64) + offset)


def _error_message(form: StoredForm, reason: str) -> str:
    coding = form.encoding
    details = ", ".join(
        f"{key} {coding[key]!r}"
        for key in (*_CODING, "units", "dtype")
        if coding.get(key) is not None and not (key == "dtype" and coding[key] == form.dtype)
    )
    example = ""
    if coding.get("units") is not None or form.decoded_dtype.kind in "mM":
        example = ", such as {'units': 'microseconds since 1970-01-01'}"
    return (
        f"cannot write these elements of {form.name!r} to {form.location}: "
        f"{reason}; it is stored as {form.dtype}{' with ' if details else ''}{details}. "
        f"Create the array with an encoding that can represent them{example}"
    )


def is_missing(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return where elements are NaN, NaT or None."""
    missing: np.ndarray[Any, Any] = np.zeros(values.shape, bool)
    if values.dtype.kind in "mM":
        missing = np.isnat(values)
    elif values.dtype.kind in "fc":
        missing = np.isnan(values)
    elif values.dtype == object:
        flags = [value is None or value != value for value in values.flat]
        missing = np.array(flags, bool).reshape(values.shape)
    return missing
