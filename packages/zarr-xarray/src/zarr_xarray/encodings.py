"""The encoding of a variable: how its array is stored, in a form that can be stored again."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_xarray import _xarray

if TYPE_CHECKING:
    from collections.abc import Hashable

    from xarray import Variable
    from zarr_core import Array

_SHARDING = "sharding_indexed"


def encoding_of(array: Array, dimensions: tuple[str, ...], *, keep_fill_value: bool) -> Any:
    """Return ``variable.encoding`` for an array.

    Codecs are definitions (``{"name": ..., "configuration": ...}``), which this library and
    zarr-python accept for new arrays of both versions.  The preferred chunks, which Dask uses with
    ``chunks={}``, are the shards if there are any, so that parallel writers never write to the
    same shard.  ``keep_fill_value`` includes the fill value of the array, which is not the
    ``_FillValue`` of the variable.
    """
    filters, serializer, compressors = _codecs(array)
    chunks, shards = _regular_lengths(array.chunks), array.shards
    encoding: dict[str, Any] = {
        "chunks": chunks,
        "preferred_chunks": dict(
            zip(dimensions, chunks if shards is None else _regular_lengths(shards), strict=True)
        ),
        "compressors": compressors,
        "filters": filters,
        "shards": None if shards is None else _regular_lengths(shards),
    }
    if array.zarr_format == 3:
        encoding["serializer"] = serializer
        if keep_fill_value:
            encoding["fill_value"] = array.fill_value
    if array.dtype.kind == "T":
        encoding["dtype"] = array.dtype
    return encoding


def _codecs(array: Array) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Return definitions of filters, serializer and compressors; with shards, the inner ones."""
    codecs: list[Any] = [codec.to_json() for codec in array.codecs]
    while len(codecs) == 1 and isinstance(codecs[0], dict) and codecs[0]["name"] == _SHARDING:
        codecs = codecs[0]["configuration"]["codecs"]
    first = len(array.filters)
    if array.ignored_extensions or first >= len(codecs):
        return (), "auto", ()
    definitions = [{"name": codec} if isinstance(codec, str) else codec for codec in codecs]
    return tuple(definitions[:first]), definitions[first], tuple(definitions[first + 1 :])


def _regular_lengths(lengths: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace the lengths of regular dimensions by one length each."""
    return tuple(
        _regular_length(item) if isinstance(item, tuple) else int(item) for item in lengths
    )


def _regular_length(lengths: tuple[int, ...]) -> Any:
    if not lengths:
        return (0,)  # Dask does not support dimensions without chunks
    if len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]:
        return lengths[0]
    return lengths


def decode_fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Decode the attribute ``_FillValue`` of version 3, which is encoded by data type.

    A plain number, which other writers store, is returned unchanged.
    """
    try:
        if dtype.kind == "S":
            return base64.standard_b64decode(value)
        if dtype.kind in "mM":
            return np.asarray(value, np.int64).astype(dtype)[()]
        return _xarray.FillValueCoder.decode(value, dtype)
    except (TypeError, ValueError):
        return value.encode() if dtype.kind == "S" and isinstance(value, str) else value


def encode_fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Encode the attribute ``_FillValue`` of version 3; text of every data type is a string."""
    if dtype.kind in "OTU" and isinstance(value, str):
        return str(value)
    return _xarray.FillValueCoder.encode(value, dtype)


def without_native_fill_value(variable: Variable) -> Variable:
    """Return times without fill values that are times: those of data types that CF does not have.

    Times are stored as numbers, where NaT has a value of its own.
    """
    if variable.dtype.kind not in "mM":
        return variable
    variable = variable.copy(deep=False)
    for coding in (variable.encoding, variable.attrs):
        for key in ("_FillValue", "missing_value", "fill_value"):
            if isinstance(coding.get(key), np.datetime64 | np.timedelta64):
                del coding[key]
    return variable


def normalize_lengths(name: Hashable, key: str, variable: Variable, *, explicit: bool) -> Any:
    """Return the lengths of chunks or shards in the encoding of a variable; None if automatic.

    As for Dask, -1 is the whole dimension.  Lengths for another number of dimensions are ignored
    if they come from the data; otherwise ValueError, as for lengths that are not positive, and
    TypeError for those that are not integers.
    """
    value = variable.encoding.get(key)
    if value is None or isinstance(value, str | Mapping):
        return None if isinstance(value, str) and value == "auto" and key == "chunks" else value
    lengths = [value] * variable.ndim if np.ndim(value) == 0 else list(value)
    where = f"encoding[{key!r}]={value!r} of the variable {name!r}"
    if len(lengths) != variable.ndim:
        if not explicit:
            return None
        raise ValueError(
            f"{where} has {len(lengths)} lengths for the dimensions {variable.dims}; pass one for each"
        )
    for axis, (dim, size) in enumerate(variable.sizes.items()):
        length = lengths[axis]
        if isinstance(length, list | tuple):
            continue  # xarray raises an error
        if isinstance(length, bool) or not isinstance(length, int | np.integer):
            raise TypeError(f"{where}: {length!r} is not an integer")
        if length < -1 or length == 0:
            raise ValueError(
                f"{where}: {length} is not a length of chunks along {dim!r}; it must be at least "
                "1, or -1 for the whole dimension"
            )
        lengths[axis] = max(1, size) if length == -1 else int(length)
    return tuple(lengths)
