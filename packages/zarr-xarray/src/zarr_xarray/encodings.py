"""The encoding of a variable: how its array is stored, in a form that can be stored again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
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


def decode_fill_value(value: Any, dtype: np.dtype[Any], decode: Any) -> Any:
    """Decode the attribute ``_FillValue`` of version 3, which is encoded by data type.

    A plain number, which other writers store, is returned unchanged.
    """
    try:
        return decode(value, dtype)
    except (TypeError, ValueError):
        return value
