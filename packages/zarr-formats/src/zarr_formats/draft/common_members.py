"""Members that both drafts write in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition

from zarr_formats.metadata_error import metadata_error
from zarr_formats.revision import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON, ArrayMetadata

SHAPE = Part(("shape",), ("shape",), lambda new: {"shape": list(new.shape)})


def no_dimension_names(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    """Return no members.

    Raises
    ------
    MetadataValidationError
        If there are dimension names; ``location`` is empty.
    """
    if any(name is not None for name in metadata.dimension_names or ()):
        message = "the drafts do not support dimension names; store them in an attribute"
        raise metadata_error("/dimension_names", message)
    return {}


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
