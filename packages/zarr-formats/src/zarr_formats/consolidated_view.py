"""Consolidated metadata of a group: lookups and updates.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from zarr_core.errors import NodeTypeError
from zarr_core.extension import GroupMetadata, Location, key_lock
from zarr_core.metadata.group import ConsolidatedMetadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zarr_core.extension import JSON, Format, Store
    from zarr_core.interfaces.format import NodeMetadata


class IndexedView:
    """The consolidated metadata of one group, for the nodes that are reached through it.

    Paths are paths in the store.

    Attributes
    ----------
    path : str
        Path of the group.
    metadata : ConsolidatedMetadata
        Its consolidated metadata.
    lookup : bool
        Whether nodes are looked up here.  Otherwise, the consolidated metadata is only updated.
    """

    def __init__(
        self,
        store: Store,
        path: str,
        format_: Format,
        metadata: ConsolidatedMetadata,
        lookup: bool,
    ) -> None:
        self._store = store
        self.path = path
        self._format = format_
        self.metadata = metadata
        self.lookup = lookup
        self._index: tuple[ConsolidatedMetadata, dict[str, list[str]]] | None = None
        # The metadata of each node, after the entry from which the metadata was parsed.
        self._nodes: dict[str, tuple[JSON, NodeMetadata]] = {}
        self._batches: list[tuple[int, int]] = []  # processes and threads with open batches
        # Changes that are not written yet: relative paths of removed and of changed nodes.
        self._pending: list[tuple[list[str], list[str]]] = []

    @property
    def is_current(self) -> bool:
        """Whether nodes can be looked up here; otherwise, the store is read."""
        return self.lookup and not self._pending

    def node(self, path: str) -> NodeMetadata | None:
        """The metadata of a node; None if it has no entry."""
        relative, entries = self._relative(path), self.metadata.entries
        names = relative.split("/")
        if relative not in entries or not all(map(self._format.is_valid_name, names)):
            return None
        return self._node(relative, entries[relative])

    def children(self, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name."""
        parent, entries = self._relative(path), self.metadata.entries
        for name in self.child_names(path):
            relative = f"{parent}/{name}".lstrip("/")
            if relative in entries:  # another thread may have replaced them
                yield name, self._node(relative, entries[relative])

    def child_names(self, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted."""
        return iter(self._names().get(self._relative(path), ()))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Collect the changes that all threads record in the block, and write them when it ends.

        Nested blocks of one thread write when the outermost ends.
        """
        batch = os.getpid(), threading.get_ident()
        self._batches.append(batch)
        try:
            yield
        finally:
            self._batches.remove(batch)
            if batch not in self._batches:
                self._write_pending()

    def record(self, *, removed: Sequence[str] = (), changed: Sequence[str] = ()) -> None:
        """Update the entries of nodes from the store, in one write.

        ``removed`` are paths of nodes that were removed with everything below them, ``changed``
        those of new or changed nodes.
        """
        # Nodes are read under the lock of the consolidated metadata: if several threads change a
        # node, the last of them to record it reads its latest metadata.
        paths = [[*filter(None, map(self._relative, paths))] for paths in (removed, changed)]
        if any(paths):
            self._pending.append((paths[0], paths[1]))
        # After a fork within a batch, the parent does not write the changes of the child.
        if os.getpid() not in [process for process, _ in self._batches]:
            self._write_pending()

    def _write_pending(self) -> None:
        # Locked while writing: another thread may be writing the changes of this one, which
        # must be stored when this returns.
        with key_lock(id(self), self.path):
            changes = list(self._pending)  # other threads append changes meanwhile
            if not changes:
                return

            def change(metadata: NodeMetadata) -> NodeMetadata:
                if not isinstance(metadata, GroupMetadata):
                    location = Location(self._store, self.path)
                    raise NodeTypeError(location, "has become a node of the other type")
                if metadata.consolidated is None:
                    return metadata  # it was removed meanwhile
                self.metadata = self._changed(metadata.consolidated, changes)
                return metadata.replace(consolidated=self.metadata)

            self._format.update(self._store, self.path, change)
            del self._pending[: len(changes)]

    def _changed(
        self, metadata: ConsolidatedMetadata, changes: list[tuple[list[str], list[str]]]
    ) -> ConsolidatedMetadata:
        """Consolidated metadata in which the entries of changed nodes are read from the store."""
        entries = dict(metadata.entries)
        removed = dict.fromkeys(path for paths, _ in changes for path in paths)
        below = [
            path
            for path in (entries if removed else ())
            if any(group in removed for group in _with_groups(path))
        ]
        # zarr-python requires entries of all groups above a node.
        changed = [
            path
            for _, paths in changes
            for node in paths
            for path in _with_groups(node)
            if path == node or path not in entries
        ]
        for path in dict.fromkeys([*below, *removed, *changed]):
            node = self._format.read(self._store, f"{self.path}/{path}".lstrip("/"))
            if node is None:
                entries.pop(path, None)
            else:
                documents = {path: self._format.to_json(node)}
                entries |= consolidated_documents(documents).entries
        return replace(metadata, entries=entries)

    def _node(self, relative: str, entry: JSON) -> NodeMetadata:
        known = self._nodes.get(relative)
        if known is None or known[0] is not entry:
            location = Location(f"{self._store} consolidated metadata of {relative!r}")
            known = self._nodes[relative] = entry, self._format.from_json(entry, location)
        return known[1]

    def _relative(self, path: str) -> str:
        return path[len(self.path) :].lstrip("/")

    def _names(self) -> dict[str, list[str]]:
        """Names of the nodes by the relative path of their group."""
        if self._index is None or self._index[0] is not self.metadata:
            names: dict[str, list[str]] = {}
            # Other writers may have written invalid entries, such as thousands of nested
            # groups: each distinct name and each parent is checked once.
            is_valid_name = cache(self._format.is_valid_name)
            possible: set[str] = set()
            for path in sorted(self.metadata.entries):
                parent, slash, name = path.rpartition("/")
                if slash and parent not in possible:
                    if not all(map(is_valid_name, parent.split("/"))):
                        continue
                    possible.add(parent)
                if is_valid_name(name):
                    names.setdefault(parent, []).append(name)
                    possible.add(path)
            self._index = (self.metadata, names)
        return self._index[1]


def _with_groups(path: str) -> Iterator[str]:
    """A path below a group, after the paths of the groups above it."""
    return accumulate(path.split("/"), "{}/{}".format)


def consolidated_documents(documents: Mapping[str, JSON]) -> ConsolidatedMetadata:
    """Create consolidated metadata from documents by path relative to the group.

    Paths are sorted.  Copies of groups do not contain consolidated metadata.
    """
    return ConsolidatedMetadata(
        {path: without_copies(documents[path]) for path in sorted(documents)}
    )


# Members with consolidated metadata, in version 3 or 2.
_COPIES = ("consolidated_metadata", ".zmetadata")


def without_copies(document: JSON) -> JSON:
    """A document of a node without consolidated metadata."""
    if not isinstance(document, dict):
        return document
    # zarr-python 3 also leaves an empty one in the copies of groups of version 2.
    return {
        name: without_copies(value) if name == ".zgroup" else value
        for name, value in document.items()
        if name not in _COPIES
    }
