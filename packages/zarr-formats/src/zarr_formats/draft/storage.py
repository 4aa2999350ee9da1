"""What both drafts do with a store: find, make, change, remove nodes.

Specification: draft of December 2022, "Storage", "Operations".
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    Format,
    GroupMetadata,
    MetadataValidationError,
    NodeExistsError,
    NodeNotFoundError,
    Problem,
    store_new,
    strictjson,
)

from zarr_formats.draft import entry_point, expressing, groups
from zarr_formats.draft.keys import CONSOLIDATED, Kind, Layout, check_names, may_be_chunk
from zarr_formats.revision import revise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from zarr_core.extension import JSON, Pieces, Store, ValueReader

    from zarr_formats.draft.entry_point import Dialect, EntryPoint
    from zarr_formats.revision import Part

    NodeMetadata = ArrayMetadata | GroupMetadata

_KINDS: tuple[Kind, ...] = ("array", "group")
_BLOSC = ExtensionDefinition("blosc", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"})
MINOR = "minor"
"""Member of a node document besides the document: the minor version, if it is not 0."""


class DraftFormat(Format):
    """A hierarchy with one entry point, and documents apart from chunks.

    What stands in the documents of arrays, its two kinds know.
    """

    zarr_format: ClassVar[int] = 3
    implicit_groups: ClassVar[bool] = True
    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = (_BLOSC,)

    name: ClassVar[Dialect]
    layout: ClassVar[Layout]
    lenient: ClassVar[bool] = False
    """Whether documents may have ``NaN`` where JSON has not."""

    def __init__(self) -> None:
        # Of the hierarchies that this object has met; most have the first.
        self._suffixes = {".json": None}

    # --- documents ---

    @abstractmethod
    def _read_array(self, document: dict[str, Any], where: str) -> ArrayMetadata:
        """Read the document of an array, and what stands beside it in a node document."""

    @abstractmethod
    def _parts(self) -> tuple[Part, ...]:
        """How the members of an array's document are written."""

    def from_json(self, document: JSON, where: str) -> NodeMetadata:
        """Read ``{"array": ...}``, ``{"group": ...}``, or ``{}`` for an implicit group."""
        found: dict[str, Any] = document if isinstance(document, dict) else {"": document}
        is_node = not found or "array" in found or "group" in found or found.keys() == {MINOR}
        if not is_node or type(found.get(MINOR, 0)) is not int:
            message = 'must be an object with "array" or "group", or empty'
            raise MetadataValidationError(where, [Problem("", message)])
        if "array" in found:
            return self._read_array(found, where).replace(document=found)
        if "group" in found:
            ignoring = found.get(MINOR, 0) > 0
            return groups.read_group(found, f"{self.name}.group", where, ignoring=ignoring)
        return GroupMetadata(document=found)

    def to_json(self, metadata: NodeMetadata) -> JSON:
        """Give the document of a node under the name of its kind."""
        if isinstance(metadata, GroupMetadata):
            return groups.write_group(metadata)
        kept = metadata.document
        raw: Any = None if kept is None else kept["array"]
        old = None
        if kept is not None:
            before = self.from_json(kept, "array metadata")
            assert isinstance(before, ArrayMetadata), "it was read as one"
            old = before
            if metadata.shape != old.shape and 0 in raw["chunk_grid"].get("chunk_shape", ()):
                # Chunks without elements, in an array that had none.
                grid = raw["chunk_grid"]
                lengths = [length or 1 for length in grid["chunk_shape"]]
                raw = {**raw, "chunk_grid": {**grid, "chunk_shape": lengths}}
        written = revise(raw, old, metadata, self._parts(), "array metadata")
        return {**(kept or {}), "array": written}

    def express(self, metadata: Any, where: str) -> Any:
        """New metadata, with the keys and shards that these drafts have."""
        if isinstance(metadata, ArrayMetadata):
            scalar = self.chunk_key_encoding.configuration["scalar"]
            metadata = expressing.adapted(metadata, str(scalar))
        try:
            return super().express(metadata, where)
        except MetadataValidationError as error:
            raise MetadataValidationError(where, error.problems) from error

    # --- reading ---

    def entry(self, store: Store) -> EntryPoint | None:
        """The entry point of a hierarchy of this dialect, or None.

        Raises
        ------
        MetadataError, UnknownExtensionError
            If the hierarchy cannot be read here.
        """
        found = entry_point.read_entry_point(store)
        if found is None or found.dialect != self.name:
            return None
        self._suffixes[found.suffix] = None
        return found

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Look for an array, an explicit group, an implicit group, in this order."""
        entry = self.entry(store)
        return None if entry is None else self._read(store, path, entry)

    def _read(self, store: Store, path: str, entry: EntryPoint) -> NodeMetadata | None:
        for kind in _KINDS:
            key = self.layout.document(kind, path, entry.suffix)
            data = store.get(key)
            if data is not None:
                return self._parse(store, path, bytes(data), kind, entry)
        return GroupMetadata(document={}) if self._is_implied(store, path) else None

    def _parse(
        self, store: Store, path: str, data: bytes, kind: Kind, entry: EntryPoint
    ) -> NodeMetadata:
        where = f"{store} {self.layout.document(kind, path, entry.suffix)!r}"
        found: dict[str, JSON] = {kind: strictjson.loads(data, where, constants=self.lenient)}
        if entry.minor:
            found[MINOR] = entry.minor
        return self.from_json(found | self._besides(store, path, found.get("array")), where)

    def _besides(self, store: Store, path: str, array: JSON) -> dict[str, JSON]:
        """What is to be known of an array, and does not stand in its document."""
        return {}

    def _is_implied(self, store: Store, path: str) -> bool:
        """Whether there is something below a path; unknown where the store cannot list.

        The root is a group from the entry point on, lest new nodes get another format.
        """
        return not path or self._has_members(store, path)

    def _has_members(self, store: Store, path: str) -> bool:
        if not store.supports_listing:
            return False
        keys = store.list_prefix(self.layout.below(path))
        return any(key.rpartition("/")[2] != CONSOLIDATED for key in keys)

    def possible_children(self, store: Store, path: str) -> Iterator[str]:
        """Documents that lie directly below a group, and prefixes of those that lie deeper."""
        entry = self.entry(store)
        if entry is None:
            return iter(())
        return iter(self._children(store, path, entry))

    def child_names(self, store: Store, path: str) -> Iterator[str]:
        """All of these: the listing says that there is a document, or one below."""
        return self.possible_children(store, path)

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Read every document, but the entry point only once."""
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
        return sorted(filter(self.may_be_named, names))

    # --- writing ---

    def check_path(self, path: str) -> None:
        """Names consist of few characters, those that all stores take."""
        check_names(path)

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write the document of a node; an implicit group has none."""
        entry = self._ensure_entry(store, path)
        written = self._stored(metadata)
        if written is not None:
            kind, data = written
            store.set(self.layout.document(kind, path, entry.suffix), data)

    def create(self, store: Store, path: str, metadata: NodeMetadata) -> bool:
        """Write the document, with the entry point if there is none yet.

        A group that was implied may become explicit.
        """
        self.check_path(path)
        entry = self._ensure_entry(store, path)
        written = self._stored(metadata)
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
        """Change the document under the lock of its key; a group may become explicit."""
        entry = self.entry(store)
        where = f"{store} {'/' + path!r}"
        if entry is None:
            raise NodeNotFoundError(where, "the node has been removed")
        keys = {kind: self.layout.document(kind, path, entry.suffix) for kind in _KINDS}
        kind: Kind = "array" if store.exists(keys["array"]) else "group"
        changed: NodeMetadata | None = None

        def change_document(reader: ValueReader | None) -> Pieces | None:
            nonlocal changed
            if reader is not None:
                data = bytes(reader.read(0, reader.size))
                found = self._parse(store, path, data, kind, entry)
            elif kind == "group" and self._is_implied(store, path):
                found = GroupMetadata(document={})
            else:
                raise NodeNotFoundError(where, "the node has been removed")
            changed = change(found)
            written = self._stored(changed)
            return None if written is None else written[1]

        store.update(keys[kind], change_document)
        assert changed is not None, "change_document was called"
        return changed

    def _stored(self, metadata: NodeMetadata) -> tuple[Kind, bytes] | None:
        """The kind and bytes of the document of a node; None if it has none.

        What was read of this format is checked no more; what is new is, so that no
        document reaches a store that could not be read.
        """
        written: Any = self.to_json(metadata)
        plain: Any = strictjson.plain(written, "new metadata") if not self.lenient else written
        for kind in _KINDS:
            if kind in plain:
                self.from_json(plain, "new metadata")
                return kind, strictjson.encode(plain[kind])
        return None

    def _ensure_entry(self, store: Store, path: str) -> EntryPoint:
        """The entry point, made if there is none and the root is no hierarchy of another format.

        Raises
        ------
        NodeExistsError
            If it is one.
        """
        entry = self.entry(store)
        if entry is None:
            other = groups.other_hierarchy(store)
            if other and (entry := self.entry(store)) is None:  # not one of ours, made just now
                raise NodeExistsError(
                    f"{store} {'/' + path!r}",
                    f"{other!r} belongs to a hierarchy of another format, and {self.name!r} has "
                    "an entry point for the whole store; give its zarr_format, or choose "
                    "another place",
                )
        if entry is None:
            data = entry_point.new_entry_point(self.name)
            store_new(store, entry_point.KEY, lambda: data)
            entry = self.entry(store)
        if entry is None:
            raise NodeExistsError(f"{store} {'/' + path!r}", "another hierarchy has just been made")
        return entry

    def documents(self, path: str) -> tuple[str, ...]:
        """Documents of an array, of a group, with the suffixes of the hierarchies in use."""
        return tuple(
            self.layout.document(kind, path, suffix) for suffix in self._suffixes for kind in _KINDS
        )

    def prefixes(self, path: str) -> tuple[str, ...]:
        """Where documents lie, and where chunks."""
        return (self.layout.below(path), self.layout.chunks(path))

    def chunk_prefix(self, path: str) -> str:
        """Where chunks lie."""
        return self.layout.chunks(path)

    def foreign_key(self, store: Store, path: str) -> str | None:
        """A key that is no document, and is neither an array's nor that of a chunk."""
        entry = self.entry(store)
        suffix = ".json" if entry is None else entry.suffix
        arrays: set[str] = set()
        for key in store.list_prefix(self.layout.below(path)):
            node = self.layout.node(key, suffix)
            if node is not None:
                if node[1] == "array":
                    arrays.add(self.layout.chunks(node[0]))
            elif key.rpartition("/")[2] != CONSOLIDATED:
                return key
        is_array = store.exists(self.layout.document("array", path, suffix))
        for key in store.list_prefix(self.layout.chunks(path)):
            if not (is_array or may_be_chunk(key) or groups.lies_in(key, arrays)):
                return key
        return None

    def erase(self, store: Store, path: str) -> None:
        """Remove the documents of a node, then those below it, then the chunks."""
        entry = self.entry(store)
        suffix = ".json" if entry is None else entry.suffix
        for kind in _KINDS:
            store.erase(self.layout.document(kind, path, suffix))
        for prefix in self.prefixes(path):
            store.erase_prefix(prefix)
