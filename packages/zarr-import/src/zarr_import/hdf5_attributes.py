"""Convert attributes of HDF5 objects to JSON."""

from __future__ import annotations

import math
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_import.hdf5_types import path_of

if TYPE_CHECKING:
    from zarr_core.extension import JSON

# Internal attributes of the libraries for dimension scales and NetCDF.
_INTERNAL = frozenset({
    "CLASS", "DIMENSION_LABELS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST", "_NCProperties",
    "_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict",
})  # fmt: skip
_SCALE_ONLY = frozenset({"CLASS", "NAME"})  # internal only for dimension scales
_MISSING = ("_FillValue", "missing_value")
_NUMBERS = "biufcS"


def attributes_of(
    h5py: Any, node: Any, *, netcdf: bool, notes: list[str]
) -> tuple[dict[str, JSON], Any]:
    """Return the attributes of a group or dataset as JSON, and the missing value.

    The missing value is the attribute ``_FillValue``, which is not among them, if it has the type of
    the elements; otherwise None.  In ``netcdf`` files, an attribute with one value is a scalar.
    ``notes`` receives differences from the source.
    """
    attributes: dict[str, JSON] = {}
    missing = None
    scale = isinstance(node, h5py.Dataset) and node.is_scale
    for name in node.attrs:
        if name in _INTERNAL and (scale or name not in _SCALE_ONLY):
            continue
        try:
            value = node.attrs[name]
        except Exception as error:  # h5py raises KeyError and RuntimeError, too
            notes.append(f"attribute {name!r} is ignored: it cannot be read ({error})")
            continue
        if isinstance(value, np.ndarray) and value.size == 1 and (netcdf or name in _MISSING):
            value = value.reshape(-1)[0]
        if name == "_FillValue" and _is_element(node, value):
            missing = value
            continue
        if name == "missing_value" and _is_nan(value):
            continue  # NaN is a missing value anyway
        attributes[_text(name)] = _json(h5py, node, name, value, notes)
    return attributes, missing


def _is_element(node: Any, value: Any) -> bool:
    kind = getattr(getattr(node, "dtype", None), "kind", "")
    return isinstance(value, np.generic) and kind in _NUMBERS and value.dtype.kind == kind


def _is_nan(value: Any) -> bool:
    return isinstance(value, np.floating) and math.isnan(value)


def _json(h5py: Any, node: Any, name: str, value: Any, notes: list[str]) -> JSON:
    """Convert one value, or all of an array, to JSON."""

    def note(what: str) -> None:
        if (line := f"attribute {name!r}: {what}") not in notes:
            notes.append(line)

    def convert(value: Any) -> JSON:
        if isinstance(value, str):
            if (text := _text(value)) != value:
                note("is not UTF-8; read as Latin-1")
            return text
        if isinstance(value, bytes):
            try:
                return value.decode("utf-8")
            except UnicodeDecodeError:
                note("is not UTF-8; read as Latin-1")
                return value.decode("latin-1")
        if isinstance(value, h5py.Empty):
            return "" if value.dtype.kind in "SO" else None
        if isinstance(value, h5py.RegionReference):
            note("refers to a region of a dataset; stored as the path of the dataset")
            return path_of(node.file, value)
        if isinstance(value, h5py.Reference):
            note("is a reference; stored as the path in the source")
            return path_of(node.file, value)
        if isinstance(value, np.ndarray):
            return [convert(item) for item in value]
        if isinstance(value, np.void) and value.dtype.names:
            return {field: convert(value[field]) for field in value.dtype.names}
        if isinstance(value, np.void):
            note("is opaque; stored as base64")
            return b64encode(value.tobytes()).decode()
        if isinstance(value, np.datetime64 | np.timedelta64):
            return str(value)
        return number(value)

    def number(value: Any) -> JSON:
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, complex):
            note("is complex; stored as real and imaginary part")
            return [number(plain.real), number(plain.imag)]
        if isinstance(plain, bool | int):
            return plain
        plain = float(plain)  # also converts long doubles
        if math.isfinite(plain):
            return plain
        note(f"{plain} is not valid JSON; stored as a string")
        return "NaN" if math.isnan(plain) else "Infinity" if plain > 0 else "-Infinity"

    return convert(value)


def _text(value: str) -> str:
    """Decode a string with surrogates, which represent bytes that are not UTF-8, as Latin-1."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value
