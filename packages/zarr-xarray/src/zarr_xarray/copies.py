"""Consolidated metadata of a hierarchy that datasets are written to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core import MemoryStore, consolidate_metadata, create_group
from zarr_core.extension import (
    ConsolidatedMetadata,
    GroupMetadata,
    NodeNotFoundError,
    strictjson,
)

from zarr_xarray import documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON, ArrayMetadata, Format, Pieces, Store, ValueReader


class Copies:
    """What the root of a hierarchy shall know of the nodes that are written.

    Parameters
    ----------
    store : Store
        Where the hierarchy is.
    root : str
        Path of its root, which holds the consolidated metadata.
    format_ : Format
        Its format.
    wanted : bool
        Whether to consolidate if that was not done before.  Copies that are there are kept in
        step in any case.
    """

    def __init__(self, store: Store, root: str, format_: Format, wanted: bool) -> None:
        self.store = store
        self.root = root
        self.format = format_
        self.wanted = wanted
        self._nodes: dict[str, JSON] = {}
        self._gone: set[str] = set()
        self._attributes: dict[str, Any] | None = None
        self._written: documents.Documents | None = None
        self._pending = False

    def __contains__(self, path: str) -> bool:
        """Whether a node was noted."""
        return path[len(self.root) :].lstrip("/") in self._nodes

    def record(self, path: str, metadata: ArrayMetadata | GroupMetadata) -> None:
        """Note a node that is new or has changed."""
        relative = path[len(self.root) :].lstrip("/")
        self._nodes[relative] = self.format.to_json(metadata)
        self._pending = True

    def forget(self, path: str) -> None:
        """Note that a group was removed, with everything below it."""
        if relative := path[len(self.root) :].lstrip("/"):  # the root takes its copies along
            self._gone.add(relative)
        self._pending = True

    def _is_gone(self, path: str) -> bool:
        return any(f"{path}/".startswith(f"{gone}/") for gone in self._gone)

    def create_root(self, attributes: Mapping[str, Any]) -> None:
        """Make the root, in a store that is empty, with copies of what was noted so far."""
        self._attributes = _checked(attributes)
        fresh = self._fresh(version_2=False)
        documents.claim(self.store, fresh)
        self._written = fresh
        self._pending = self.wanted and self.format.zarr_format == 2

    def change_root(self, attributes: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Note the attributes of a root that was there before."""
        checked = _checked(attributes)
        self._attributes = None if checked == before else checked
        self._pending = True

    def finish(self) -> None:
        """Store what was noted.

        Notes
        -----
        The copies come after the nodes: who finds them finds those, too.  In version 3 they
        share the document that makes the root, and are there first.
        """
        if not self._pending and (self._written is not None or not self.wanted):
            return
        if self._written is not None:
            if self.wanted:
                documents.write(self.store, self._fresh(), self._written)
            return
        if self._attributes is not None or not self._change_copies():
            self._change_root()

    def _change_copies(self) -> bool:
        """Change the copies alone, which version 2 has in a document of their own."""
        if self.format.zarr_format != 2:
            return False
        key = self.format.documents(self.root)[-1]
        there = False

        def change(reader: ValueReader | None) -> Pieces | ValueReader | None:
            nonlocal there
            there = reader is not None
            if reader is None:
                return None
            where = f"{self.store} {key!r}"
            document: Any = strictjson.loads(reader.read(0, reader.size), where, constants=True)
            old: dict[str, JSON] = document["metadata"]
            for name in [name for name in old if self._is_gone(name.rpartition("/")[0])]:
                del old[name]
            for path, node in self._nodes.items():
                assert isinstance(node, dict), "a node of version 2 has several documents"
                for name, content in node.items():
                    old[f"{path}/{name}".lstrip("/")] = content
            return strictjson.encode(document)

        self.store.update(key, change)
        return there

    def _change_root(self) -> None:
        if self._attributes is None and not self.wanted:
            root = self.format.read(self.store, self.root)
            if not isinstance(root, GroupMetadata) or root.consolidated is None:
                return  # nothing to change, no copies to keep in step
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
                kept = {path: node for path, node in old.items() if not self._is_gone(path)}
                entries = {**kept, **self._entries().entries}
                changed = changed.replace(
                    consolidated=replace(changed.consolidated, entries=entries)
                )
            return changed

        try:
            self.format.update(self.store, self.root, change)
        except NodeNotFoundError:
            return  # a group may stand alone; there is no root that could have copies
        if self.wanted and not consolidated:
            consolidate_metadata(self.store, self.root, self.format.name)

    def _entries(self) -> ConsolidatedMetadata:
        return ConsolidatedMetadata.from_documents(self._nodes)

    def _fresh(self, version_2: bool = True) -> documents.Documents:
        """The documents of a root that has nothing but what was noted."""
        metadata = GroupMetadata(attributes=self._attributes or {})
        metadata = self.format.express(metadata, "new group")
        if self.wanted and (version_2 or self.format.zarr_format != 2):
            metadata = metadata.replace(consolidated=self._entries())
        return documents.documents_of(self.format, self.root, metadata)


def _checked(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of a group as plain JSON.

    Raises
    ------
    TypeError
        If a value has no JSON form.
    """
    try:
        return create_group(MemoryStore(), attributes=attributes).attrs.asdict()
    except TypeError as error:
        raise TypeError(f"Invalid attribute in Dataset.attrs. {error}") from error
