"""Dimension names in formats without them: the attribute of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ArrayMetadata

ATTRIBUTE = "_ARRAY_DIMENSIONS"
"""The attribute in which xarray stores dimension names in version 2."""


def dimension_names(metadata: ArrayMetadata) -> tuple[str | None, ...]:
    """Return the dimension names of an array, from its metadata or the attribute."""
    names = stored_names(metadata)
    return (None,) * metadata.ndim if names is None else names


def stored_names(metadata: ArrayMetadata) -> tuple[str | None, ...] | None:
    """Return the dimension names of an array; None if it has neither the field nor the attribute."""
    names = metadata.dimension_names
    attribute = metadata.attributes.get(ATTRIBUTE)
    if names is None and isinstance(attribute, list) and len(attribute) == metadata.ndim:
        names = tuple(name if isinstance(name, str) else None for name in attribute)
    return None if names is None else tuple(names)


def name_candidates(metadata: ArrayMetadata) -> Iterator[tuple[ArrayMetadata, str]]:
    """Iterate over representations of the dimension names, the best first, each with a note.

    Names are either a field of the metadata (version 3) or the attribute.
    """
    names = metadata.dimension_names
    attribute = metadata.attributes.get(ATTRIBUTE)
    listed = (
        isinstance(attribute, list)
        and len(attribute) == metadata.ndim
        and all(isinstance(name, str) for name in attribute)
    )
    rest = {name: value for name, value in metadata.attributes.items() if name != ATTRIBUTE}
    if listed and (names is None or list(names) == attribute):
        assert isinstance(attribute, list)
        inside = metadata.replace(dimension_names=tuple(attribute), attributes=rest)
        note = f"the attribute {ATTRIBUTE} becomes dimension_names"
        yield inside, "" if names is not None else note
        yield metadata.replace(dimension_names=None), ""
        return
    yield metadata, ""
    if names is None:
        return
    bare = metadata.replace(dimension_names=None)
    if attribute is None and all(name is not None for name in names):
        named = metadata.attributes | {ATTRIBUTE: list(names)}
        yield bare.replace(attributes=named), f"dimension_names become the attribute {ATTRIBUTE}"
    yield bare, f"the dimension names {list(names)} are lost"
