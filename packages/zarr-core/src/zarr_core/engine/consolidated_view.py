"""Consolidated metadata of a group: lookups and updates.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from zarr_core.errors import NodeTypeError
from zarr_core.interfaces.keylock import key_lock
from zarr_core.location import Location
from zarr_core.metadata.consolidated import ConsolidatedMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from zarr_core.definition import JSON
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


class _Changes:
    """Relative paths of removed nodes (``removed``), and of new or changed nodes (``changed``)."""

    def __init__(self) -> None:
        self.removed: dict[str, None] = {}
        self.changed: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self.removed or self.changed)

    def add(self, other: _Changes) -> None:
        self.removed |= other.removed
        self.changed |= other.changed

    def copy(self) -> _Changes:
        copied = _Changes()
        copied.add(self)
        return copied

    def includes_removed(self, name: str) -> bool:
        """Whether a node, or a group that contains it, was removed."""
        return any(path in self.removed for path in accumulate(name.split("/"), "{}/{}".format))


class ConsolidatedView:
    """The consolidated metadata of one group, for the nodes that are reached through it.

    If ``lookup`` is false, nodes are not looked up in it; it is only updated after changes through
    nodes that are reached from the group.
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
        self._nodes: dict[str, tuple[JSON, NodeMetadata]] = {}
        # Open batches by thread, and the changes to write.
        self._batches: Counter[int] = Counter()
        self._process = 0
        self._pending = _Changes()
        # Pending changes that lookups have not applied yet, and the metadata with the others.
        self._unseen = _Changes()
        self._seen: ConsolidatedMetadata | None = None

    def node(self, path: str) -> NodeMetadata | None:
        """The metadata of a node; None if it has no entry."""
        self._see_pending()
        relative = self._relative(path)
        if relative not in self.metadata or not self._may_be(relative):
            return None
        return self._parsed(relative)

    def children(self, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name."""
        parent = self._relative(path)
        for name in self.child_names(path):
            yield name, self._parsed(f"{parent}/{name}".lstrip("/"))

    def child_names(self, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted."""
        self._see_pending()
        return iter(self._names().get(self._relative(path), ()))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Collect the changes that all threads record in the block, and write them when it ends.

        Nested blocks of one thread write when the outermost ends.
        """
        thread = threading.get_ident()
        with self._guard():
            self._batches[thread] += 1
            self._process = os.getpid()
        try:
            yield
        finally:
            with self._guard():
                self._batches[thread] -= 1
                ended = not self._batches[thread]
                if ended:
                    del self._batches[thread]
            if ended:
                self._write_pending()

    def record(self, *, removed: Sequence[str] = (), changed: Sequence[str] = ()) -> None:
        """Update the entries of nodes from the store, in one write.

        ``removed`` are paths of nodes that were removed with everything below them, ``changed`` those
        of new or changed nodes.  Nodes are read under the lock of the consolidated metadata: if
        several threads change a node, the last of them to record it reads its latest metadata.
        """
        changes = _Changes()
        changes.removed.update(
            (relative, None) for path in removed if (relative := self._relative(path))
        )
        changes.changed.update(
            (relative, None) for path in changed if (relative := self._relative(path))
        )
        if not changes:
            return
        with self._guard():
            self._pending.add(changes)
            self._unseen.add(changes)
            # After a fork within a batch, the parent does not write the changes of the child.
            later = self._batches and self._process == os.getpid()
        if not later:
            self._write_pending()

    def _guard(self) -> AbstractContextManager[None]:
        """Lock for the attributes of batches; safe after a fork."""
        return key_lock((id(self), "batch"), self.path)

    def _write_pending(self) -> None:
        # Locked while writing: another thread may be writing the changes of this one, which
        # must be stored when this returns.
        with key_lock(id(self), self.path):
            with self._guard():
                changes, self._pending, self._unseen = self._pending, _Changes(), _Changes()
            try:
                self._write(changes)
            except BaseException:
                with self._guard():
                    self._pending.add(changes)
                    self._unseen.add(changes)
                raise

    def _write(self, changes: _Changes) -> None:
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

    def _see_pending(self) -> None:
        """Apply the unwritten changes of batches, in memory."""
        if not self._unseen and (not self._pending or self.metadata is self._seen):
            return
        with key_lock(id(self), self.path):
            with self._guard():
                # Metadata that was read again lacks all pending changes.
                changes = self._unseen if self.metadata is self._seen else self._pending.copy()
                self._unseen = _Changes()
            self.metadata = self._seen = self._changed(self.metadata, changes)

    def _changed(self, metadata: ConsolidatedMetadata, changes: _Changes) -> ConsolidatedMetadata:
        """Consolidated metadata in which the entries of changed nodes are read from the store."""
        new = dict(metadata.entries)
        below = [name for name in new if changes.includes_removed(name)] if changes.removed else []
        # Groups that were created in another way: zarr-python requires all groups above a node.
        above = [
            group
            for name in changes.changed
            for group in accumulate(name.split("/")[:-1], "{}/{}".format)
            if group not in new
        ]
        for name in dict.fromkeys([*below, *above, *changes.changed]):
            found = self._format.read(self._store, f"{self.path}/{name}".lstrip("/"))
            if found is None:
                new.pop(name, None)
            else:
                documents = {name: self._format.to_json(found)}
                new |= ConsolidatedMetadata.from_documents(documents).entries
        return replace(metadata, entries=new)

    def _parsed(self, relative: str) -> NodeMetadata:
        document = self.metadata.entries[relative]
        known = self._nodes.get(relative)
        if known is not None and known[0] is document:
            return known[1]
        location = Location(f"{self._store} consolidated metadata of {relative!r}")
        parsed = self._format.from_json(document, location)
        self._nodes[relative] = (document, parsed)
        return parsed

    def _may_be(self, relative: str) -> bool:
        return all(map(self._format.is_valid_name, relative.split("/")))

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
            for path in sorted(self.metadata.paths()):
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


def consolidated_view(
    store: Store, path: str, format_: Format, metadata: GroupMetadata, lookup: bool, required: bool
) -> ConsolidatedView | None:
    """The view of a group's own consolidated metadata; None if it has none.

    Raises
    ------
    ValueError
        If it is required and there is none.
    """
    if metadata.consolidated is not None:
        return ConsolidatedView(store, path, format_, metadata.consolidated, lookup)
    if required:
        raise ValueError(
            f"{Location(store, path)} has no consolidated metadata; create it with "
            "consolidate_metadata()"
        )
    return None
