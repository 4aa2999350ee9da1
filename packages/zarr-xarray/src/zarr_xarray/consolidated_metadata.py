"""Consolidated metadata of a hierarchy that datasets are written to.

It contains copies of metadata documents.  In version 3, their keys are the paths of the nodes, in
version 2 those of the documents (``a/.zarray``), relative to the group.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from zarr_core import MemoryStore, consolidate_metadata, create_group
from zarr_core.errors import NodeExistsError
from zarr_core.extension import GroupMetadata, Location, NodeNotFoundError, strictjson
from zarr_core.interfaces.metadata_document import read_metadata_from
from zarr_core.optional import optional_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import JSON, ArrayMetadata, Buffers, ByteReader, Format, Store
    from zarr_core.hierarchy.rollback import Rollback
    from zarr_core.metadata.group import ConsolidatedMetadata

    Copies = dict[str, JSON]


def consolidated_key(format_: Format, path: str) -> str:
    """The key of the document with the consolidated metadata of a group."""
    return format_.documents(path)[-1 if format_.zarr_format == 2 else 0]


def update_copies(
    store: Store, path: str, format_: Format, change: Callable[[Copies], bool]
) -> bool:
    """Change consolidated metadata by one atomic write; return whether the group has it.

    ``change`` changes the copies in place, and returns whether to store them.
    """
    exists = False
    key = consolidated_key(format_, path)

    def update(reader: ByteReader | None) -> Buffers | ByteReader | None:
        nonlocal exists
        exists = False
        if reader is None:
            return None
        location = Location(store, key=key)
        # Attributes may have NaN, which other writers store as a token that is not valid JSON.
        document: Any = strictjson.loads(
            read_metadata_from(reader, location), location, constants=True
        )
        consolidated = document if format_.name == "v2" else document.get("consolidated_metadata")
        exists = consolidated is not None
        changes = exists and change(consolidated["metadata"])
        return strictjson.encode(document) if changes else reader

    store.update(key, update)
    return exists


class ConsolidatedCopies:
    """Changes to the consolidated metadata of a hierarchy, which the node at ``root`` contains.

    ``consolidate`` tells whether to consolidate a hierarchy without consolidated metadata;
    existing consolidated metadata is always updated.
    """

    def __init__(self, store: Store, root: str, format_: Format, consolidate: bool) -> None:
        self.store = store
        self.root = root
        self.format = format_
        self.consolidate = consolidate
        self._nodes: dict[str, JSON] = {}
        self._removed: set[str] = set()
        self._is_new = False
        self._pending = False

    def _relative(self, path: str) -> str:
        return path[len(self.root) :].lstrip("/")

    def record(self, path: str, metadata: ArrayMetadata | GroupMetadata) -> None:
        """Record a node; other processes can append to an array, too."""
        self._nodes[self._relative(path)] = self.format.to_json(metadata)
        self._pending = True

    def record_removed(self, path: str) -> None:
        """Record that a group was removed, with everything below it."""
        if relative := self._relative(path):  # the root contains the metadata itself
            self._removed.add(relative)
        self._pending = True

    def create_root(self, attributes: Mapping[str, Any], rollback: Rollback) -> None:
        """Create the root in an empty store, with the nodes that are recorded so far.

        Raises NodeExistsError if another process has created it.
        """
        metadata = self.format.to_format(
            GroupMetadata(attributes=json_attributes(attributes)), Location("new group")
        )
        if self.consolidate:
            metadata = metadata.replace(consolidated=self._consolidated())
        self._is_new, self._pending = True, False
        if not rollback.create(self.store, self.root, self.format, metadata, known_empty=True):
            location = Location(self.store, self.root)
            raise NodeExistsError(location, "was created by another process meanwhile")

    def write(self) -> None:
        """Write the changes that are recorded since the root was created, after their nodes."""
        if not self._pending and (self._is_new or not self.consolidate):
            return
        if not self.consolidate:
            existing = self.format.read(self.store, self.root)
            if not isinstance(existing, GroupMetadata) or existing.consolidated is None:
                return
        if not update_copies(self.store, self.root, self.format, self._change) and self.consolidate:
            with suppress(NodeNotFoundError):  # a group without a root
                consolidate_metadata(self.store, self.root, self.format.name)

    def remove_rolled_back(self) -> None:
        """Remove recorded nodes that no longer exist."""
        for relative in [*self._nodes]:
            if self._read(relative) is None:
                del self._nodes[relative]
                self._removed.add(relative)
        self._pending = True
        self.write()

    def _read(self, relative: str) -> ArrayMetadata | GroupMetadata | None:
        return self.format.read(self.store, f"{self.root}/{relative}".strip("/"))

    def _consolidated(self) -> ConsolidatedMetadata:
        consolidated: ConsolidatedMetadata = optional_function("consolidated documents")(
            self._nodes
        )
        return consolidated

    def _change(self, copies: Copies) -> bool:
        for key in [key for key in copies if self._is_removed(key)]:
            del copies[key]
        self._record_parents(copies)
        for path, node in self._consolidated().entries.items():
            documents: Any = self._copies_of(path, node)
            key = f"{path}/.zarray" if self.format.zarr_format == 2 else path
            known: Any = copies.get(key, {})  # a group has no shape
            if known.get("shape", []) > documents.get(key, {}).get("shape", []):
                # Of several processes that append, the last one may be the first to come here.
                stored = self._read(path)
                if stored is not None:
                    documents = self._copies_of(path, self.format.to_json(stored))
            copies.update(documents)
        return True

    def _record_parents(self, copies: Copies) -> None:
        """Record the groups above recorded nodes that have no copy, which zarr-python requires."""
        document = "/.zgroup" if self.format.zarr_format == 2 else ""
        above = (accumulate(path.split("/")[:-1], "{}/{}".format) for path in self._nodes)
        for path in sorted({*chain(*above)} - self._nodes.keys()):
            metadata = None if path + document in copies else self._read(path)
            if metadata is not None:
                self._nodes[path] = self.format.to_json(metadata)

    def _is_removed(self, key: str) -> bool:
        return any(f"{key}/".startswith(f"{path}/") for path in self._removed)

    def _copies_of(self, path: str, node: JSON) -> Copies:
        if self.format.zarr_format != 2:
            return {path: node}
        assert isinstance(node, dict), "a node of version 2 has several documents"
        return {f"{path}/{name}".lstrip("/"): document for name, document in node.items()}


def json_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Convert attributes of a group to JSON, with NaN and infinities as xarray writes them.

    Raises TypeError if a value cannot be represented in JSON.
    """
    try:
        kept = strictjson.keep_nonfinite(attributes)
        return create_group(MemoryStore(), attributes=kept).metadata.attributes
    except TypeError as error:
        raise TypeError(f"Invalid attribute in Dataset.attrs. {error}") from error
