"""Consolidated metadata of a hierarchy that datasets are written to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core import MemoryStore, consolidate_metadata, create_group
from zarr_core.errors import NodeExistsError
from zarr_core.extension import GroupMetadata, Location, NodeNotFoundError, strictjson
from zarr_core.metadata.consolidated import ConsolidatedMetadata

from zarr_xarray import metadata_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON, ArrayMetadata, Format, Store
    from zarr_core.hierarchy.rollback import Rollback


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
        self._previous: dict[str, JSON] = {}
        self._removed: set[str] = set()
        self._attributes: dict[str, Any] | None = None
        self._written: metadata_documents.Documents | None = None
        self._pending = False

    def __contains__(self, path: str) -> bool:
        """Whether a node is recorded."""
        return path[len(self.root) :].lstrip("/") in self._nodes

    def record(
        self,
        path: str,
        metadata: ArrayMetadata | GroupMetadata,
        previous: ArrayMetadata | None = None,
    ) -> None:
        """Record a new or changed node.

        ``previous`` is the metadata that it replaced, if other processes can change the node too.
        """
        relative = path[len(self.root) :].lstrip("/")
        self._nodes[relative] = self.format.to_json(metadata)
        if previous is not None:
            self._previous[relative] = self.format.to_json(previous)
        self._pending = True

    def record_removed(self, path: str) -> None:
        """Record that a group was removed, with everything below it."""
        if relative := path[len(self.root) :].lstrip("/"):  # the root contains the metadata itself
            self._removed.add(relative)
        self._pending = True

    def _is_removed(self, path: str) -> bool:
        return any(f"{path}/".startswith(f"{gone}/") for gone in self._removed)

    def create_root(self, attributes: Mapping[str, Any], rollback: Rollback) -> None:
        """Create the root in an empty store, with the nodes that are recorded so far."""
        self._attributes = _to_json_attributes(attributes)
        metadata = self._root(version_2=False)
        fresh = metadata_documents.documents_of(self.format, self.root, metadata)
        try:
            metadata_documents.create_exclusively(self.store, fresh)
        except NodeExistsError:
            raise
        except BaseException:
            rollback.record_uncertain(self.store, self.root, self.format)
            raise
        rollback.record(self.store, self.root, self.format, metadata)
        self._written = fresh
        self._pending = self.consolidate and self.format.zarr_format == 2

    def set_root_attributes(self, attributes: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Record the attributes of an existing root."""
        checked = _to_json_attributes(attributes)
        self._attributes = None if checked == before else checked
        self._pending = True

    def write(self) -> None:
        """Write the recorded changes.

        Consolidated metadata is written after the nodes, so that all nodes in it exist.  In
        version 3 it is part of the document that creates the root, which is written first.
        """
        if not self._pending and (self._written is not None or not self.consolidate):
            return
        if self._written is not None:
            if self.consolidate:
                fresh = metadata_documents.documents_of(self.format, self.root, self._root())
                metadata_documents.write(self.store, fresh, self._written)
            return
        if self._attributes is not None or not self._update_v2_copies():
            self._update_root()

    def remove_rolled_back(self) -> None:
        """Remove recorded nodes that no longer exist."""
        if self._written is not None and self.format.read(self.store, self.root) is None:
            return
        for relative in [*self._nodes]:
            path = f"{self.root}/{relative}".strip("/")
            if self.format.read(self.store, path) is None:
                del self._nodes[relative]
                self._removed.add(relative)
        self._pending = True
        self.write()

    def _current(self, old: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the recorded nodes, as they are stored now.

        Processes that resize the same array may update the consolidated metadata in another
        order.  If ``old``, the consolidated metadata to update, does not contain the metadata that
        was replaced, another process has updated it meanwhile, and the node is read again: the
        last update contains the last metadata.
        """
        current = dict(self._nodes)
        for path, previous in self._previous.items():
            if path in current and not strictjson.identical(old.get(path), previous):
                metadata = self.format.read(self.store, f"{self.root}/{path}".strip("/"))
                if metadata is None:
                    del current[path]
                else:
                    current[path] = self.format.to_json(metadata)
        return current

    def _update_v2_copies(self) -> bool:
        """Update ``.zmetadata`` of version 2; return whether it exists."""
        if self.format.zarr_format != 2:
            return False

        def change(document: Any) -> bool:
            old: dict[str, JSON] = document["metadata"]
            for name in [name for name in old if self._is_removed(name.rpartition("/")[0])]:
                del old[name]
            copies: dict[str, JSON] = {
                path: {name: old.get(f"{path}/{name}".lstrip("/")) for name in node}
                for path, node in self._previous.items()
                if isinstance(node, dict)
            }
            for path, node in self._current(copies).items():
                assert isinstance(node, dict), "a node of version 2 has several documents"
                for name, content in node.items():
                    old[f"{path}/{name}".lstrip("/")] = content
            return True

        key = self.format.documents(self.root)[-1]
        return metadata_documents.update_document(self.store, key, change)

    def _update_root(self) -> None:
        if self._attributes is None and not self.consolidate:
            root = self.format.read(self.store, self.root)
            if not isinstance(root, GroupMetadata) or root.consolidated is None:
                return  # no attributes to set, no consolidated metadata to update
        consolidated = False

        def change(metadata: ArrayMetadata | GroupMetadata) -> ArrayMetadata | GroupMetadata:
            nonlocal consolidated
            if not isinstance(metadata, GroupMetadata):
                return metadata
            changed = metadata
            if self._attributes is not None:
                changed = changed.replace(attributes=self._attributes)
            if changed.consolidated is not None:
                consolidated = True
                old = changed.consolidated.entries
                kept = {path: node for path, node in old.items() if not self._is_removed(path)}
                current = ConsolidatedMetadata.from_documents(self._current(old))
                entries = {**kept, **current.entries}
                changed = changed.replace(
                    consolidated=replace(changed.consolidated, entries=entries)
                )
            return changed

        try:
            self.format.update(self.store, self.root, change)
        except NodeNotFoundError:
            return  # a group without a root, which would have the consolidated metadata
        if self.consolidate and not consolidated:
            consolidate_metadata(self.store, self.root, self.format.name)

    def _entries(self) -> ConsolidatedMetadata:
        return ConsolidatedMetadata.from_documents(self._nodes)

    def _root(self, version_2: bool = True) -> GroupMetadata:
        """Return the metadata of a new root with the recorded nodes."""
        metadata = GroupMetadata(attributes=self._attributes or {})
        metadata = self.format.to_format(metadata, Location("new group"))
        if self.consolidate and (version_2 or self.format.zarr_format != 2):
            metadata = metadata.replace(consolidated=self._entries())
        return metadata


def _to_json_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Convert attributes of a group to JSON, with NaN and infinities as xarray writes them.

    Raises TypeError if a value cannot be represented in JSON.
    """
    try:
        given = strictjson.keep_nonfinite(attributes)
        return create_group(MemoryStore(), attributes=given).metadata.attributes
    except TypeError as error:
        raise TypeError(f"Invalid attribute in Dataset.attrs. {error}") from error
