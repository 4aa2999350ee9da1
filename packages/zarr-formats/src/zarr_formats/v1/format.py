"""Zarr version 1: the documents ``meta`` and ``attrs`` for each array, no groups.

Specification: version 1, "Storage".  There, each array is a store; here, it can also be a prefix
of a store.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from zarr_core.errors import MetadataDecodeError
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    Format,
    GroupMetadata,
    Location,
    MetadataValidationError,
    NodeNotFoundError,
    ValidationProblem,
    read_metadata,
    store_new,
    strictjson,
)
from zarr_core.formats.unmanaged_keys import without_chunks
from zarr_core.interfaces.metadata_document import read_metadata_from

from zarr_formats.v1.document import (
    ATTRIBUTES,
    META,
    encode,
    is_version_1,
    read_array,
    write_array,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from zarr_core.extension import JSON, Buffer, Buffers, ByteReader, Store

    NodeMetadata: TypeAlias = ArrayMetadata | GroupMetadata

_LARGEST = 1 << 24  # bytes; a larger "meta" was written by another program
_SAYS_ZARR = re.compile(rb'"zarr_format"\s*:\s*1\b').search


class V1(Format):
    """Version 1, as zarr 1.0 and 1.1 wrote it in 2016."""

    name: ClassVar[str] = "v1"
    zarr_format: ClassVar[int] = 1
    detection_keys: ClassVar[tuple[str, ...]] = (META,)
    metadata_keys: ClassVar[tuple[str, ...]] = (META, ATTRIBUTES)
    detection_priority: ClassVar[int] = 50
    implicit_groups: ClassVar[bool] = True
    undefined_fill_values: ClassVar[bool] = True
    chunk_key_encoding: ClassVar[ExtensionDefinition] = ExtensionDefinition(
        "v2", {"separator": "."}
    )
    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = (
        ExtensionDefinition(
            "blosc", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}
        ),
    )

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read ``meta``, unless another program wrote it, then ``attrs``."""
        key = _key(path, META)
        # The drafts of version 3 have a prefix "meta", for which stores report that it is not a key.
        reader = store.open_value(key) if store.exists(key) else None
        if reader is None:
            return None
        with reader:
            document = _parsed(reader, Location(store, key=key))
        if document is None:
            return None
        attributes = _attributes(store, path, read_metadata(store, _key(path, ATTRIBUTES)))
        return read_array(document, attributes, Location(store, key=key))

    def from_json(self, document: JSON, location: Location) -> NodeMetadata:
        """Read ``{"meta": ..., "attrs": ...}``."""
        if not isinstance(document, dict) or META not in document:
            message = f"a node of version 1 has {META!r} with {ATTRIBUTES!r}"
            raise MetadataValidationError(location, [ValidationProblem("", message)])
        return read_array(document[META], document.get(ATTRIBUTES), location)

    def to_json(self, metadata: NodeMetadata) -> JSON:
        """Return ``{"meta": ..., "attrs": ...}``."""
        return self._documents(metadata)

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write both documents, ``meta`` last."""
        documents = self._documents(metadata)
        store.set(_key(path, ATTRIBUTES), encode(documents.get(ATTRIBUTES, {})))
        store.set(_key(path, META), encode(documents[META]))

    def create(
        self, store: Store, path: str, metadata: NodeMetadata, *, known_empty: bool = False
    ) -> bool:
        """Write both documents if ``meta`` does not exist, under its lock."""
        documents = self._documents(metadata)
        key = _key(path, META)

        def meta() -> Buffers:
            store.set(_key(path, ATTRIBUTES), encode(documents.get(ATTRIBUTES, {})))
            return encode(documents[META])

        return not store.exists(key) and store_new(store, key, meta)

    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read both documents and write the changed ones, under both locks."""
        key = _key(path, META)
        location = Location(store, key=key)
        changed: NodeMetadata | None = None
        content: bytes | None = None

        def change_meta(reader: ByteReader | None) -> Buffers | ByteReader:
            document = None if reader is None else _parsed(reader, location)
            if reader is None or document is None:
                raise NodeNotFoundError(location, "the node has been removed")

            def change_attributes(reader: ByteReader | None) -> Buffers | ByteReader | None:
                nonlocal changed, content
                data = None if reader is None else read_metadata_from(reader, location)
                old = _attributes(store, path, data)
                documents = self._documents(change(read_array(document, old, location)))
                changed = self.from_json(documents, location)
                same = strictjson.identical(document, documents[META])
                content = None if same else encode(documents[META])
                new = documents.get(ATTRIBUTES)
                return reader if strictjson.identical(old, new) else encode(new)

            store.update(_key(path, ATTRIBUTES), change_attributes)
            return reader if content is None else content

        store.update(key, change_meta)
        assert changed is not None
        return changed

    def child_candidates(self, store: Store, path: str) -> Iterator[str]:
        """Return nothing; version 1 has no groups."""
        return iter(())

    def find_unmanaged_key(self, store: Store, path: str) -> str | None:
        """Return a key that is neither a document nor a possible chunk key of an array."""
        keys = list(store.list_prefix(self.chunk_prefix(path)))
        arrays = {
            key.removesuffix(META): None
            for key in keys
            if f"/{key}".endswith(f"/{META}") and _is_meta(store, key)
        }
        documents = {prefix + name for prefix in arrays for name in self.metadata_keys}
        others = (key for key in keys if key not in documents)
        return next(without_chunks(others, arrays), None)

    def _documents(self, metadata: NodeMetadata) -> dict[str, JSON]:
        if isinstance(metadata, GroupMetadata):
            raise MetadataValidationError(
                "new group", [ValidationProblem("", "version 1 does not support groups")]
            )
        return write_array(metadata, Location("array of version 1"))


def _key(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _parsed(reader: ByteReader, location: Location) -> JSON:
    """Return the content of a ``meta``; None if it is not of version 1."""
    if reader.size > _LARGEST:
        return None
    data = bytes(reader.read(0, reader.size))
    try:
        document = strictjson.loads(data, location, constants=True)
    except MetadataDecodeError:
        if _SAYS_ZARR(data):
            raise
        return None
    return document if is_version_1(document) else None


def _attributes(store: Store, path: str, data: Buffer | None) -> JSON:
    location = Location(store, key=_key(path, ATTRIBUTES))
    return None if data is None else strictjson.loads(bytes(data), location, constants=True)


def _is_meta(store: Store, key: str) -> bool:
    """Whether a key contains a ``meta`` of version 1, even if it is damaged."""
    reader = store.open_value(key)
    if reader is None:
        return False
    with reader:
        try:
            return _parsed(reader, Location(store, key=key)) is not None
        except MetadataDecodeError:
            return True
