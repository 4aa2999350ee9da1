"""Consolidated metadata of version 2: the document ``.zmetadata`` of a group.

A convention of zarr-python: ``{"metadata": {key: document}, "zarr_consolidated_format": 1}``
with all documents of the group and of the nodes below it; keys are relative to the group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import Location, MetadataValidationError, package_schema, strictjson
from zarr_core.metadata.group import ConsolidatedMetadata
from zarr_core.strictjson import keep_nonfinite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

_NODES = (".zarray", ".zgroup")
_ENDINGS = tuple(f"/{name}" for name in _NODES)
_DOCUMENTS = (*_NODES, ".zattrs")


def read_consolidated(document: JSON, location: Location) -> ConsolidatedMetadata:
    """Read a ``.zmetadata``, with the documents of each node by their names."""
    schema = package_schema("zarr_formats", "format", "v2.consolidated")
    problems = schema.problems(document)
    if problems or not isinstance(document, dict):
        raise MetadataValidationError(location, problems)
    return ConsolidatedMetadata(_entries(document), document)


def write_consolidated(
    consolidated: ConsolidatedMetadata, own: Mapping[str, JSON]
) -> dict[str, JSON]:
    """Return the ``.zmetadata`` of a group, whose own documents are ``own``, by their names."""
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
    consolidated: ConsolidatedMetadata, document: JSON, location: Location
) -> tuple[bytes, ConsolidatedMetadata]:
    """Encode a ``.zmetadata``; return its text, and the metadata as read from it.

    ``document`` is from :func:`write_consolidated`; ``consolidated`` may have unchanged texts.
    """
    members: Any = document
    # Other writers leave NaN tokens.
    new = {
        key: keep_nonfinite(value)
        for key, value in members["metadata"].items()
        if not isinstance(value, strictjson.EncodedObject)
    }
    envelope: Any = strictjson.plain({**members, "metadata": members["metadata"] | new}, location)
    envelope["metadata"] = copies = strictjson.keep_texts(envelope["metadata"])
    entries: dict[str, Any] = {**consolidated.entries}
    for path, _, name in (key.rpartition("/") for key in new):
        if path in entries:
            entries[path] = {**entries[path], name: copies[f"{path}/{name}"]}
    return strictjson.encode(envelope), ConsolidatedMetadata(entries, envelope)


def _entries(document: dict[str, JSON]) -> dict[str, JSON]:
    """Return the documents of each node below the group, by path."""
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
    """Whether it is of version 2, and not a member of a version 3 document."""
    return envelope is not None and "zarr_consolidated_format" in envelope
