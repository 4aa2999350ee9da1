"""Zarr version 2: ``.zarray`` or ``.zgroup`` at every node, with attributes in ``.zattrs``.

Specification: version 2 (the text with its clarifications), "Arrays", "Hierarchies",
"Attributes".  Consolidated metadata is a convention of zarr-python.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from zarr_core.cache import Cache
from zarr_core.errors import MetadataError
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    Format,
    Location,
    MetadataValidationError,
    NodeNotFoundError,
    ValidationProblem,
    ZarrError,
    strictjson,
)
from zarr_core.formats.unmanaged_keys import without_chunks
from zarr_core.interfaces.metadata_document import read_metadata_from
from zarr_core.registry.resolve import format_named

from zarr_formats.chain import set_stored_byte_order, split_chain
from zarr_formats.v2.consolidated import encode_consolidated
from zarr_formats.v2.document import (
    ARRAY,
    ATTRIBUTES,
    CONSOLIDATED,
    GROUP,
    read_array,
    read_group,
    write_array,
    write_group,
)
from zarr_formats.v2.names import check_names
from zarr_formats.v2.node_documents import NodeDocuments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from zarr_core.extension import JSON, Buffers, ByteReader, GroupMetadata, Store
    from zarr_core.metadata.group import ConsolidatedMetadata

    NodeMetadata = ArrayMetadata | GroupMetadata

_Identity: TypeAlias = "tuple[bytes | str | None, ...]"
_known: Cache[_Identity, NodeMetadata] = Cache(1 << 20, largest=1 << 16)  # bytes of documents
# The last consolidated metadata that was written: the next change is usually of the same.
_last_copies: tuple[bytes, ConsolidatedMetadata] | None = None

_COORDINATE = re.compile(r"[0-9]+\Z", re.ASCII).match
_FLAT = re.compile(r"[0-9]+(?:\.[0-9]+)+\Z", re.ASCII).match
_METADATA = Location("version 2 metadata")
_HAS_SEPARATOR = b'"dimension_separator"'


class V2(Format):
    """Version 2, as written by zarr-python 2 and others."""

    name: ClassVar[str] = "v2"
    zarr_format: ClassVar[int] = 2
    detection_keys: ClassVar[tuple[str, ...]] = (ARRAY, GROUP)
    metadata_keys: ClassVar[tuple[str, ...]] = (*detection_keys, ATTRIBUTES, CONSOLIDATED)
    detection_priority: ClassVar[int] = 90
    conflicting_formats: ClassVar[tuple[str, ...]] = ("v3",)
    undefined_fill_values: ClassVar[bool] = True
    chunk_key_encoding: ClassVar[ExtensionDefinition] = ExtensionDefinition(
        "v2", {"separator": "."}
    )
    # As in zarr-python 3; old versions of numcodecs do not support the checksum of
    # Zstandard frames.
    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = (
        ExtensionDefinition("zstd", {"level": 0, "checksum": False}),
    )

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read ``.zarray`` or ``.zgroup``, and ``.zattrs``.

        Without ``dimension_separator``, chunk keys have periods.  Older data may have ``/``
        (NestedDirectoryStore of zarr-python), and all its chunks would be missing.  If there
        is no chunk ``0.0``, the store is therefore listed once, and ``/`` is used only if
        there are nested chunks.  This costs one request, or two if that chunk is missing.
        Documents of this library always contain the separator.
        """
        documents = NodeDocuments(store, self.chunk_prefix(path))
        # Roots are usually groups, other nodes arrays.
        likely = (ATTRIBUTES,) if path else (ATTRIBUTES, GROUP, CONSOLIDATED)
        if (main := documents.get(ARRAY, *likely)) is not None:
            return _array(documents, main)
        main = documents.get(GROUP, CONSOLIDATED)
        return None if main is None else _group(documents, main)

    def from_json(self, document: JSON, location: Location) -> NodeMetadata:
        """Read ``{".zarray": ..., ".zattrs": ...}``, or that of a group."""
        members = document if isinstance(document, dict) else {}
        attributes = members.get(ATTRIBUTES)
        if ARRAY in members:
            return read_array(members[ARRAY], attributes, location)
        if GROUP in members:
            return read_group(members[GROUP], attributes, members.get(CONSOLIDATED), location)
        message = f"must be an object with {ARRAY} or {GROUP}"
        raise MetadataValidationError(location, [ValidationProblem("", message)])

    def to_json(self, metadata: NodeMetadata) -> JSON:
        """Return the documents by their names; unchanged members are as read."""
        return _documents(metadata, _METADATA)

    def to_format(self, metadata: Any, location: Location) -> Any:
        """Convert metadata; elements are stored in the byte order that the last filter gives."""
        if isinstance(metadata, ArrayMetadata):
            metadata = set_stored_byte_order(metadata)
        return super().to_format(metadata, location)

    def filters_and_compressors(
        self, metadata: ArrayMetadata
    ) -> tuple[Sequence[ExtensionDefinition], Sequence[ExtensionDefinition]]:
        """Return the members ``filters`` and ``compressor`` of ``.zarray``."""
        return split_chain(metadata.codecs, _documents(metadata, _METADATA)[ARRAY])

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write all documents, ``.zarray`` or ``.zgroup`` last; remove other documents of the node."""
        _write(store, self.chunk_prefix(path), metadata)

    def check_path(self, path: str) -> None:
        """Keys must be ASCII, and names not those of metadata documents."""
        check_names(path)

    def create(
        self, store: Store, path: str, metadata: NodeMetadata, *, known_empty: bool = False
    ) -> bool:
        """Write all documents, ``.zarray`` or ``.zgroup`` last, if neither of them exists."""
        prefix = self.chunk_prefix(path)
        documents = _documents(metadata, Location(store, path))
        main = ARRAY if ARRAY in documents else GROUP
        created = False

        def make(reader: ByteReader | None) -> Buffers | ByteReader:
            nonlocal created
            created = reader is None
            if reader is not None:
                return reader
            _write_others(store, prefix, documents, {} if known_empty else None)
            return strictjson.encode(documents[main])

        def make_array(reader: ByteReader | None) -> ByteReader | None:
            # Under the lock of ``.zgroup``, so that creating an array excludes creating a group.
            if reader is None:
                store.update(prefix + ARRAY, make)
            return reader

        def make_group(reader: ByteReader | None) -> Buffers | ByteReader | None:
            return reader if store.exists(prefix + ARRAY) else make(reader)

        def remove_others(reader: ByteReader | None) -> ByteReader | None:
            if reader is None and not store.exists(prefix + ARRAY):
                store.erase_values([prefix + name for name in documents if name != main])
            return reader

        try:
            store.update(prefix + GROUP, make_array if main == ARRAY else make_group)
        except BaseException:
            if created and len(documents) > 1:
                with suppress(ZarrError):  # the first failure is more useful
                    store.update(prefix + GROUP, remove_others)
            raise
        return created

    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read, change and write the documents under the lock of ``.zarray`` or ``.zgroup``.

        Only changed documents are written.
        """
        prefix = self.chunk_prefix(path)
        main = ARRAY if store.exists(prefix + ARRAY) else GROUP
        location = Location(store, path)
        document = location.document(main)
        changed: NodeMetadata | None = None

        def change_documents(reader: ByteReader | None) -> Buffers | ByteReader:
            nonlocal changed
            if reader is None:
                raise NodeNotFoundError(document, "the node has been removed")
            documents, data = NodeDocuments(store, prefix), read_metadata_from(reader, document)
            metadata = (_array if main == ARRAY else _group)(documents, data)
            new = change(metadata)
            after = _documents(new, location)
            # The documents of a group are as they were read; it may have many copies.
            before = _documents(metadata, location) if main == ARRAY else metadata.document or {}
            texts: dict[str, bytes] = {}
            if not strictjson.identical(before.get(CONSOLIDATED), after.get(CONSOLIDATED)):
                new = _encode_copies(new, after, location.document(CONSOLIDATED), texts)
            _write_others(store, prefix, after, before, texts)
            # What is found when it is read again, to the spelling.
            changed = new.replace(document=after)
            if strictjson.identical(before.get(main), after.get(main)):
                return reader
            return strictjson.encode(after[main])

        store.update(prefix + main, change_documents)
        assert changed is not None
        return changed

    def find_unmanaged_key(self, store: Store, path: str) -> str | None:
        """Return a key that belongs to no node of version 2 or 3."""
        keys = format_named("v3").unmanaged_keys(store, store.list_prefix(self.chunk_prefix(path)))
        return next(iter(self.unmanaged_keys(store, keys)), None)

    def unmanaged_keys(self, store: Store, keys: Iterable[str]) -> list[str]:
        """Return the keys that are neither metadata documents nor possible chunk keys of an array."""
        others: list[str] = []
        arrays: dict[str, None] = {}
        for key in keys:
            name = key.rpartition("/")[2]
            if name == ARRAY:
                arrays[key.removesuffix(ARRAY)] = None
            elif name not in self.metadata_keys:
                others.append(key)
        return list(without_chunks(others, arrays))


# --- reading ---


def _array(documents: NodeDocuments, main: bytes) -> NodeMetadata:
    store, prefix = documents.store, documents.prefix
    attributes = documents.get(ATTRIBUTES)
    separator = "."
    if _HAS_SEPARATOR not in main:
        separator = _found_separator(store, prefix, main)
    identity = (main, attributes, separator)
    known = _known.get(identity)
    if known is None:
        location = Location(store, prefix[:-1])
        document = _loads(main, location.document(ARRAY))
        mapping = _mapping(attributes, location.document(ATTRIBUTES))
        known = _remember(identity, read_array(document, mapping, location, separator))
    return known


def _group(documents: NodeDocuments, main: bytes) -> NodeMetadata:
    store, prefix = documents.store, documents.prefix
    attributes, copies = documents.get(ATTRIBUTES, CONSOLIDATED), documents.get(CONSOLIDATED)
    identity = (main, attributes, copies, GROUP)
    known = _known.get(identity)
    if known is None:
        location = Location(store, prefix[:-1])
        document = _loads(main, location.document(GROUP))
        mapping = _mapping(attributes, location.document(ATTRIBUTES))
        last, origin = _last_copies, location.document(CONSOLIDATED)
        consolidated = last[1] if last and last[0] == copies else _mapping(copies, origin)
        known = _remember(identity, read_group(document, mapping, consolidated, location))
    return known


def _loads(data: bytes, location: Location) -> JSON:
    # Other writers store NaN tokens, mostly in attributes.
    return strictjson.loads(data, location, constants=True)


def _mapping(data: bytes | None, location: Location) -> dict[str, JSON] | None:
    """Parse an optional document, which must be an object."""
    if data is None:
        return None
    document = _loads(data, location)
    if not isinstance(document, dict):
        raise MetadataValidationError(
            location, [ValidationProblem("", f"must be an object, not {document!r:.60}")]
        )
    return document


def _remember(identity: _Identity, metadata: NodeMetadata) -> NodeMetadata:
    return _known.put(identity, metadata, sum(map(len, filter(None, identity))))


def _found_separator(store: Store, prefix: str, main: bytes) -> str:
    """Return the separator of coordinates of the stored chunks."""
    rank = _rank(main)
    if rank < 2 or store.exists(prefix + ".".join("0" * rank)) or not store.supports_listing:
        return "."
    keys, prefixes = store.list_dir(prefix)
    start = len(prefix)
    if any(_COORDINATE(child[start:-1]) for child in prefixes):
        return "." if any(_FLAT(key[start:]) for key in keys) else "/"
    return "."


@lru_cache(512)
def _rank(main: bytes) -> int:
    """Number of dimensions; 0 for invalid metadata, which is reported elsewhere."""
    try:
        document = _loads(main, _METADATA)
    except MetadataError:
        return 0
    shape = document.get("shape") if isinstance(document, dict) else None
    return len(shape) if isinstance(shape, list) else 0


# --- writing ---


def _documents(metadata: NodeMetadata, location: Location) -> dict[str, JSON]:
    if isinstance(metadata, ArrayMetadata):
        return write_array(metadata, location)
    return write_group(metadata, location)


def _write(
    store: Store, prefix: str, metadata: NodeMetadata, before: dict[str, JSON] | None = None
) -> None:
    documents = _documents(metadata, Location(store, prefix[:-1]))
    _write_others(store, prefix, documents, before)
    main = ARRAY if ARRAY in documents else GROUP
    store.set(prefix + main, strictjson.encode(documents[main]))


def _encode_copies(
    metadata: NodeMetadata, documents: dict[str, JSON], location: Location, texts: dict[str, bytes]
) -> NodeMetadata:
    """Add the text of the consolidated metadata of a group, if any; remember it."""
    global _last_copies
    if isinstance(metadata, ArrayMetadata) or metadata.consolidated is None:
        return metadata
    text, copies = encode_consolidated(metadata.consolidated, documents[CONSOLIDATED], location)
    texts[CONSOLIDATED] = text
    _last_copies = text, copies
    documents[CONSOLIDATED] = copies.envelope
    return metadata.replace(consolidated=copies)


def _write_others(
    store: Store,
    prefix: str,
    after: dict[str, JSON],
    before: dict[str, JSON] | None = None,
    texts: Mapping[str, bytes] | None = None,
) -> None:
    """Write the documents other than ``.zarray`` and ``.zgroup``; remove outdated ones.

    ``before`` is what is stored now, if that is known; ``texts`` are documents that were encoded.
    """
    for name in (ATTRIBUTES,) if ARRAY in after else (ATTRIBUTES, CONSOLIDATED):
        if before is not None and strictjson.identical(before.get(name), after.get(name)):
            continue
        if name in after:
            text = texts.get(name) if texts else None
            store.set(prefix + name, text or strictjson.encode(after[name]))
        elif name in before if before is not None else store.exists(prefix + name):
            store.erase(prefix + name)
