"""Members that both drafts write in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition

from zarr_formats.draft.chunks import write_transformers
from zarr_formats.draft.extensions import write_extensions
from zarr_formats.revision import Part, unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import JSON, ArrayMetadata

    WriteMembers = Callable[[ArrayMetadata], Mapping[str, JSON]]


def common_parts(
    sharding_uri: str, write_grid: WriteMembers, write_fill_value: WriteMembers
) -> tuple[Part, ...]:
    """Return how both drafts write the members other than elements and attributes."""
    return (
        Part(("shape",), ("shape",), lambda new: {"shape": list(new.shape)}),
        Part(("chunk_grid", "chunk_key_encoding", "codecs"), ("chunk_grid",), write_grid),
        Part(
            ("fill_value", "fill_value_undefined", "data_type"), ("fill_value",), write_fill_value
        ),
        Part(
            ("additional_fields",),
            ("extensions",),
            lambda new: {"extensions": write_extensions(new.additional_fields)},
        ),
        Part(
            ("storage_transformers", "chunk_grid", "codecs"),
            ("storage_transformers",),
            lambda new: write_transformers(new, sharding_uri),
        ),
        unsupported("this format", "dimension_names"),
    )


def transposed(ndim: int) -> list[ExtensionDefinition]:
    """Return the codecs for the layout ``"F"``."""
    if ndim < 2:
        return []
    return [ExtensionDefinition("transpose", {"order": [*reversed(range(ndim))]})]


def without_transpose(
    metadata: ArrayMetadata,
) -> tuple[bool, list[tuple[int, ExtensionDefinition]]]:
    """Return whether the layout is ``"F"``, and the other codecs with their indices."""
    numbered = list(enumerate(metadata.codecs))
    if not numbered or [numbered[0][1]] != transposed(len(metadata.shape)):
        return False, numbered
    return True, numbered[1:]
