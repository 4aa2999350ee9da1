"""Metadata of version 2 that the specification does not permit and other libraries read.

The valid form replaces the stored one when the document is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zarr_core.extension import package_schema

from zarr_formats.nonstandard import number_from_text, standard_value

if TYPE_CHECKING:
    from zarr_core.extension import JSON

_NUMBER = re.compile(r"[<>|]?([iuf])[0-9]+", re.ASCII).fullmatch


def standard_array(document: JSON) -> tuple[JSON, tuple[str, ...]]:
    """Return a ``.zarray`` in valid form, and what is not valid in it.

    Problems that have no valid form remain.
    """
    if not isinstance(document, dict):
        return document, ()
    notes: list[str] = []
    standard: dict[str, Any] = dict(document)
    for name in ("filters", "compressor"):
        if name not in document:
            standard[name] = None
            notes.append(f"/{name} is missing and read as null")
    for name in ("shape", "chunks"):
        if type(length := document.get(name)) is int:
            standard[name] = [length]
            notes.append(f"/{name} is {length} and read as [{length}]")
    schema = package_schema("zarr_formats", "format", "v2.array")
    standard, changes = standard_value(schema, standard)
    notes += changes
    value, dtype = document.get("fill_value"), document.get("dtype")
    if isinstance(value, str) and isinstance(dtype, str) and (match := _NUMBER(dtype)):
        number = number_from_text(value, is_integer=match[1] != "f")
        if number is not None and number != value:
            standard["fill_value"] = number
            notes.append(f"/fill_value is {value!r} and read as {number!r}")
    return standard, tuple(notes)
