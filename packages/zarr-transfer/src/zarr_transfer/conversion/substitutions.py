"""Substitutions for metadata that a format does not support, with notes."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from zarr_core import MemoryStore
from zarr_core.extension import ArrayMetadata, GroupMetadata, ZarrError
from zarr_core.tools import json_pointer, strictjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import JSON, Format, ValidationProblem

    NodeMetadata = ArrayMetadata | GroupMetadata

M = TypeVar("M", ArrayMetadata, GroupMetadata)


def substitute(
    metadata: ArrayMetadata, problems: Iterable[ValidationProblem]
) -> tuple[ArrayMetadata | None, str]:
    """Return rejected metadata with one substitution that may solve a problem, and a note.

    The metadata is None if no substitution is possible.
    """
    about = {member for problem in problems for member in problem.pointer.split("/")}
    if "fill_value" in about and metadata.fill_value_undefined:
        note = (
            f"the fill value was not defined and becomes {metadata.fill_value!r}, which is how "
            "missing chunks were read"
        )
        return metadata.replace(fill_value_undefined=False), note
    if "data_type" in about and metadata.data_type_fallbacks:
        names = ", ".join(definition.name for definition in metadata.data_type_fallbacks)
        note = f"fallback data types are not supported and are removed: {names}"
        return metadata.replace(data_type_fallbacks=()), note
    if "attributes" in about:
        attributes, changed = finite(metadata.attributes)
        if changed:
            return metadata.replace(attributes=attributes), infinities(changed)
    return None, ""


def finite(attributes: dict[str, JSON]) -> tuple[dict[str, JSON], list[str]]:
    """Return attributes with strings for NaN and infinities, and JSON pointers of these strings.

    The strings are ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.
    """
    changed: list[str] = []

    def visit(value: JSON, pointer: str) -> JSON:
        if isinstance(value, dict):
            return {name: visit(item, pointer + json_pointer(name)) for name, item in value.items()}
        if isinstance(value, list):
            return [visit(item, f"{pointer}/{number}") for number, item in enumerate(value)]
        if isinstance(value, float) and not isfinite(value):
            changed.append(pointer)
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        return value

    return {name: visit(value, json_pointer(name)) for name, value in attributes.items()}, changed


def with_json_floats(metadata: NodeMetadata) -> NodeMetadata:
    """Return metadata with plain floats for NaN and infinities in attributes.

    Version 3 keeps such values of other writers.  A conversion does not: version 3 rejects plain
    floats, and :func:`finite` replaces them.
    """
    return metadata.replace(attributes=strictjson.plain_floats(metadata.attributes))


def storable(format_: Format, metadata: M) -> tuple[M, list[str]]:
    """Return metadata as the format that has read it can write it, with notes on changes."""
    try:
        format_.create(MemoryStore(), "", metadata)
    except ZarrError:
        attributes, changed = finite(metadata.attributes)
        if changed:
            return metadata.replace(attributes=attributes), [infinities(changed)]
    return metadata, []


def infinities(changed: list[str]) -> str:
    """Return the note on numbers in attributes that become strings."""
    names = ", ".join(changed)
    return f"numbers in attributes that JSON does not have become strings: {names}"
