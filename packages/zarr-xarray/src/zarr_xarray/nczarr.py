"""What netCDF-C notes beside arrays of version 2, which it calls NCZarr.

Releases before 4.9.3 have the notes in ``.zarray``, in capitals; later ones among the attributes.
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
"""The name of the only dimension, of length one, of what has none."""


def notes_of(array: Array, attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """What netCDF-C notes of an array, if it wrote it.

    Parameters
    ----------
    array : Array
        The array.
    attributes : mapping
        Its attributes.
    """
    document: Any = (array.metadata.document or {}).get(".zarray")
    for place in (attributes, document):
        for name in _ARRAY if isinstance(place, dict) else ():
            if isinstance(place.get(name), dict):
                found: dict[str, Any] = place[name]
                return found
    return None


def dimensions_in(notes: Mapping[str, Any] | None) -> list[str] | None:
    """Last parts of the names of the dimensions, which are paths of groups."""
    for name in _REFERENCES if notes else ():
        references = notes.get(name) if notes else None
        if isinstance(references, list) and references:
            return [str(reference).rpartition("/")[2] for reference in references]
    return None


def typed(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with the types that netCDF-C notes for them; JSON has fewer."""
    types: dict[str, Any] = {}
    for name in _ATTRIBUTES:
        notes = attributes.get(name)
        if isinstance(notes, dict) and isinstance(notes.get("types"), dict):
            types = notes["types"]
    found = {name: _typed(value, types.get(name)) for name, value in attributes.items()}
    if found.get("_Unsigned") is True:  # a text for netCDF, which writes it as it looks
        found["_Unsigned"] = "true"
    return found


def _typed(value: Any, kind: Any) -> Any:
    if kind == _TEXT:
        return value if isinstance(value, str) else strictjson.encode(value).decode()
    if not isinstance(kind, str) or kind[1:2] not in ("i", "u", "f"):
        return value
    try:
        numbers = np.asarray(value, np.dtype(kind))
    except (TypeError, ValueError, OverflowError):
        return value  # notes may be wrong
    return numbers if numbers.ndim else numbers[()]
