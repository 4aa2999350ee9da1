"""Groups of the drafts: their documents, what is found below them.

Specification: draft of December 2022, "Group metadata", "Discover children of a group".
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    GroupMetadata,
    MetadataValidationError,
    Problem,
    strictjson,
)

from zarr_formats.draft.checked import checked
from zarr_formats.draft.entry_point import KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from zarr_core.extension import JSON, Store

    from zarr_formats.draft.keys import Layout

# Keys at the root of hierarchies of other formats.
_OTHERS = (KEY, ".zgroup", ".zarray", "attributes.json", "meta")


def read_group(
    document: dict[str, Any], schema: str, where: str, *, ignoring: bool
) -> GroupMetadata:
    """Read the document of an explicit group.

    Parameters
    ----------
    document : dict
        The node document: ``{"group": ...}``.
    schema : str
        Name of its schema.
    where : str
        Store and key, for errors.
    ignoring : bool
        Whether unknown members are ignored.

    Raises
    ------
    MetadataError
        If it is wrong, or has unknown members.
    """
    ignoring = ignoring or schema.startswith("draft-2021")
    found = checked(document["group"], schema, where, ignoring=ignoring)
    return GroupMetadata(attributes=found["attributes"] or {}, document=document)


def write_group(metadata: GroupMetadata) -> JSON:
    """The node document of a group; empty for one that is implied and has no attributes.

    Raises
    ------
    MetadataValidationError
        If the group has what these formats have no words for.
    """
    if metadata.consolidated is not None:
        message = "this format has no consolidated metadata"
        raise MetadataValidationError(
            "group metadata", [Problem("/consolidated_metadata", message)]
        )
    if metadata.additional_fields:
        message = "groups have no extensions in this format"
        raise MetadataValidationError(
            "group metadata", [Problem(f"/{name}", message) for name in metadata.additional_fields]
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
    """What may be names of nodes directly below a group.

    Text: "Any returned key ending in “.array.json” indicates an array", one in
    “.group.json” a group; "any returned prefix indicates a child group implied by
    some descendant".

    Parameters
    ----------
    layout, path, suffix
        The group.
    keys, prefixes : iterable of str
        What the store lists below it.
    is_implied : callable
        Whether there is a node below the path of a prefix.
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
    """A key at the root of a store that belongs to a hierarchy of another format."""
    return next((key for key in _OTHERS if store.exists(key)), None)


def lies_in(key: str, prefixes: Collection[str]) -> bool:
    """Whether a key lies below one of some prefixes, each of which ends in ``/``."""
    ancestors = accumulate(key.split("/")[:-1], lambda before, name: f"{before}{name}/", initial="")
    return not set(prefixes).isdisjoint(ancestors)
