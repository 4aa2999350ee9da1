"""NCZarr, the convention of netCDF-C for metadata of version 2.

Releases before 4.9.3 store it in ``.zarray``, in capitals; later ones in the attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import strictjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Array

_ARRAY = ("_nczarr_array", "_NCZARR_ARRAY")
_ATTRIBUTES = ("_nczarr_attr", "_NCZARR_ATTR")
_REFERENCES = ("dimension_references", "dimrefs", "dimensions")
_TEXT = ">S1"

SCALAR = "_scalar_"
"""The name of the dimension, of length one, that scalars have."""


def nczarr_metadata(array: Array, attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the NCZarr metadata of an array, or None."""
    document: Any = (array.metadata.document or {}).get(".zarray")
    for mapping in (attributes, document):
        for name in _ARRAY if isinstance(mapping, dict) else ():
            if isinstance(mapping.get(name), dict):
                metadata: dict[str, Any] = mapping[name]
                return metadata
    return None


def references_of(metadata: Mapping[str, Any] | None) -> list[str] | None:
    """Return the names of the dimensions that NCZarr metadata refers to; a scalar refers to none."""
    for name in _REFERENCES if metadata else ():
        references = metadata.get(name) if metadata else None
        if isinstance(references, list):
            return [str(item).rpartition("/")[2] for item in references] or [SCALAR]
    return None


def typed_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Convert attributes to the types in NCZarr metadata; JSON has fewer types."""
    types: dict[str, Any] = {}
    for name in _ATTRIBUTES:
        metadata = attributes.get(name)
        if isinstance(metadata, dict) and isinstance(metadata.get("types"), dict):
            types = metadata["types"]
    typed = {name: _typed(value, types.get(name)) for name, value in attributes.items()}
    if typed.get("_Unsigned") is True:  # netCDF writes the text "true" as a JSON boolean
        typed["_Unsigned"] = "true"
    return typed


def _typed(value: Any, dtype: Any) -> Any:
    if dtype == _TEXT:
        return value if isinstance(value, str) else strictjson.encode(value).decode()
    if not isinstance(dtype, str) or dtype[1:2] not in ("i", "u", "f"):
        return value
    try:
        numbers = np.asarray(value, np.dtype(dtype))
    except (TypeError, ValueError, OverflowError):
        return value  # the metadata may be wrong
    return numbers if numbers.ndim else numbers[()]
