"""Metadata of version 3 that the specification does not permit and other libraries read.

The core calls :func:`standard_form` for a document, and :func:`standard_value` for the configuration
of an extension, if it is not valid.  Only forms with one meaning have a valid form here.  It replaces
the stored one when the node is changed.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from zarr_core.extension import json_pointer, package_schema, strictjson
from zarr_core.metadata.validation import GROUP_MEMBERS, is_fill_value, too_many_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON, Schema

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
_MEMBERS = frozenset(["name", "configuration"])  # of the definition of an extension


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
    schema = package_schema("zarr_core", "core", str(kind))
    standard, changes = standard_value(schema, standard)
    if any(note.startswith("/data_type/") for note in changes):
        return None
    notes += changes
    grid: Any = standard.get("chunk_grid")
    configuration = grid.get("configuration") if isinstance(grid, dict) else None
    if isinstance(configuration, dict) and _has_fractions(configuration.get("chunk_shape")):
        lengths = [int(length) for length in configuration["chunk_shape"]]
        standard["chunk_grid"] = grid | {"configuration": configuration | {"chunk_shape": lengths}}
        notes += [
            f"/chunk_grid/configuration/chunk_shape/{axis} is {length} and read as {lengths[axis]}"
            for axis, length in enumerate(configuration["chunk_shape"])
            if type(length) is not int
        ]
    data_type, value = standard.get("data_type"), standard.get("fill_value")
    if kind == "array" and not is_fill_value(data_type, value):
        usual = standard_fill_value(str(data_type), value)
        if usual is not None:
            standard["fill_value"] = usual
            notes.append(f"/fill_value is {value!r} and read as {usual!r}")
    return standard, tuple(notes)


def standard_value(schema: Schema, value: Any, pointer: str = "") -> tuple[Any, list[str]]:
    """Return a value with integers instead of ``5.0``, and without nulls and unknown members.

    In JSON Schema, any number with a fraction of zero is an integer.  Members that extension
    definitions do not have are removed, and members that are null and must not be; missing ones
    get their default.  The second result says what was changed; ``pointer`` is put before
    every JSON pointer.
    """
    if schema.accepts(value):
        return value, []
    standard = _copy(value)
    notes: dict[str, None] = {}
    for error in _leaves(schema.errors(value)):
        if not error.absolute_path:  # the value itself
            members: Any = schema.document
            for name in error.validator_value if error.validator == "required" else ():
                member = members.get("properties", {}).get(name, {})
                if name not in standard and "default" in member:
                    standard[name] = member["default"]
                    notes[f"{pointer}/{name} is missing and read as {standard[name]}"] = None
            continue
        *parents, last = error.absolute_path
        parent = standard
        for key in parents:
            parent = parent[key]
        location = pointer + json_pointer(*error.absolute_path)
        if error.validator == "type" and "integer" in error.validator_value:
            if isinstance(error.instance, float) and strictjson.is_whole(error.instance):
                parent[last] = int(error.instance)
                notes[f"{location} is {error.instance} and read as {parent[last]}"] = None
        elif error.instance is None and "/configuration/" in location and isinstance(last, str):
            parent.pop(last, None)
            notes[f"{location} is null and read as absent"] = None
        elif (
            error.validator == "additionalProperties"
            and {*error.schema.get("properties", ())} >= _MEMBERS
        ):
            for name in error.instance.keys() - error.schema["properties"].keys():
                parent[last].pop(name, None)
                notes[f"{location}{json_pointer(name)} is not valid there and ignored"] = None
    return standard, sorted(notes)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return [*map(_copy, value)] if isinstance(value, list) else value


def _leaves(errors: list[Any]) -> Iterator[Any]:
    """Iterate over errors, and over those of each form instead of those of all forms."""
    for error in errors:
        if error.context:
            yield from _leaves(error.context)
        else:
            yield error


def _has_fractions(lengths: JSON) -> bool:
    """Whether a chunk shape has integers written as ``5.0``, and no other fractions."""
    if not isinstance(lengths, list) or {*map(type, lengths)} <= {int}:
        return False
    return all(
        type(length) is int or (isinstance(length, float) and strictjson.is_whole(length))
        for length in lengths
    )


def standard_fill_value(data_type: str, value: JSON) -> JSON:
    """Return the JSON form of the fill value of a number or bool in another form; None if unclear."""
    if isinstance(value, str) and data_type != "bool":
        return number_from_text(value, is_integer="int" in data_type)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not strictjson.is_whole(value):
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
