"""The encoding of a variable: how its array is stored, in words that can be stored again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from zarr_core import Array

_SHARDING = "sharding_indexed"


def encoding_of(array: Array, dimensions: tuple[str, ...], *, keep_fill_value: bool) -> Any:
    """What ``variable.encoding`` says of an array.

    Parameters
    ----------
    array : Array
        The array.
    dimensions : tuple of str
        Names of its dimensions.
    keep_fill_value : bool
        Whether to note its fill value, which is not the ``_FillValue`` of the variable.

    Notes
    -----
    Codecs are definitions (``{"name": ..., "configuration": ...}``), which this library
    and zarr-python take for new arrays of either version.  The preferred chunks, which are
    those that Dask gets with ``chunks={}``, are the shards if there are any: parallel
    writers of the variable then never meet in one.
    """
    filters, serializer, compressors = _codecs(array)
    chunks, shards = _regular(array.chunks), array.shards
    encoding: dict[str, Any] = {
        "chunks": chunks,
        "preferred_chunks": dict(
            zip(dimensions, chunks if shards is None else _regular(shards), strict=True)
        ),
        "compressors": compressors,
        "filters": filters,
        "shards": None if shards is None else _regular(shards),
    }
    if array.zarr_format == 3:
        encoding["serializer"] = serializer
        if keep_fill_value:
            encoding["fill_value"] = array.fill_value
    if array.dtype.kind == "T":
        encoding["dtype"] = array.dtype
    return encoding


def _codecs(array: Array) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Definitions of the filters, of the serializer, of the compressors; in shards if any."""
    codecs: list[Any] = [codec.to_json() for codec in array.codecs]
    while len(codecs) == 1 and isinstance(codecs[0], dict) and codecs[0]["name"] == _SHARDING:
        codecs = codecs[0]["configuration"]["codecs"]
    first = len(array.filters)
    if array.skipped_extensions or first >= len(codecs):
        return (), "auto", ()
    definitions = [{"name": codec} if isinstance(codec, str) else codec for codec in codecs]
    return tuple(definitions[:first]), definitions[first], tuple(definitions[first + 1 :])


def _regular(lengths: tuple[Any, ...]) -> tuple[Any, ...]:
    """One length for each dimension where all but the last are the same."""
    return tuple(_one(item) if isinstance(item, tuple) else int(item) for item in lengths)


def _one(lengths: tuple[int, ...]) -> Any:
    if not lengths:
        return (0,)  # Dask takes no dimension without chunks
    if len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]:
        return lengths[0]
    return lengths


def decoded_fill_value(value: Any, dtype: np.dtype[Any], decode: Any) -> Any:
    """The attribute ``_FillValue`` of an array of version 3, which is encoded by its type.

    Other writers store a plain number; that is what it is then.
    """
    try:
        return decode(value, dtype)
    except (TypeError, ValueError):
        return value
