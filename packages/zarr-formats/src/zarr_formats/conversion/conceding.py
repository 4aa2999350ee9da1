"""What can be given up where a format has no words for it, with a note to the user."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from zarr_core import MemoryStore
from zarr_core.extension import ArrayMetadata, GroupMetadata, ZarrError, json_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import JSON, Format, Problem

M = TypeVar("M", ArrayMetadata, GroupMetadata)


def conceded(
    metadata: ArrayMetadata, problems: Iterable[Problem]
) -> tuple[ArrayMetadata | None, str]:
    """Metadata that say a little less, if that may help, with a note.

    Parameters
    ----------
    metadata : ArrayMetadata
        What a format has refused.
    problems : iterable of Problem
        Why.

    Returns
    -------
    metadata : ArrayMetadata or None
        None if nothing more can be given up.
    note : str
    """
    about = {member for problem in problems for member in problem.pointer.split("/")}
    if "fill_value" in about and metadata.fill_value_undefined:
        note = (
            f"the fill value was not defined and becomes {metadata.fill_value!r}, as which chunks "
            "that are not stored were read"
        )
        return metadata.replace(fill_value_undefined=False), note
    if "data_type" in about and metadata.data_type_fallbacks:
        names = ", ".join(definition.name for definition in metadata.data_type_fallbacks)
        note = f"there is no place for what others may read instead of the data type: {names}"
        return metadata.replace(data_type_fallbacks=()), note
    if "attributes" in about:
        attributes, changed = finite(metadata.attributes)
        if changed:
            return metadata.replace(attributes=attributes), infinities(changed)
    return None, ""


def finite(attributes: dict[str, JSON]) -> tuple[dict[str, JSON], list[str]]:
    """Attributes with strings for the numbers that JSON does not have.

    Returns
    -------
    attributes : dict
        The same, with ``"NaN"``, ``"Infinity"``, ``"-Infinity"``.
    changed : list of str
        JSON pointers of these.
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


def storable(format_: Format, metadata: M) -> tuple[M, list[str]]:
    """Metadata that a format has read, such as it writes them, with notes on what has changed.

    Version 3 has numbers in attributes that JSON does not have where others have put them.
    """
    try:
        format_.create(MemoryStore(), "", metadata)
    except ZarrError:
        attributes, changed = finite(metadata.attributes)
        if changed:
            return metadata.replace(attributes=attributes), [infinities(changed)]
    return metadata, []


def infinities(changed: list[str]) -> str:
    """The note on numbers in attributes that became strings."""
    places = ", ".join(changed)
    return f"numbers in attributes that JSON does not have become strings: {places}"
