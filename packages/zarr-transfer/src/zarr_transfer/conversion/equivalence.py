"""Comparison of metadata: whether two arrays have the same chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition, ZarrError
from zarr_core.tools import create_extension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import JSON, ArrayMetadata


def same_bytes(one: ArrayMetadata, other: ArrayMetadata) -> bool:
    """Whether all chunks of two arrays are identical, byte for byte.

    Unknown extensions count as different unless their definitions are the same.
    """
    return (
        one.shape == other.shape
        and same("data_type", one.data_type, other.data_type)
        and same("chunk_grid", one.chunk_grid, other.chunk_grid)
        and same_codecs(one.codecs, other.codecs)
        and one.storage_transformers == other.storage_transformers
        and one.chunk_memory_layout == other.chunk_memory_layout
    )


def same_codecs(some: Sequence[ExtensionDefinition], others: Sequence[ExtensionDefinition]) -> bool:
    """Whether two lists of codecs are equivalent."""
    return len(some) == len(others) and all(
        same("codec", one, other) for one, other in zip(some, others, strict=True)
    )


def same(kind: str, one: ExtensionDefinition, other: ExtensionDefinition) -> bool:
    """Whether two definitions are equal or result in equal extensions."""
    if one == other or _normal(one) == _normal(other):
        return True
    if one.name != other.name:
        return False
    try:
        return bool(create_extension(kind, one) == create_extension(kind, other))
    except ZarrError:
        return False


def _normal(definition: ExtensionDefinition) -> JSON:
    """Return a definition in a normal form, with the codecs in it."""
    configuration = {name: _normal_value(value) for name, value in definition.configuration.items()}
    return [definition.name, configuration, definition.must_understand]


def _normal_value(value: JSON) -> JSON:
    """Return a list of definitions in their normal form; any other value unchanged."""
    if isinstance(value, list) and all(is_definition(item) for item in value):
        return [_normal(ExtensionDefinition.from_json(item)) for item in value]
    return value


def is_definition(value: JSON) -> bool:
    """Whether a value is a definition of an extension."""
    return isinstance(value, str) or (isinstance(value, dict) and "name" in value)
