"""Reading the document of a node, whichever kind of node it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.stored_text import parse_stored
from zarr_core.metadata.validation import refuse_node

if TYPE_CHECKING:
    from collections.abc import Collection

    from zarr_core.definition import JSON


def parse_node(
    data: bytes | bytearray | memoryview,
    where: str = "zarr.json",
    understood: Collection[str] = (),
) -> ArrayMetadata | GroupMetadata:
    """Read a stored ``zarr.json``.

    Parameters
    ----------
    data : bytes-like
        The document as it is stored.
    where : str
        Store and key, for errors.
    understood : collection of str
        Further members that somebody understands.

    Raises
    ------
    MetadataDecodeError
        If it is not a strict JSON document.
    MetadataValidationError
        If it is not a valid document of an array or group; carries every problem.
    UnsupportedFieldError
        If it has unknown members that must be understood.
    """
    return node_from_json(parse_stored(data, where, quietly=True), where, understood)


def node_from_json(
    document: JSON, where: str = "zarr.json", understood: Collection[str] = ()
) -> ArrayMetadata | GroupMetadata:
    """Read the document of a node.

    Parameters
    ----------
    document : JSON
        The document as :func:`zarr_core.strictjson.loads` gives it.
    where : str
        Store and key, for errors.
    understood : collection of str
        Further members that somebody understands.

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
            return ArrayMetadata.from_json(document, where, understood)
        if node_type == "group":
            return GroupMetadata.from_json(document, where, understood)
    raise refuse_node(document, where)
