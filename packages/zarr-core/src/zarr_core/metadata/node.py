"""Reading the document of a node, whichever kind of node it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.validation import refuse_node

if TYPE_CHECKING:
    from zarr_core.definition import JSON


def parse_node(
    data: bytes | bytearray | memoryview, where: str = "zarr.json"
) -> ArrayMetadata | GroupMetadata:
    """Read a stored ``zarr.json``.

    Parameters
    ----------
    data : bytes-like
        The document as it is stored.
    where : str
        Store and key, for errors.

    Raises
    ------
    MetadataDecodeError
        If it is not a strict JSON document.
    MetadataValidationError
        If it is not a valid document of an array or group; carries every problem.
    UnsupportedFieldError
        If it has unknown members that must be understood.
    """
    return node_from_json(strictjson.loads(data, where), where)


def node_from_json(document: JSON, where: str = "zarr.json") -> ArrayMetadata | GroupMetadata:
    """Read the document of a node.

    Parameters
    ----------
    document : JSON
        The document as :func:`zarr_core.strictjson.loads` gives it.
    where : str
        Store and key, for errors.

    Raises
    ------
    MetadataValidationError
        If it is not a valid document of an array or group; carries every problem.
    UnsupportedFieldError
        If it has unknown members that must be understood.
    """
    if isinstance(document, dict):
        node_type = document.get("node_type")
        if node_type == "array":
            return ArrayMetadata.from_json(document, where)
        if node_type == "group":
            return GroupMetadata.from_json(document, where)
    raise refuse_node(document, where)
