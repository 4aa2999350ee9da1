"""What is to be done for one variable, before anything is stored."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayMetadata, Format, MetadataValidationError

from zarr_xarray import _xarray, documents
from zarr_xarray.variables import fill_value_masks

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from xarray import Variable
    from zarr_core import Array

_OF_ARRAYS = ("chunks", "shards", "compressors", "filters", "serializer", "chunk_key_encoding")


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for all variables that are written together.

    Parameters
    ----------
    format : Format
        The format of new arrays.
    mode : str
        As for :meth:`xarray.Dataset.to_zarr`.
    append_dim : hashable, optional
        The dimension along which arrays grow.
    region : mapping
        The part of stored arrays to write, by dimension.
    safe_chunks, align_chunks : bool
        Whether chunks of Dask are checked against those that are stored, or made to fit.
    keep_empty : bool, optional
        Whether chunks are stored that hold nothing but the fill value.
    """

    format: Format
    mode: str
    append_dim: Hashable | None
    region: Mapping[Any, slice]
    safe_chunks: bool
    align_chunks: bool
    keep_empty: bool | None


@dataclass(frozen=True, slots=True)
class Plan:
    """How one variable is stored.

    Parameters
    ----------
    name : str
        Name of the array.
    variable : Variable
        The elements; those of a chunked array are computed later.
    region : tuple of slice
        Where in the array they belong.
    known : Array, optional
        The array, if it is there.
    shape : tuple of int
        The shape that the array gets.
    metadata : ArrayMetadata, optional
        Those of a new array.
    keep_empty : bool, optional
        Whether chunks are stored that hold nothing but the fill value.
    """

    name: str
    variable: Variable
    region: tuple[slice, ...]
    known: Array | None
    shape: tuple[int, ...]
    metadata: ArrayMetadata | None
    keep_empty: bool | None


def plan(
    name: Hashable, variable: Variable, known: Array | None, rules: Rules, *, explicit: bool
) -> Plan:
    """Decide how a variable is stored.

    Parameters
    ----------
    name : hashable
        Its name in the dataset.
    variable : Variable
        It, encoded.
    known : Array, optional
        The array of that name, if it is there.
    rules : Rules
        What holds for all.
    explicit : bool
        Whether the user gave the encoding; else it came with the variable.

    Raises
    ------
    ValueError
        If chunks of Dask would meet in one stored object, or the encoding is wrong.
    TypeError
        If lengths of chunks are no integers.
    """
    variable = variable.copy(deep=False)
    if variable.encoding.pop("_FillValue", None) is not None:
        raise ValueError(f"xarray left _FillValue in the encoding of {name!r}; it is an attribute")
    attributes, fill_value = _attributes_and_fill_value(variable, rules.format)
    encoding = _xarray.extract_encoding(
        variable, raise_on_invalid=explicit, name=name, zarr_format=rules.format.zarr_format
    )
    if encoding.get("chunks") is None:  # as xarray before 2026.9 has it without zarr-python
        encoding["chunks"] = "auto"
    keep_empty = encoding.get("write_empty_chunks", rules.keep_empty)
    if rules.keep_empty is not None and keep_empty != rules.keep_empty:
        raise ValueError(
            f'Differing "write_empty_chunks" values: {keep_empty} in the encoding of {name!r}, '
            f"{rules.keep_empty} given for all"
        )
    shape, region = _place(variable, known, rules)
    variable = _aligned(name, variable, encoding, shape, region, rules)
    metadata = None
    text = _xarray.encode_name(name)
    if "/" in text:
        raise ValueError(
            f"the variable {name!r} would be in a group below, where it is not found again: "
            "rename it, or write a tree of datasets"
        )
    if known is None:
        rules.format.check_path(text)
        metadata = _draft(name, variable, attributes, fill_value, encoding, rules, explicit)
    return Plan(text, variable, region, known, shape, metadata, keep_empty)


def _attributes_and_fill_value(variable: Variable, format_: Format) -> tuple[dict[str, Any], Any]:
    """The attributes to store, with the fill value of the array or None."""
    attributes = {
        name: value
        for name, value in variable.attrs.items()
        # JSON has no NaN, and that NaN is missing goes without saying.
        if not (name == "missing_value" and _is_nan(value))
    }
    if fill_value_masks(format_.zarr_format, None):
        return attributes, attributes.pop("_FillValue", None)
    fill_value = variable.encoding.pop("fill_value", None)
    if fill_value is None and variable.dtype.kind == "f":
        fill_value = np.nan  # what is missing is no number; Zarr's own default is zero
    missing = attributes.pop("_FillValue", None)
    if missing is not None:
        attributes["_FillValue"] = _xarray.FillValueCoder.encode(missing, variable.dtype)
    return attributes, fill_value


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _place(
    variable: Variable, known: Array | None, rules: Rules
) -> tuple[tuple[int, ...], tuple[slice, ...]]:
    """The shape that the array gets, with the part of it that the variable is."""
    region = [rules.region.get(dim, slice(None)) for dim in variable.dims]
    if known is None:
        return variable.shape, tuple(region)
    shape = list(known.shape)
    if rules.append_dim is not None and rules.append_dim in variable.dims:
        axis = variable.dims.index(rules.append_dim)
        region[axis] = slice(shape[axis], None)
        shape[axis] += variable.shape[axis]
    return tuple(shape), tuple(region)


def _aligned(
    name: Hashable,
    variable: Variable,
    encoding: Mapping[str, Any],
    shape: tuple[int, ...],
    region: tuple[slice, ...],
    rules: Rules,
) -> Variable:
    """The variable, in chunks of which no two meet in one stored object."""
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


def _draft(
    name: Hashable,
    variable: Variable,
    attributes: dict[str, Any],
    fill_value: Any,
    encoding: Mapping[str, Any],
    rules: Rules,
    explicit: bool,
) -> ArrayMetadata:
    stored = {key: _xarray.encode_attribute(value) for key, value in attributes.items()}
    options: dict[str, Any] = {
        "shape": variable.shape,
        "dtype": str if _xarray.vlen_type(variable.dtype) is str else variable.dtype,
        "fill_value": fill_value,
        **_options(name, variable.dtype, encoding, rules.format, explicit),
    }
    if rules.format.zarr_format == 3:
        options["dimension_names"] = variable.dims
    else:
        stored[_xarray.DIMENSION_KEY] = list(variable.dims)
    undefined = fill_value is None and rules.format.zarr_format == 2
    try:
        return documents.draft(rules.format, undefined, attributes=stored, **options)
    except MetadataValidationError as error:
        if not isinstance(error, TypeError):  # nothing is wrong with the attributes
            raise
        raise TypeError(
            f"Invalid attribute in Dataset.attrs or, rather, in those of its variable {name!r}: {error}"
        ) from error


def _options(
    name: Hashable,
    dtype: np.dtype[Any],
    encoding: Mapping[str, Any],
    format_: Format,
    explicit: bool,
) -> dict[str, Any]:
    """What an encoding says about the array, without what its format cannot have.

    An encoding that came along with data of the other version is no wish of the user's.
    """
    options = {key: encoding[key] for key in _OF_ARRAYS if encoding.get(key) is not None}
    for key in ("compressors", "filters"):
        if key in encoding:
            options[key] = encoding[key]  # here None means that there are none
    if isinstance(options["chunks"], tuple):
        options["chunks"] = tuple(max(1, length) for length in options["chunks"])
    serializer = options.get("serializer")
    of_text = isinstance(serializer, dict) and str(serializer.get("name")).startswith("vlen-")
    if of_text and not explicit and dtype.kind not in "TO":
        del options["serializer"]  # it was text of variable length, and has become something else
    foreign: list[str] = []
    if format_.zarr_format == 2:
        foreign = [key for key in ("shards", "chunk_key_encoding") if key in options]
    elif "v2." in repr([options.get(key) for key in ("filters", "compressors")]):
        foreign = ["filters", "compressors"]
    if foreign and not explicit:
        for key in foreign:
            options.pop(key, None)
        warnings.warn(
            f"variable {name!r} came with {', '.join(foreign)} that an array of version "
            f"{format_.zarr_format} cannot have; it is stored without",
            UserWarning,
            stacklevel=2,
        )
    return options
