"""Plans for writing variables, created before anything is stored."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import MemoryStore, array_from_metadata
from zarr_core.extension import ArrayMetadata, MetadataValidationError, strictjson
from zarr_core.hierarchy.create_node import check_reserved_names

from zarr_xarray import _xarray
from zarr_xarray.encodings import encode_fill_value, normalize_lengths
from zarr_xarray.variables import is_fill_value_mask

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from xarray import Variable
    from zarr_core import Array
    from zarr_core.extension import Format

    from zarr_xarray.target import Target

_CREATION_OPTIONS = (
    "chunks",
    "shards",
    "compressors",
    "filters",
    "serializer",
    "chunk_key_encoding",
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Options for all variables that are written together, as for :meth:`xarray.Dataset.to_zarr`."""

    mode: str
    append_dim: Hashable | None = None
    safe_chunks: bool = True
    align_chunks: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """How one variable is stored."""

    name: str
    variable: Variable  # elements; those of a chunked array are computed later
    region: tuple[slice, ...]  # the part of the array to write
    existing: Array | None
    shape: tuple[int, ...]  # the new one
    metadata: ArrayMetadata | None  # of a new array
    write_empty_chunks: bool | None


def plan(
    name: Hashable,
    variable: Variable,
    existing: Array | None,
    rules: Rules,
    target: Target,
    region: Mapping[Any, slice],
    *,
    explicit: bool,
) -> Plan:
    """Plan how to store an encoded variable, in the array of its name if one exists.

    ``region`` has the part of the array to write, by dimension.  ``explicit`` tells whether the user passed the encoding; otherwise it comes from the variable.
    ValueError if two chunks of Dask overlap the same stored chunk, or the encoding is invalid.
    """
    variable = variable.copy(deep=False)
    if variable.encoding.pop("_FillValue", None) is not None:
        raise ValueError(
            f"the encoding of {name!r} contains _FillValue, which should be an attribute by now"
        )
    format_ = target.format
    attributes, fill_value = _attributes_and_fill_value(variable, format_, explicit)
    for key in ("chunks", "shards"):
        lengths = normalize_lengths(name, key, variable, explicit=explicit)
        variable.encoding[key] = lengths
    encoding = _xarray.extract_encoding(
        variable, raise_on_invalid=explicit, name=name, zarr_format=format_.zarr_format
    )
    if encoding.get("chunks") is None:  # so does xarray before 2026.9 without zarr-python
        encoding["chunks"] = "auto"
    write_empty_chunks = encoding.get("write_empty_chunks", target.write_empty_chunks)
    if target.write_empty_chunks not in (None, write_empty_chunks):
        raise ValueError(
            f'Differing "write_empty_chunks" values: {write_empty_chunks} in the encoding of {name!r}, '
            f"{target.write_empty_chunks} as argument of to_zarr"
        )
    shape, selection = _shape_and_selection(variable, existing, rules.append_dim, region)
    variable = _fit_to_grid(name, variable, encoding, shape, selection, rules)
    metadata = None
    text = _xarray.encode_name(name)
    if "/" in text:
        raise ValueError(
            f"cannot store the variable {name!r}: '/' in its name would put it in a subgroup; "
            "rename it, or write a tree of datasets"
        )
    if existing is None:
        format_.check_path(text)
        check_reserved_names(format_, [text])
        metadata = _new_metadata(
            name, variable, attributes, fill_value, encoding, format_, explicit
        )
    return Plan(text, variable, selection, existing, shape, metadata, write_empty_chunks)


def _attributes_and_fill_value(
    variable: Variable, format_: Format, explicit: bool
) -> tuple[dict[str, Any], Any]:
    """Return the attributes to store, and the fill value of the array or None."""
    attributes = {
        name: value
        for name, value in variable.attrs.items()
        # NaN is not valid JSON, and NaN is a missing value anyway.
        if not (name == "missing_value" and _is_nan(value))
    }
    if is_fill_value_mask(format_.zarr_format, None):
        return attributes, attributes.pop("_FillValue", None)
    fill_value = variable.encoding.pop("fill_value", None)
    if not explicit and not _is_number_of(variable.dtype, fill_value):
        fill_value = None  # of another data type, which the array was read from
    if fill_value is None and variable.dtype.kind == "f":
        fill_value = np.nan  # missing elements are NaN; Zarr's own default is zero
    missing = attributes.pop("_FillValue", None)
    if missing is not None:
        attributes["_FillValue"] = encode_fill_value(missing, variable.dtype)
    return attributes, fill_value


def _is_number_of(dtype: np.dtype[Any], value: Any) -> bool:
    """Whether a value is a number of the data type; true for data types without numbers."""
    if dtype.kind not in "iufc" or value is None:
        return True
    value = np.asarray(value)
    with np.errstate(all="ignore"):
        return value.dtype.kind in "biufc" and (
            dtype.kind in "fc" or bool(value.astype(dtype) == value)
        )


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _shape_and_selection(
    variable: Variable,
    existing: Array | None,
    append_dim: Hashable | None,
    region: Mapping[Any, slice],
) -> tuple[tuple[int, ...], tuple[slice, ...]]:
    """Return the new shape of the array, and the part of it that the variable is written to."""
    selection = [region.get(dim, slice(None)) for dim in variable.dims]
    if existing is None:
        return variable.shape, tuple(selection)
    shape = list(existing.shape)
    if append_dim is not None and append_dim in variable.dims:
        axis = variable.dims.index(append_dim)
        selection[axis] = slice(shape[axis], None)
        shape[axis] += variable.shape[axis]
    return tuple(shape), tuple(selection)


def _fit_to_grid(
    name: Hashable,
    variable: Variable,
    encoding: Mapping[str, Any],
    shape: tuple[int, ...],
    region: tuple[slice, ...],
    rules: Rules,
) -> Variable:
    """Check or rechunk a variable so that no two of its chunks overlap one stored object."""
    grid = encoding.get("shards") or encoding["chunks"]
    if not isinstance(grid, tuple) or 0 in grid:
        return variable
    if rules.align_chunks:
        aligned: Variable = _xarray.rechunk_to_grid(v=variable, enc_chunks=grid, region=region)
        return aligned
    if rules.safe_chunks:
        _xarray.check_alignment(
            nd_v_chunks=variable.chunks,
            enc_chunks=grid,
            region=region,
            allow_partial_chunks=rules.mode != "r+",
            name=name,
            backend_shape=shape,
        )
    return variable


def _new_metadata(
    name: Hashable,
    variable: Variable,
    attributes: dict[str, Any],
    fill_value: Any,
    encoding: Mapping[str, Any],
    format_: Format,
    explicit: bool,
) -> ArrayMetadata:
    stored = {
        # As xarray with zarr-python writes them: NaN and infinities are tokens, not valid JSON.
        key: strictjson.keep_nonfinite(_xarray.encode_attribute(value))
        for key, value in attributes.items()
    }
    options: dict[str, Any] = {
        "shape": variable.shape,
        "dtype": str if _xarray.vlen_type(variable.dtype) is str else variable.dtype,
        "fill_value": fill_value,
        **_options(name, variable.dtype, encoding, format_, explicit),
    }
    if format_.zarr_format == 3:
        options["dimension_names"] = variable.dims
    else:
        stored[_xarray.DIMENSION_KEY] = list(variable.dims)
    try:
        return array_from_metadata(
            MemoryStore(), zarr_format=format_.name, attributes=stored, **options
        ).metadata
    except MetadataValidationError as error:
        if not isinstance(error, TypeError):  # the attributes are valid
            raise
        raise TypeError(
            f"Invalid attribute in Dataset.attrs, of its variable {name!r}: {error}"
        ) from error


def _options(
    name: Hashable,
    dtype: np.dtype[Any],
    encoding: Mapping[str, Any],
    format_: Format,
    explicit: bool,
) -> dict[str, Any]:
    """Return the options of an encoding for a new array.

    Unsupported options are ignored if the encoding comes from data of the other version.
    """
    options = {key: encoding[key] for key in _CREATION_OPTIONS if encoding.get(key) is not None}
    for key in ("compressors", "filters"):
        if key in encoding:
            options[key] = encoding[key]  # None means no codecs
    if isinstance(options["chunks"], tuple):
        options["chunks"] = tuple(max(1, length) for length in options["chunks"])
    serializer = options.get("serializer")
    of_text = isinstance(serializer, dict) and str(serializer.get("name")).startswith("vlen-")
    if of_text and not explicit and dtype.kind not in "TO":
        del options["serializer"]  # the variable is no longer variable-length text
    foreign: list[str] = []
    if format_.zarr_format == 2:
        foreign = [key for key in ("shards", "chunk_key_encoding") if key in options]
    elif "v2." in repr([options.get(key) for key in ("filters", "compressors")]):
        foreign = ["filters", "compressors"]
    if foreign and not explicit:
        for key in foreign:
            options.pop(key, None)
        warnings.warn(
            f"{', '.join(foreign)} in the encoding of {name!r} not supported in version "
            f"{format_.zarr_format}; ignored",
            UserWarning,
            stacklevel=2,
        )
    return options
