"""Whether chunks of one array are those of another, by what their metadata say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition, ZarrError, make_extension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import JSON, ArrayMetadata, ChunkKeyEncoding


def same_bytes(one: ArrayMetadata, other: ArrayMetadata) -> bool:
    """Whether every stored object of one array is, byte for byte, that of the other.

    What cannot be told, as where nobody knows an extension, counts as different
    unless the definitions are the same.
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
    """Whether two lists of codecs do the same."""
    return len(some) == len(others) and all(
        same("codec", one, other) for one, other in zip(some, others, strict=True)
    )


def same(kind: str, one: ExtensionDefinition, other: ExtensionDefinition) -> bool:
    """Whether two definitions mean the same: they are equal, or make equal extensions."""
    if one == other or _plain(one) == _plain(other):
        return True
    if one.name != other.name:
        return False
    try:
        return bool(make_extension(kind, one) == make_extension(kind, other))
    except ZarrError:
        return False


def _plain(definition: ExtensionDefinition) -> JSON:
    """A definition with the codecs inside it all spelled in one way."""
    configuration = {name: _spelled(value) for name, value in definition.configuration.items()}
    return [definition.name, configuration, definition.must_understand]


def _spelled(value: JSON) -> JSON:
    """A list of definitions with each spelled in one way; any other value as it is."""
    if isinstance(value, list) and all(is_definition(item) for item in value):
        return [_plain(ExtensionDefinition.from_json(item)) for item in value]
    return value


def is_definition(value: JSON) -> bool:
    """Whether a value names an extension, as codecs inside of codecs do."""
    return isinstance(value, str) or (isinstance(value, dict) and "name" in value)


def same_keys(one: ChunkKeyEncoding, other: ChunkKeyEncoding, ndim: int) -> bool:
    """Whether two encodings give every chunk the same key."""
    if one == other:
        return True
    # With a coordinate at most there is nothing between coordinates to differ in.
    return ndim < 2 and all(
        one.encode((number,) * ndim) == other.encode((number,) * ndim) for number in (0, 1, 12)
    )
