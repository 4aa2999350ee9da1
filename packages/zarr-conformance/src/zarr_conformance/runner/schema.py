"""Validation of messages of the protocol, with the part of JSON Schema that its schema uses."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "string": (str,),
}


@cache
def protocol_schema() -> dict[str, Any]:
    """Return the schema of the protocol."""
    file = files("zarr_conformance") / "schemas" / "conformance" / "protocol.json"
    return dict(json.loads(file.read_text("utf-8")))


def message_problems(name: str, value: Any) -> list[str]:
    """Return what is wrong with a part of a message.

    Parameters
    ----------
    name : str
        The name of its definition: ``request-open``, ``result-open``, ``response``, ``error``.
    value : JSON
        The part.
    """
    return list(_problems(protocol_schema()["$defs"][name], value, ""))


def _problems(schema: dict[str, Any], value: Any, pointer: str) -> Iterator[str]:
    where = repr(pointer)
    if "$ref" in schema:
        schema = protocol_schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        by_form = [list(_problems(element, value, pointer)) for element in schema["anyOf"]]
        if all(by_form):
            yield from min(by_form, key=len)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where} is {value!r}, expected {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, expected one of {schema['enum']}"
    if "type" in schema and not _has_type(value, schema["type"]):
        yield f"{where} is {value!r}, expected {schema['type']}"
        return
    if isinstance(value, dict):
        yield from _object_problems(schema, value, pointer)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(schema.get("items", {}), item, f"{pointer}/{number}")
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has {len(value)} items"
    if isinstance(value, int) and value < schema.get("minimum", value):
        yield f"{where} is {value}, expected at least {schema['minimum']}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{where} is {value!r}, which does not match {schema['pattern']}"


def _object_problems(schema: dict[str, Any], value: dict[str, Any], pointer: str) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{pointer!r} has no member {name!r}"
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    for name, item in value.items():
        if name not in known and others is False:
            yield f"{pointer!r} has the unknown member {name!r}"
        else:
            yield from _problems(known.get(name, others), item, f"{pointer}/{name}")


def _has_type(value: Any, types: str | list[str]) -> bool:
    names = [types] if isinstance(types, str) else types
    if "integer" in names and isinstance(value, int) and not isinstance(value, bool):
        return True
    return any(isinstance(value, _TYPES.get(name, ())) for name in names)
