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
from zarr_core.interfaces.keys import key_lock
from zarr_core.location import Location
from zarr_core.metadata.consolidated import ConsolidatedMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from zarr_core.definition import JSON
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


class _Change:
    """A change of a node that consolidated metadata does not contain yet."""

    __slots__ = ("removed",)

    def __init__(self, removed: bool) -> None:
        self.removed = removed  # with everything below it, before other changes


class ConsolidatedView:
    """The consolidated metadata of one group, for the nodes that are reached through it.

    If ``lookup`` is false, nodes are not looked up in it; it is only updated after changes through
    nodes that are reached from the group.  Nodes with changes that are not written yet are looked
    up in the store.
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
        # The metadata of nodes, with the entry or change for which it was read.
        self._nodes: dict[str, tuple[JSON | _Change, NodeMetadata | None]] = {}
        self._batches: list[tuple[int, int]] = []  # processes and threads with open batches
        self._pending: dict[str, _Change] = {}

    def node(self, path: str) -> NodeMetadata | None:
        """The metadata of a node; None if it has no entry."""
        relative = self._relative(path)
        if relative in self.metadata and not all(
            map(self._format.is_valid_name, relative.split("/"))
        ):
            return None
        return self._node(relative)

    def children(self, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name."""
        parent = self._relative(path)
        for name in self.child_names(path):
            metadata = self._node(f"{parent}/{name}".lstrip("/"))
            if metadata is not None:
                yield name, metadata

    def child_names(self, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted."""
        parent = self._relative(path)
        names = self._names().get(parent, [])
        if not self._pending:
            return iter(names)
        changed = [name.rpartition("/") for name in list(self._pending)]
        possible = {*names, *(name for above, _, name in changed if above == parent)}
        paths = {name: f"{parent}/{name}".lstrip("/") for name in sorted(possible)}
        return (
            name
            for name, path in paths.items()
            if self._change(path) is None or self._node(path) is not None
        )

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

        ``removed`` are paths of nodes that were removed with everything below them, ``changed`` those
        of new or changed nodes.  Nodes are read under the lock of the consolidated metadata: if
        several threads change a node, the last of them to record it reads its latest metadata.
        """
        with self._lock("pending"):
            for path in filter(None, map(self._relative, removed)):
                self._pending[path] = _Change(True)
            for path in filter(None, map(self._relative, changed)):
                # zarr-python requires entries of all groups above a node.
                for group in accumulate(path.split("/")[:-1], "{}/{}".format):
                    if group not in self.metadata and group not in self._pending:
                        self._pending[group] = _Change(False)
                known = self._pending.get(path)
                self._pending[path] = _Change(known is not None and known.removed)
        # After a fork within a batch, the parent does not write the changes of the child.
        if os.getpid() not in [process for process, _ in self._batches]:
            self._write_pending()

    def _lock(self, name: str) -> AbstractContextManager[None]:
        """A lock of this object; safe after a fork."""
        return key_lock((id(self), name), self.path)

    def _write_pending(self) -> None:
        # Locked while writing: another thread may be writing the changes of this one, which
        # must be stored when this returns.
        with self._lock("write"):
            with self._lock("pending"):
                changes = dict(self._pending)
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
            with self._lock("pending"):
                for path, written in changes.items():
                    if self._pending[path] is written:  # not changed again
                        del self._pending[path]

    def _changed(
        self, metadata: ConsolidatedMetadata, changes: dict[str, _Change]
    ) -> ConsolidatedMetadata:
        """Consolidated metadata in which the entries of changed nodes are read from the store."""
        new = dict(metadata.entries)
        removes = any(change.removed for change in changes.values())
        below = [name for name in new if removes and _removed_above(name, changes)]
        for name in dict.fromkeys([*below, *changes]):
            node = self._read(name)
            if node is None:
                new.pop(name, None)
            else:
                documents = {name: self._format.to_json(node)}
                new |= ConsolidatedMetadata.from_documents(documents).entries
        return replace(metadata, entries=new)

    def _change(self, relative: str) -> _Change | None:
        pending = self._pending
        return pending.get(relative) or _removed_above(relative, pending) if pending else None

    def _node(self, relative: str) -> NodeMetadata | None:
        change, entries = self._change(relative), self.metadata.entries
        if change is None and relative not in entries:
            return None
        source = change or entries[relative]
        known = self._nodes.get(relative)
        if known is None or known[0] is not source:
            if isinstance(source, _Change):
                known = source, self._read(relative)
            else:
                location = Location(f"{self._store} consolidated metadata of {relative!r}")
                known = source, self._format.from_json(source, location)
            self._nodes[relative] = known
        return known[1]

    def _read(self, relative: str) -> NodeMetadata | None:
        return self._format.read(self._store, f"{self.path}/{relative}".lstrip("/"))

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


def _removed_above(relative: str, changes: dict[str, _Change]) -> _Change | None:
    """The change that removed a node or a group above it, if any."""
    for path in accumulate(relative.split("/"), "{}/{}".format):
        change = changes.get(path)
        if change is not None and change.removed:
            return change
    return None
