"""Groups of the drafts: their metadata documents and their children.

Specification: draft of December 2022, "Group metadata", "Discover children of a group".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    GroupMetadata,
    Location,
    MetadataValidationError,
    ValidationProblem,
    strictjson,
)

from zarr_formats.draft.entry_point import KEY
from zarr_formats.draft.validate import validate_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zarr_core.extension import JSON, Store

    from zarr_formats.draft.keys import Layout

# Keys at the root of hierarchies of other formats.
_OTHERS = (KEY, ".zgroup", ".zarray", "attributes.json", "meta")


def read_group(
    document: dict[str, Any], schema: str, location: Location, *, ignore_unknown: bool
) -> GroupMetadata:
    """Read the document of an explicit group: ``{"group": ...}``."""
    ignore_unknown = ignore_unknown or schema.startswith("draft-2021")
    checked = validate_document(document["group"], schema, location, ignore_unknown=ignore_unknown)
    return GroupMetadata(attributes=checked["attributes"] or {}, document=document)


def write_group(metadata: GroupMetadata) -> JSON:
    """Return the node document of a group; empty for an implicit group without attributes."""
    if metadata.consolidated is not None:
        message = "this format does not support consolidated metadata"
        raise MetadataValidationError(
            "group metadata", [ValidationProblem("/consolidated_metadata", message)]
        )
    if metadata.additional_fields:
        message = "this format does not support extensions of groups"
        raise MetadataValidationError(
            "group metadata",
            [ValidationProblem(f"/{name}", message) for name in metadata.additional_fields],
        )
    kept: dict[str, Any] = metadata.document or {}
    if not kept and metadata.document is not None and not metadata.attributes:
        return {}
    old = kept.get("group", {})
    if strictjson.identical(old.get("attributes") or {}, metadata.attributes) and "group" in kept:
        return kept
    return {**kept, "group": {**old, "attributes": metadata.attributes}}


def children(
    layout: Layout,
    path: str,
    suffix: str,
    keys: Iterable[str],
    prefixes: Iterable[str],
    is_implied: Callable[[str], bool],
) -> set[str]:
    """Return possible names of nodes directly below a group, from the keys and prefixes below it.

    Text: "Any returned key ending in “.array.json” indicates an array", one in
    “.group.json” a group; "any returned prefix indicates a child group implied by
    some descendant".
    """
    below = len(layout.below(path))
    ends = (f".array{suffix}", f".group{suffix}")
    names = {
        key[below:].removesuffix(end) for key in keys for end in ends if key[below:].endswith(end)
    }
    for prefix in prefixes:
        name = prefix[below:-1]
        if name not in names and is_implied(f"{path}/{name}" if path else name):
            names.add(name)
    return names


def other_hierarchy(store: Store) -> str | None:
    """Return a key at the root of a store that belongs to a hierarchy of another format."""
    return next((key for key in _OTHERS if store.exists(key)), None)
