"""Metadata of version 3 that the specification does not permit and other libraries read.

Only forms with one meaning have a valid form here.  It replaces the stored one when the node is
changed.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.metadata.schema import core_schema
from zarr_core.metadata.validation import (
    GROUP_MEMBERS,
    has_fractions,
    is_fill_value,
    too_many_items,
)
from zarr_core.strictjson import is_whole

if TYPE_CHECKING:
    from zarr_core.definition import JSON

# Optional members that are null, or another empty value, instead of absent.
_ABSENT: dict[str, tuple[JSON, ...]] = {
    "attributes": (None,),
    "dimension_names": (None,),
    "storage_transformers": (None, {}),
    "consolidated_metadata": ({},),
}
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}", re.ASCII).fullmatch
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII
).fullmatch
_NAMED = {
    "nan": "NaN",
    "inf": "Infinity",
    "infinity": "Infinity",
    "-inf": "-Infinity",
    "-infinity": "-Infinity",
}


def standard_form(document: JSON) -> tuple[dict[str, JSON], tuple[str, ...]] | None:
    """Return a document in valid form, and what is not valid in it; None if it is not a node.

    Problems that have no valid form remain.
    """
    if not isinstance(document, dict) or too_many_items(document):
        return None
    notes: list[str] = []
    standard = dict(document)
    if "node_type" not in document and document.keys() <= {*GROUP_MEMBERS}:
        standard["node_type"] = "group"
        notes.append("/node_type is missing and read as 'group'")
    kind = standard.get("node_type")
    if kind not in ("array", "group"):
        return None
    for name, values in _ABSENT.items():
        if name in standard and (value := standard[name]) in values:
            del standard[name]
            notes.append(f"/{name} is {strictjson.encode(value).decode()} and read as absent")
    standard, changes = core_schema(str(kind)).standard_form(standard)
    if any(note.startswith("/data_type/") for note in changes):
        return None
    notes += changes
    grid: Any = standard.get("chunk_grid")
    configuration = grid.get("configuration") if isinstance(grid, dict) else None
    if isinstance(configuration, dict) and has_fractions(configuration.get("chunk_shape")):
        lengths = [int(length) for length in configuration["chunk_shape"]]
        standard["chunk_grid"] = grid | {"configuration": configuration | {"chunk_shape": lengths}}
        notes += [
            f"/chunk_grid/configuration/chunk_shape/{axis} is {length} and read as {lengths[axis]}"
            for axis, length in enumerate(configuration["chunk_shape"])
            if type(length) is not int
        ]
    data_type, value = standard.get("data_type"), standard.get("fill_value")
    if kind == "array" and not is_fill_value(data_type, value):
        standard_value = standard_fill_value(str(data_type), value)
        if standard_value is not None:
            standard["fill_value"] = standard_value
            notes.append(f"/fill_value is {value!r} and read as {standard_value!r}")
    return standard, tuple(notes)


def standard_fill_value(data_type: str, value: JSON) -> JSON:
    """Return the JSON form of the fill value of a number or bool in another form; None if unclear."""
    if isinstance(value, str) and data_type != "bool":
        return number_from_text(value, is_integer="int" in data_type)
    if isinstance(value, bool) or not isinstance(value, int | float) or not is_whole(value):
        return None
    if data_type != "bool":
        return int(value)
    return bool(value) if value in (0, 1) else None


def number_from_text(text: str, *, is_integer: bool) -> JSON:
    """Return the fill value that is written as a string, such as ``"0"``; None if it is not one."""
    text = text.strip()
    if is_integer:
        return int(text) if _INTEGER(text) else None
    if _DECIMAL(text):
        return float(text) if math.isfinite(float(text)) else None
    return _NAMED.get(text.lower().removeprefix("+"))
