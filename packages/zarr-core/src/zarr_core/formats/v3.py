"""Zarr version 3: one ``zarr.json`` at every node.

Specification: v3.1, "Stored representation".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from zarr_core.cache import Cache
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import (
    MetadataError,
    MetadataValidationError,
    NodeNameError,
    NodeNotFoundError,
    UnsupportedFieldError,
    ValidationProblem,
    json_pointer,
)
from zarr_core.formats.unmanaged_keys import without_chunks
from zarr_core.interfaces.format import Format, M, store_new
from zarr_core.interfaces.metadata_document import read_metadata, read_metadata_from
from zarr_core.known_extensions import FORMAT_EXTENSIONS
from zarr_core.location import Location
from zarr_core.metadata.array import ArrayMetadata, additional
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.node import node_from_json, parse_stored
from zarr_core.metadata.validation import (
    ARRAY_MEMBERS,
    GROUP_MEMBERS,
    too_many_items,
    unknown_members,
)
from zarr_core.names import is_node_name, is_reserved_name, name_problem
from zarr_core.registry.discovery import is_provided, usable_names
from zarr_core.registry.hints import install_hint
from zarr_core.registry.resolve import formats_without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zarr_core.definition import JSON
    from zarr_core.interfaces.byte_reader import ByteReader
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Buffers, Store

_DOCUMENT = "zarr.json"
# Chunk keys of the encoding "default", at any depth.
_CHUNK = re.compile(r"(?:.*/)?c(?:(?:/[0-9]+)+|(?:\.[0-9]+)+)", re.DOTALL).fullmatch
_EXTENSION_POINTS = (
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "storage_transformers",
)

_FOREIGN = tuple(name[:-1] for name in FORMAT_EXTENSIONS if name.endswith("*"))

# Metadata by the documents from which they were read, or which were written.  The metadata of a large
# document take ten times as much memory.
_metadata_by_document: Cache[bytes, NodeMetadata] = Cache(1 << 20, largest=1 << 24)


class V3(Format):
    """The final version 3 (3.0 and 3.1)."""

    name: ClassVar[str] = "v3"
    detection_priority: ClassVar[int] = 100
    zarr_format: ClassVar[int] = 3
    detection_keys: ClassVar[tuple[str, ...]] = (_DOCUMENT,)
    metadata_keys: ClassVar[tuple[str, ...]] = detection_keys
    chunk_key_encoding: ClassVar[ExtensionDefinition] = ExtensionDefinition(
        "default", {"separator": "/"}
    )

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read ``zarr.json``; metadata that was read before is not validated again."""
        key = metadata_key(path)
        document = read_metadata(store, key)
        if document is None:
            return None
        metadata = _metadata_by_document.get(document)
        if metadata is not None:
            return metadata
        location = Location(store, key=key)
        parsed = parse_stored(document, location)
        if _has_version_uri(parsed) and is_provided("format", "draft"):
            return None
        metadata = self.from_json(parsed, location)
        return _metadata_by_document.put(document, metadata, len(document))

    def from_json(self, document: JSON, location: Location) -> NodeMetadata:
        """Read a ``zarr.json``; its additional fields are known or need not be understood."""
        try:
            metadata = node_from_json(document, location)
        except MetadataValidationError as error:
            kind = document.get("node_type") if isinstance(document, dict) else None
            members = {"array": ARRAY_MEMBERS, "group": GROUP_MEMBERS}.get(str(kind))
            unknown = []
            if members and isinstance(document, dict) and not too_many_items(document):
                unknown = _unknown_fields(additional(document, members))
            if unknown:
                raise MetadataValidationError(location, [*error.problems, *unknown]) from None
            raise
        if unknown := _unknown_fields(metadata.additional_fields):
            raise UnsupportedFieldError(location, unknown)
        return metadata

    def to_json(self, metadata: NodeMetadata) -> JSON:
        """The content of ``zarr.json``."""
        return metadata.to_json()

    def to_format(self, metadata: M, location: Location) -> M:
        """Reject extensions that exist in other formats only."""
        if isinstance(metadata, ArrayMetadata) and (problems := _of_other_formats(metadata)):
            raise MetadataValidationError(location, problems)
        return metadata

    def is_valid_name(self, name: str) -> bool:
        """Valid names are node names (v3.1, "Node names") and reserved names."""
        return is_node_name(name) or is_reserved_name(name)

    def is_reserved(self, name: str) -> bool:
        """Names that begin with ``__`` are reserved (v3.1, "Node names")."""
        return is_reserved_name(name)

    def check_path(self, path: str) -> None:
        """Names must be valid node names (v3.1, "Node names") or reserved."""
        for name in path.split("/") if path else ():
            if not is_reserved_name(name) and (problem := name_problem(name)):
                raise NodeNameError(repr(name), problem)

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write ``zarr.json``."""
        store.set(metadata_key(path), _stored(metadata)[0])

    def create(
        self, store: Store, path: str, metadata: NodeMetadata, *, known_empty: bool = False
    ) -> bool:
        """Write ``zarr.json`` if there is none, under the lock of its key."""
        return store_new(store, metadata_key(path), lambda: _stored(metadata)[0], known_empty)

    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read and write ``zarr.json`` under the lock of its key."""
        key = metadata_key(path)
        location = Location(store, key=key)
        changed: NodeMetadata | None = None

        def change_document(reader: ByteReader | None) -> Buffers:
            nonlocal changed
            if reader is None:
                raise NodeNotFoundError(location, "the node has been removed")
            data = read_metadata_from(reader, location)
            metadata = _metadata_by_document.get(data)
            if metadata is None:
                metadata = self.from_json(parse_stored(data, location, quietly=True), location)
            new = change(metadata)
            encoded, changed = _stored(new)
            _metadata_by_document.put(encoded, changed, len(encoded))
            return encoded

        store.update(key, change_document)
        assert changed is not None
        return changed

    def find_unmanaged_key(self, store: Store, path: str) -> str | None:
        """A key that belongs to no node of this format, or of one that it is preferred to."""
        keys = self.unmanaged_keys(store, store.list_prefix(self.chunk_prefix(path)))
        if keys:
            for other in formats_without(self.name):
                if self.name in other.conflicting_formats:
                    keys = other.unmanaged_keys(store, keys)
        return next(iter(keys), None)

    def unmanaged_keys(self, store: Store, keys: Iterable[str]) -> list[str]:
        """Keys that are neither metadata documents nor possible chunk keys of an array.

        Chunks ``c/0/0`` without metadata remain after an interrupted removal of an array.
        """
        others: list[str] = []
        arrays: dict[str, ArrayMetadata | None] = {}
        for key in keys:
            if key == _DOCUMENT or key.endswith(f"/{_DOCUMENT}"):
                metadata = _possible_array(store, key)
                if not isinstance(metadata, GroupMetadata):
                    arrays[key.removesuffix(_DOCUMENT)] = metadata
            elif not _CHUNK(key):
                others.append(key)
        return list(without_chunks(others, arrays))


def _has_version_uri(document: JSON) -> bool:
    """Whether the version in a ``zarr.json`` is a URI, as in drafts of version 3."""
    version = document.get("zarr_format") if isinstance(document, dict) else None
    return isinstance(version, str) and "://" in version


def _unknown_fields(fields: Mapping[str, JSON]) -> list[ValidationProblem]:
    """Problems of additional fields that must be understood and are unknown, with what to install."""
    if not unknown_members(fields, ()):
        return []
    return unknown_members(
        fields, usable_names("extension"), lambda name: install_hint("extension", name)
    )


def _stored(metadata: NodeMetadata) -> tuple[bytes, NodeMetadata]:
    """The document of metadata and what it contains; fields of the document that was read are valid."""
    stored = metadata.to_stored()
    old = metadata.document or {}
    if metadata.additional_fields:
        fields = {
            name: value for name, value in metadata.additional_fields.items() if name not in old
        }
        if unknown := _unknown_fields(fields):
            raise UnsupportedFieldError("new metadata", unknown)
    return stored


def _possible_array(store: Store, key: str) -> NodeMetadata | None:
    """Metadata of a node; None if it is damaged, and may be that of an array."""
    try:
        return node_from_json(parse_stored(read_metadata(store, key) or b"", key, quietly=True))
    except MetadataError:
        return None


def _of_other_formats(metadata: ArrayMetadata) -> list[ValidationProblem]:
    """Problems of metadata that names extensions of other formats."""
    document = metadata.to_json()
    named = [
        pair
        for member in _EXTENSION_POINTS
        for pair in _extension_names(document.get(member), f"/{member}")
        if pair[1].startswith(_FOREIGN) or pair[1] in FORMAT_EXTENSIONS
    ]
    if metadata.chunk_memory_layout is not None:
        named.append(("/chunk_memory_layout", metadata.chunk_memory_layout.name))
    return [
        ValidationProblem(
            pointer,
            FORMAT_EXTENSIONS.get(name) or f"{name!r} is not supported in Zarr version 3",
        )
        for pointer, name in named
    ]


def _extension_names(value: JSON, pointer: str) -> Iterator[tuple[str, str]]:
    """Pointers and names of the extensions in a definition, or a list of them, at any depth."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, item in value.items():
            below = pointer if key == "name" else pointer + json_pointer(key)
            yield from _extension_names(item, below)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _extension_names(item, f"{pointer}/{number}")


def metadata_key(path: str) -> str:
    """The key of the metadata document of a node."""
    return f"{path}/{_DOCUMENT}" if path else _DOCUMENT
