"""N5: one ``attributes.json`` at every array, at groups only if they have attributes.

Specification: N5 file-system specification, version 2.  Every prefix with something below
it is a group, within a hierarchy of N5: somewhere on the way to it stands an
``attributes.json``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from zarr_core.cache import Cache
from zarr_core.errors import MetadataDecodeError, MetadataError, NodeNameError
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
from zarr_core.names import is_node_name, is_reserved_name

from zarr_formats.n5.document import (
    VERSION,
    is_array,
    read_array,
    read_group,
    write_array,
    write_group,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from zarr_core.extension import JSON, Buffers, ByteReader, Store

    NodeMetadata: TypeAlias = ArrayMetadata | GroupMetadata

_DOCUMENT = "attributes.json"
_IMPLICIT = GroupMetadata(document={})
# What says that a prefix belongs to another format.
_FOREIGN = frozenset(["zarr.json", ".zarray", ".zgroup", "meta"])

_DOCUMENT_NAMES = frozenset([_DOCUMENT, "zarr.json", ".zarray", ".zgroup"])

_known: Cache[bytes, NodeMetadata] = Cache(1 << 20, largest=1 << 16)  # bytes of documents


class N5(Format):
    """N5, as TensorStore, zarr-python 2 or the Java library write it."""

    name: ClassVar[str] = "n5"
    zarr_format: ClassVar[int] = 2
    detection_keys: ClassVar[tuple[str, ...]] = (_DOCUMENT,)
    metadata_keys: ClassVar[tuple[str, ...]] = detection_keys
    detection_priority: ClassVar[int] = 60
    conflicting_formats: ClassVar[tuple[str, ...]] = ("v2",)
    implicit_groups: ClassVar[bool] = True
    chunk_key_encoding: ClassVar[ExtensionDefinition] = ExtensionDefinition("n5")
    # The one compression that all libraries of N5 have, and that notices damage.
    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = (
        ExtensionDefinition("gzip", {"level": 6}),
    )

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read ``attributes.json``; without one, look whether the path is within a hierarchy."""
        data = read_metadata(store, _key(path))
        if data is None:
            return _IMPLICIT if _is_implicit(store, path) else None
        return _parsed(store, path, data)

    def from_json(self, document: JSON, location: Location) -> NodeMetadata:
        """Read ``{"attributes.json": ...}``, or ``{}`` for a group that has none."""
        content = document.get(_DOCUMENT, {}) if isinstance(document, dict) else None
        if not isinstance(document, dict) or not isinstance(content, dict):
            message = "the metadata document of an N5 node must be an object"
            raise MetadataValidationError(location, [ValidationProblem("", message)])
        if not document:
            return _IMPLICIT
        return read_array(content, location) if is_array(content) else read_group(content)

    def to_json(self, metadata: NodeMetadata) -> JSON:
        """Return ``{"attributes.json": ...}``, or ``{}`` for a group that needs none."""
        if isinstance(metadata, ArrayMetadata):
            return {_DOCUMENT: write_array(metadata, Location("array in N5"))}
        document = write_group(metadata, Location("group in N5"))
        return {} if document is None else {_DOCUMENT: document}

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write ``attributes.json``, unless it is of a group that needs none."""
        _mark_root(store, path)
        content = _content(self.to_json(metadata))
        if content is not None or not path:
            store.set(_key(path), _encoded(path, content or {}))

    def create(
        self, store: Store, path: str, metadata: NodeMetadata, *, known_empty: bool = False
    ) -> bool:
        """Write ``attributes.json`` if there is no node, under the lock of its key."""
        content = _encoded(path, _content(self.to_json(metadata)) or {})
        key = _key(path)
        if store.exists(key) or _is_implicit(store, path):
            return False
        _mark_root(store, path)
        return store_new(store, key, lambda: content)

    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read and write ``attributes.json`` under the lock of its key."""
        key = _key(path)
        location = Location(store, key=key)
        changed: NodeMetadata | None = None

        def change_document(reader: ByteReader | None) -> Buffers | None:
            nonlocal changed
            metadata: NodeMetadata | None = None
            if reader is not None:
                metadata = _parsed(store, path, read_metadata_from(reader, location))
            elif _is_implicit(store, path):
                metadata = _IMPLICIT
            if metadata is None:
                raise NodeNotFoundError(location, "the node has been removed")
            document = self.to_json(change(metadata))
            changed = self.from_json(document, location)
            content = _content(document)
            return None if content is None else strictjson.encode(content)

        store.update(key, change_document)
        assert changed is not None
        return changed

    def is_valid_name(self, name: str) -> bool:
        """Names are those of version 3, and those that it reserves."""
        return is_node_name(name) or is_reserved_name(name)

    def check_path(self, path: str) -> None:
        """Check that no name is that of a metadata document, which a directory would hide."""
        for name in path.split("/"):
            if name in _DOCUMENT_NAMES:
                raise NodeNameError(
                    repr(path), f"{name!r} is the key of metadata documents; choose another name"
                )

    def has_node(self, store: Store, path: str) -> bool:
        """Look for ``attributes.json``, or anything below that is of no other format."""
        return super().has_node(store, path) or _holds_nodes(store, path)

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Read every document there may be, without looking at ancestors."""

        def read(child: str) -> NodeMetadata | None:
            data = read_metadata(store, _key(child))
            if data is not None:
                return _parsed(store, child, data)
            return _IMPLICIT if _holds_nodes(store, child) else None

        return self._each_child(store, path, read)

    def find_unmanaged_key(self, store: Store, path: str) -> str | None:
        """Return a key that is neither ``attributes.json`` nor a possible block of an array."""
        others: list[str] = []
        arrays: dict[str, None] = {}
        for key in store.list_prefix(self.chunk_prefix(path)):
            if key.rpartition("/")[2] != _DOCUMENT:
                others.append(key)
            elif _is_array(store, key):
                arrays[key.removesuffix(_DOCUMENT)] = None
        return next(without_chunks(others, arrays), None)


def _key(path: str) -> str:
    return f"{path}/{_DOCUMENT}" if path else _DOCUMENT


def _parsed(store: Store, path: str, data: bytes) -> NodeMetadata | None:
    """The metadata of a document; None if it is another program's."""
    known = _known.get(data)
    if known is not None:
        return known
    location = Location(store, key=_key(path))
    try:
        document = strictjson.loads(data, location, constants=True)
    except MetadataDecodeError:
        prefix = f"{path}/" if path else ""
        if any(store.exists(prefix + mark) for mark in _FOREIGN):
            return None
        raise
    if not isinstance(document, dict):
        return None
    metadata = read_array(document, location) if is_array(document) else read_group(document)
    return _known.put(data, metadata, len(data))


def _content(document: JSON) -> dict[str, JSON] | None:
    content = document.get(_DOCUMENT) if isinstance(document, dict) else None
    return content if isinstance(content, dict) else None


def _encoded(path: str, content: dict[str, JSON]) -> bytes:
    """A new document as it is stored; the root says which version it is."""
    return strictjson.encode(content if path or "n5" in content else {"n5": VERSION, **content})


def _mark_root(store: Store, path: str) -> None:
    """Make the root a group of N5 if it is not a node, to distinguish groups from other prefixes."""
    if path and not any(store.exists(mark) for mark in (_DOCUMENT, *_FOREIGN)):
        store_new(store, _DOCUMENT, lambda: _encoded("", {}))


def _is_implicit(store: Store, path: str) -> bool:
    """Whether a path without a document is a group: there is something below, of N5."""
    if not path or not store.supports_listing or not _holds_nodes(store, path):
        return False
    names = path.split("/")
    for depth in range(len(names) - 1, -1, -1):
        document = _document(store, "/".join(names[:depth]))
        if document is not None:
            return not is_array(document)
    return False


def _holds_nodes(store: Store, path: str) -> bool:
    """Whether there is something below a path, and no document of another format."""
    keys, prefixes = store.list_dir(f"{path}/")
    return bool(keys or prefixes) and _FOREIGN.isdisjoint(key.rpartition("/")[2] for key in keys)


def _document(store: Store, path: str) -> dict[str, JSON] | None:
    data = read_metadata(store, _key(path))
    try:
        document = None if data is None else strictjson.loads(data, constants=True)
    except MetadataDecodeError:
        return None
    return document if isinstance(document, dict) else None


def _is_array(store: Store, key: str) -> bool:
    """Whether a document is an array's; one that is damaged counts, as it shall be removed."""
    path = key.removesuffix(_DOCUMENT).rstrip("/")
    try:
        return isinstance(_parsed(store, path, read_metadata(store, key) or b""), ArrayMetadata)
    except MetadataError:
        return True
