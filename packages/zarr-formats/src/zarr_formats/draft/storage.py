"""Reading, creating, changing and removing nodes of both drafts in a store.

Specification: draft of December 2022, "Storage", "Operations".
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from zarr_core.errors import NodeExistsError
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
from zarr_core.formats.unmanaged_keys import is_auxiliary
from zarr_core.interfaces.metadata_document import read_metadata_from

from zarr_formats.draft import chunks, entry_point, groups
from zarr_formats.draft.keys import CONSOLIDATED, Kind, Layout, check_names, may_be_chunk
from zarr_formats.draft.metadata_encoding import decode
from zarr_formats.revision import revise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from zarr_core.extension import JSON, Buffers, ByteReader, Store

    from zarr_formats.draft.entry_point import EntryPoint, Revision
    from zarr_formats.revision import Part

    NodeMetadata = ArrayMetadata | GroupMetadata

_KINDS: tuple[Kind, ...] = ("array", "group")
_METADATA, _NEW = Location("array metadata"), Location("new metadata")
_BLOSC = ExtensionDefinition("blosc", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"})
MINOR = "minor"
"""Member of a node document with the minor version, if it is not 0."""


class DraftFormat(Format):
    """A hierarchy with one entry point, and different prefixes for documents and chunks.

    Subclasses convert the documents of arrays.
    """

    zarr_format: ClassVar[int] = 3
    detection_keys: ClassVar[tuple[str, ...]] = (entry_point.KEY,)
    metadata_keys: ClassVar[tuple[str, ...]] = (entry_point.KEY,)
    implicit_groups: ClassVar[bool] = True
    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = (_BLOSC,)

    name: ClassVar[Revision]
    layout: ClassVar[Layout]
    lenient: ClassVar[bool] = False
    """Whether documents may contain ``NaN`` and ``Infinity``, which are not valid JSON."""

    def __init__(self) -> None:
        # Suffixes of the hierarchies that were opened; most have the first.
        self._suffixes = {".json": None}

    # --- documents ---

    @abstractmethod
    def _read_array(self, document: dict[str, Any], location: Location) -> ArrayMetadata:
        """Read the document of an array from a node document."""

    @abstractmethod
    def _parts(self) -> tuple[Part, ...]:
        """Return how the members of the document of an array are written."""

    def from_json(self, document: JSON, location: Location) -> NodeMetadata:
        """Read ``{"array": ...}``, ``{"group": ...}``, or ``{}`` for an implicit group."""
        parts: dict[str, Any] = document if isinstance(document, dict) else {"": document}
        is_node = not parts or "array" in parts or "group" in parts or parts.keys() == {MINOR}
        if not is_node or type(parts.get(MINOR, 0)) is not int:
            message = 'must be an object with "array" or "group", or empty'
            raise MetadataValidationError(location, [ValidationProblem("", message)])
        if "array" in parts:
            return self._read_array(parts, location).replace(document=parts)
        if "group" in parts:
            ignore_unknown = parts.get(MINOR, 0) > 0
            return groups.read_group(
                parts, f"{self.name}.group", location, ignore_unknown=ignore_unknown
            )
        return GroupMetadata(document=parts)

    def to_json(self, metadata: NodeMetadata) -> JSON:
        """Return ``{"array": ...}``, ``{"group": ...}``, or ``{}`` for an implicit group."""
        if isinstance(metadata, GroupMetadata):
            return groups.write_group(metadata)
        kept = metadata.document
        raw: Any = None if kept is None else kept["array"]
        old = None
        if kept is not None:
            before = self.from_json(kept, _METADATA)
            assert isinstance(before, ArrayMetadata), "it was read as an array"
            old = before
            if metadata.shape != old.shape and 0 in raw["chunk_grid"].get("chunk_shape", ()):
                # Chunk lengths of 0 are invalid if the array gets elements.
                grid = raw["chunk_grid"]
                lengths = [length or 1 for length in grid["chunk_shape"]]
                raw = {**raw, "chunk_grid": {**grid, "chunk_shape": lengths}}
        written = revise(raw, old, metadata, self._parts(), _METADATA)
        return {**(kept or {}), "array": written}

    def to_format(self, metadata: Any, location: Location) -> Any:
        """Convert new metadata to the chunk keys and shards of the drafts."""
        if isinstance(metadata, ArrayMetadata):
            scalar = self.chunk_key_encoding.configuration["scalar"]
            metadata = chunks.adapt_new_array(metadata, str(scalar))
        try:
            return super().to_format(metadata, location)
        except MetadataValidationError as error:
            raise MetadataValidationError(location, error.problems) from error

    # --- reading ---

    def entry(self, store: Store) -> EntryPoint | None:
        """Return the entry point of a hierarchy of this draft, or None.

        Raises
        ------
        MetadataError, UnknownExtensionError
            If the hierarchy is not supported.
        """
        entry = entry_point.read_entry_point(store)
        if entry is None or entry.revision != self.name:
            return None
        self._suffixes[entry.suffix] = None
        return entry

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read an array, an explicit group or an implicit group, in this order."""
        entry = self.entry(store)
        return None if entry is None else self._read(store, path, entry)

    def _read(self, store: Store, path: str, entry: EntryPoint) -> NodeMetadata | None:
        for kind in _KINDS:
            key = self.layout.document(kind, path, entry.suffix)
            data = read_metadata(store, key)
            if data is not None:
                return self._parse(store, path, data, kind, entry)
        return GroupMetadata(document={}) if self._is_implied(store, path) else None

    def _parse(
        self, store: Store, path: str, data: bytes, kind: Kind, entry: EntryPoint
    ) -> NodeMetadata:
        location = Location(store, key=self.layout.document(kind, path, entry.suffix))
        document = (
            strictjson.loads(data, location, constants=self.lenient)
            if entry.encoding is None
            else decode(entry.encoding, data, location)
        )
        documents: dict[str, JSON] = {kind: document}
        if entry.minor:
            documents[MINOR] = entry.minor
        return self.from_json(
            documents | self._additional_members(store, path, documents.get("array")), location
        )

    def _additional_members(self, store: Store, path: str, array: JSON) -> dict[str, JSON]:
        """Return members of the node document that are not in the stored document."""
        return {}

    def _is_implied(self, store: Store, path: str) -> bool:
        """Whether there is a key below a path; false if the store does not support listing.

        The root is always a group, so that new nodes have the same format.
        """
        return not path or self._has_members(store, path)

    def _has_members(self, store: Store, path: str) -> bool:
        if not store.supports_listing:
            return False
        keys = store.list_prefix(self.layout.below(path))
        return any(key.rpartition("/")[2] != CONSOLIDATED for key in keys)

    def child_candidates(self, store: Store, path: str) -> Iterator[str]:
        """Return the names of documents directly below a group, and of prefixes with documents."""
        entry = self.entry(store)
        if entry is None:
            return iter(())
        return iter(self._children(store, path, entry))

    def child_names(self, store: Store, path: str) -> Iterator[str]:
        """Return the possible children: all of them are nodes."""
        return self.child_candidates(store, path)

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Read the documents of all children; the entry point is read once."""
        entry = self.entry(store)
        if entry is None:
            return
        for name in self._children(store, path, entry):
            metadata = self._read(store, f"{path}/{name}" if path else name, entry)
            if metadata is not None:
                yield name, metadata

    def _children(self, store: Store, path: str, entry: EntryPoint) -> list[str]:
        keys, prefixes = store.list_dir(self.layout.below(path))
        names = groups.children(
            self.layout,
            path,
            entry.suffix,
            keys,
            prefixes,
            lambda child: self._is_implied(store, child),
        )
        return sorted(filter(self.is_valid_name, names))

    # --- writing ---

    def check_path(self, path: str) -> None:
        """Raise if a name contains characters that the drafts do not permit."""
        check_names(path)

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write the document of a node; an implicit group does not have one."""
        entry = self._ensure_entry(store, path)
        written = self._stored(metadata, entry)
        if written is not None:
            kind, data = written
            store.set(self.layout.document(kind, path, entry.suffix), data)

    def create(
        self, store: Store, path: str, metadata: NodeMetadata, *, known_empty: bool = False
    ) -> bool:
        """Write the document, and the entry point if it is missing.

        An implicit group becomes explicit.
        """
        self.check_path(path)
        entry = self._ensure_entry(store, path)
        written = self._stored(metadata, entry)
        keys = {kind: self.layout.document(kind, path, entry.suffix) for kind in _KINDS}
        if any(map(store.exists, keys.values())):
            return False
        if written is None or (written[0] == "array" and self._has_members(store, path)):
            return False
        kind, data = written
        return store_new(store, keys[kind], lambda: data)

    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Change the document under the lock of its key; an implicit group becomes explicit."""
        entry = self.entry(store)
        location = Location(store, path)
        if entry is None:
            raise NodeNotFoundError(location, "the node has been removed")
        keys = {kind: self.layout.document(kind, path, entry.suffix) for kind in _KINDS}
        kind: Kind = "array" if store.exists(keys["array"]) else "group"
        changed: NodeMetadata | None = None

        def change_document(reader: ByteReader | None) -> Buffers | None:
            nonlocal changed
            if reader is not None:
                data = read_metadata_from(reader, location)
                metadata = self._parse(store, path, data, kind, entry)
            elif kind == "group" and self._is_implied(store, path):
                metadata = GroupMetadata(document={})
            else:
                raise NodeNotFoundError(location, "the node has been removed")
            changed = change(metadata)
            written = self._stored(changed, entry)
            return None if written is None else written[1]

        store.update(keys[kind], change_document)
        assert changed is not None, "change_document was called"
        return changed

    def _stored(self, metadata: NodeMetadata, entry: EntryPoint) -> tuple[Kind, bytes] | None:
        """Return the kind and bytes of the document of a node; None for an implicit group.

        The document is validated, so that only valid documents are stored.
        """
        written: Any = self.to_json(metadata)
        plain: Any = strictjson.plain(written, _NEW) if not self.lenient else written
        for kind in _KINDS:
            if kind in plain:
                self.from_json(plain, _NEW)
                if entry.encoding is not None:
                    return kind, entry.encoding.encode(plain[kind])
                return kind, strictjson.encode(plain[kind])
        return None

    def _ensure_entry(self, store: Store, path: str) -> EntryPoint:
        """Return the entry point, created if needed; NodeExistsError beside other formats."""
        entry = self.entry(store)
        if entry is None:
            other = groups.other_hierarchy(store)
            if other and (entry := self.entry(store)) is None:  # not created just now
                raise NodeExistsError(
                    Location(store, path),
                    f"{other!r} belongs to a hierarchy of another format, but {self.name!r} "
                    "requires an entry point for the whole store; use the zarr_format of that "
                    "hierarchy, or choose another store",
                )
        if entry is None:
            data = entry_point.new_entry_point(self.name)
            store_new(store, entry_point.KEY, lambda: data)
            entry = self.entry(store)
        if entry is None:
            raise NodeExistsError(
                Location(store, path), "another hierarchy was created at the same time"
            )
        return entry

    def documents(self, path: str) -> tuple[str, ...]:
        """Return the possible documents of a node, with the suffixes of the opened hierarchies."""
        return tuple(
            self.layout.document(kind, path, suffix)
            for suffix in list(self._suffixes)
            for kind in _KINDS
        )

    def prefixes(self, path: str) -> tuple[str, ...]:
        """Return the prefixes of documents and of chunks."""
        return (self.layout.below(path), self.layout.chunks(path))

    def chunk_prefix(self, path: str) -> str:
        """Return the prefix of chunks."""
        return self.layout.chunks(path)

    def find_unmanaged_key(self, store: Store, path: str) -> str | None:
        """Return a key that is neither metadata nor like a chunk key."""
        entry = self.entry(store)
        suffix = ".json" if entry is None else entry.suffix
        for key in store.list_prefix(self.layout.below(path)):
            is_node = self.layout.node(key, suffix) is not None
            if not (is_node or is_auxiliary(key) or key.rpartition("/")[2] == CONSOLIDATED):
                return key
        keys = store.list_prefix(self.layout.chunks(path))
        return next((key for key in keys if not (may_be_chunk(key) or is_auxiliary(key))), None)
