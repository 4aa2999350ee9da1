"""Read the metadata document of a node, an array or a group."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.errors import MetadataDecodeError, MetadataValidationError
from zarr_core.messages import listed, warn
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.validation import is_fill_value, node_type_error
from zarr_core.optional import optional_function

if TYPE_CHECKING:
    from zarr_core.definition import JSON
    from zarr_core.location import Location

# Attributes, also in consolidated metadata.
_OF_USERS = re.compile(r"(?:/consolidated_metadata/metadata/[^/]*)?/attributes/.*", re.DOTALL)


def node_from_json(
    document: JSON, location: Location | str = "zarr.json"
) -> ArrayMetadata | GroupMetadata:
    """Create metadata from the document of a node; its additional fields are not checked."""
    # A document that is not valid, but has one meaning, is read in its valid form by zarr-formats;
    # `nonstandard` of the result says what is not valid.
    metadata: ArrayMetadata | GroupMetadata | None = None
    refusal: MetadataValidationError | None = None
    try:
        metadata = valid_node(document, location)
        if isinstance(metadata, GroupMetadata) or _has_usual_values(metadata):
            return metadata
    except MetadataValidationError as error:
        refusal = error
    try:
        if (standard := optional_function("nonstandard metadata")(document)) is not None:
            with suppress(MetadataValidationError):  # the stored document has the problems
                return valid_node(standard[0], location).replace(nonstandard=standard[1])
    except ModuleNotFoundError as missing:
        if refusal is not None:
            refusal.add_note(str(missing))
    if metadata is None:
        assert refusal is not None
        raise refusal
    return metadata


def _has_usual_values(metadata: ArrayMetadata) -> bool:
    """Whether the values that the schema does not check have the usual forms."""
    lengths = metadata.chunk_grid.configuration.get("chunk_shape")
    if isinstance(lengths, list) and float in map(type, lengths):  # integers written as 5.0
        return False
    return is_fill_value(metadata.data_type.spelling, metadata.fill_value)


def valid_node(
    document: JSON, location: Location | str = "zarr.json"
) -> ArrayMetadata | GroupMetadata:
    """Create metadata from a valid document; arguments and errors of :func:`node_from_json`."""
    node_type = document.get("node_type") if isinstance(document, dict) else None
    if node_type == "array":
        return ArrayMetadata.from_json(document, location)
    if node_type == "group":
        return GroupMetadata.from_json(document, location)
    raise node_type_error(document, location)


def parse_stored(
    data: bytes | bytearray | memoryview | str, location: Location | str, *, quietly: bool = False
) -> JSON:
    """Parse a metadata document of version 3; warn of NaN in attributes unless ``quietly``."""
    # zarr-python writes NaN and Infinity in attributes as tokens that are not JSON.  There they are
    # read as NonFinite, and written back unchanged.
    try:
        return strictjson.loads(data, location)
    except MetadataDecodeError as error:
        pointers = [problem.pointer for problem in error.problems]
        if not pointers or not all(map(_OF_USERS.fullmatch, pointers)):
            raise
        document: JSON = strictjson.keep_nonfinite(strictjson.loads(data, location, constants=True))
        if not quietly:
            warn(
                f"{location} contains NaN or Infinity at {listed(pointers, 3)}, which is not valid "
                "JSON. The values are read, and kept when the node is changed; to repair the "
                "document, set these attributes to None or to a string such as 'NaN'"
            )
        return document
