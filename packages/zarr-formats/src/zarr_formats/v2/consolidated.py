"""Consolidated metadata of version 2: the document ``.zmetadata`` of a group.

A convention of zarr-python: ``{"metadata": {key: document}, "zarr_consolidated_format": 1}``
with the keys of all documents of the group itself as well as of the nodes below it,
relative to the group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import MetadataValidationError
from zarr_core.tools import ConsolidatedMetadata, keep_nonfinite, package_schema, strictjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

_LEVEL = 2  # of documents in a .zmetadata
_NODES = (".zarray", ".zgroup")
_ENDINGS = tuple(f"/{name}" for name in _NODES)
_DOCUMENTS = (*_NODES, ".zattrs")


def read_consolidated(document: JSON, where: str) -> ConsolidatedMetadata:
    """Read a ``.zmetadata``.

    Parameters
    ----------
    document : JSON
        The content.
    where : str
        What it is, for errors.

    Returns
    -------
    ConsolidatedMetadata
        Its entries are the documents of a node by their names.

    Raises
    ------
    MetadataValidationError
        If the document is invalid; carries every problem.
    """
    schema = package_schema("zarr_formats", "format", "v2.consolidated")
    problems = schema.problems(document)
    if problems or not isinstance(document, dict):
        raise MetadataValidationError(where, problems)
    return ConsolidatedMetadata(_entries(document), document)


def write_consolidated(
    consolidated: ConsolidatedMetadata, own: Mapping[str, JSON]
) -> dict[str, JSON]:
    """Write a ``.zmetadata``.

    Parameters
    ----------
    consolidated : ConsolidatedMetadata
        What is below the group.
    own : mapping
        The group's own documents, by their names.
    """
    envelope = consolidated.envelope if _is_ours(consolidated.envelope) else None
    written: dict[str, JSON] = {name: own[name] for name in (".zattrs", ".zgroup") if name in own}
    for path, documents in consolidated.entries.items():
        members: Any = documents
        written |= {f"{path}/{name}": value for name, value in members.items()}
    if envelope is None:
        return {"metadata": dict(sorted(written.items())), "zarr_consolidated_format": 1}
    copies: Any = envelope["metadata"]
    # The order of nodes and all other keys are kept.
    nodes = {""} | {key.rpartition("/")[0] for key in copies if key.endswith(_ENDINGS)}
    kept = {
        key: written.get(key, value)
        for key, value in copies.items()
        if key in written or not _is_document(key) or key.rpartition("/")[0] not in nodes
    }
    metadata = kept | written
    if strictjson.identical(metadata, copies):
        return envelope
    return {**envelope, "metadata": metadata}


def encode_consolidated(
    consolidated: ConsolidatedMetadata, document: JSON, where: str
) -> tuple[bytes, ConsolidatedMetadata]:
    """Encode a ``.zmetadata``; return its text, and the metadata as read from it.

    Parameters
    ----------
    consolidated : ConsolidatedMetadata
        What is below the group; may have the text of what did not change.
    document : JSON
        The content, from :func:`write_consolidated`.
    where : str
        What it is, for errors.
    """
    members: Any = document
    texts = consolidated.texts(_LEVEL)
    new = texts.unknown(members["metadata"])
    # Other writers leave NaN tokens.
    kept = members["metadata"] | {key: keep_nonfinite(value) for key, value in new.items()}
    plain, encoded = texts.encode_within({**members, "metadata": kept}, "metadata", where)
    copies: Any = plain["metadata"]
    entries: dict[str, Any] = dict(consolidated.entries)
    for key in new:
        path, _, name = key.rpartition("/")
        if path in entries:
            entries[path] = {**entries[path], name: copies[key]}
    return encoded, ConsolidatedMetadata(entries, plain, texts)


def _entries(document: dict[str, JSON]) -> dict[str, JSON]:
    """The documents of each node below the group, by its path."""
    copies: Any = document["metadata"]
    nodes: dict[str, JSON] = {}
    for key in copies:
        path, _, name = key.rpartition("/")
        if path and name in _NODES and path not in nodes:
            nodes[path] = {
                name: copies[f"{path}/{name}"] for name in _DOCUMENTS if f"{path}/{name}" in copies
            }
    return nodes


def _is_document(key: str) -> bool:
    return key.rpartition("/")[2] in _DOCUMENTS


def _is_ours(envelope: dict[str, JSON] | None) -> bool:
    """Whether it is of version 2, not the member of a version 3 document."""
    return envelope is not None and "zarr_consolidated_format" in envelope
