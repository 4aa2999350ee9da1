"""Consolidated metadata of a group: looked up, written, kept in step, checked.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zarr_core.interfaces.progress import reporting
from zarr_core.metadata.consolidated import ConsolidatedMetadata, Difference
from zarr_core.metadata.group import GroupMetadata
from zarr_core.nodes.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.progress import Progress
    from zarr_core.interfaces.store import Store


class Consolidation:
    """The consolidated metadata of one group, for the nodes that are reached through it.

    Parameters
    ----------
    store, path, format_
        The group that has it.
    metadata : ConsolidatedMetadata
        What it has.
    lookup : bool
        Whether nodes are looked up in it.  If not, it is only kept in step with
        changes that are made through nodes reached from the group.
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

    def node(self, path: str) -> NodeMetadata | None:
        """The metadata of a node, or None if there is no copy of it."""
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
        return iter(self._names().get(self._relative(path), ()))

    def record(self, *, gone: Sequence[str] = (), there: Sequence[str] = ()) -> None:
        """Bring the copies of nodes in step with what is stored, in one write.

        Parameters
        ----------
        gone : sequence of str
            Paths of nodes that were removed, with everything below them.
        there : sequence of str
            Paths of nodes that are new or have changed.

        Notes
        -----
        The documents are read under the lock of the copies.  Of several who change a
        node, the last to record it finds the last document, whatever the order.
        """
        removed = [relative for path in gone if (relative := self._relative(path))]
        changed = [relative for path in there if (relative := self._relative(path))]
        if not removed and not changed:
            return

        def change(metadata: NodeMetadata) -> NodeMetadata:
            if not isinstance(metadata, GroupMetadata) or metadata.consolidated is None:
                return metadata  # someone removed it: then there is nothing to keep in step
            entries = metadata.consolidated.entries
            below = [
                name
                for name in entries
                if any(f"{name}/".startswith(f"{path}/") for path in removed)
            ]
            new = dict(entries)
            for name in dict.fromkeys([*below, *changed]):
                found = self._format.read(self._store, f"{self.path}/{name}".lstrip("/"))
                if found is None:
                    new.pop(name, None)
                else:
                    new |= ConsolidatedMetadata.from_documents(
                        {name: self._format.to_json(found)}
                    ).entries
            self.metadata = replace(metadata.consolidated, entries=new)
            return metadata.replace(consolidated=self.metadata)

        self._format.update(self._store, self.path, change)

    def _parsed(self, relative: str) -> NodeMetadata:
        document = self.metadata.entries[relative]
        known = self._nodes.get(relative)
        if known is not None and known[0] is document:
            return known[1]
        where = f"{self._store} consolidated metadata of {relative!r}"
        parsed = self._format.from_json(document, where)
        self._nodes[relative] = (document, parsed)
        return parsed

    def _may_be(self, relative: str) -> bool:
        return all(map(self._format.may_be_named, relative.split("/")))

    def _relative(self, path: str) -> str:
        return path[len(self.path) :].lstrip("/")

    def _names(self) -> dict[str, list[str]]:
        """Names of the nodes by the relative path of their group."""
        if self._index is None or self._index[0] is not self.metadata:
            names: dict[str, list[str]] = {}
            for path in sorted(self.metadata.paths()):
                # Who wrote the copies may have written anything.
                if self._may_be(path):
                    parent, _, name = path.rpartition("/")
                    names.setdefault(parent, []).append(name)
            self._index = (self.metadata, names)
        return self._index[1]


def consolidate_metadata(
    store: StoreLike,
    path: str | None = None,
    zarr_format: int | str | None = None,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
) -> Group:
    """Copy the documents of all nodes below a group into the group's own document.

    Opening the group for reading then takes one read for the whole hierarchy.

    Parameters
    ----------
    store : store-like
        Where the group is.
    path : str, optional
        Path of the group in the store.
    zarr_format : int or str, optional
        Accept this format only.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True draws a line on
        standard error.

    Returns
    -------
    Group
        The group, with its consolidated metadata.

    Raises
    ------
    NodeTypeError
        If there is an array.
    """
    from zarr_core.hierarchy.open import open_group  # noqa: PLC0415 - opening knows consolidation

    group = open_group(store, "r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    # The documents are read under the lock that those take who keep the copies in step.
    group._rewrite(
        lambda metadata: metadata.replace(
            consolidated=ConsolidatedMetadata.from_documents(_documents(group, progress))
        )
    )
    return open_group(group.store, "r+", path=group.path, zarr_format=zarr_format)


def unconsolidate_metadata(
    store: StoreLike, path: str | None = None, zarr_format: int | str | None = None
) -> Group:
    """Remove the consolidated metadata of a group, if it has some.

    Parameters
    ----------
    store, path, zarr_format
        The group, as for :func:`consolidate_metadata`.

    Returns
    -------
    Group
        The group, whose members are looked up in the store.

    Raises
    ------
    NodeTypeError
        If there is an array.
    """
    from zarr_core.hierarchy.open import open_group  # noqa: PLC0415 - opening knows consolidation

    group = open_group(store, "r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    if group.metadata.consolidated is not None:
        group._rewrite(lambda metadata: metadata.replace(consolidated=None))
    return open_group(group.store, "r+", path=group.path, zarr_format=zarr_format)


def check_consolidated(
    group: Group, *, progress: Callable[[Progress], object] | bool | None = None
) -> Difference:
    """How the consolidated metadata of a group differs from the stored documents.

    Parameters
    ----------
    group : Group
        A group that has some.
    progress : callable or True, optional
        As for :func:`consolidate_metadata`.

    Returns
    -------
    Difference
        False in a condition if nothing differs.

    Raises
    ------
    ValueError
        If the group has no consolidated metadata.
    """
    # What is stored counts: the handle may be older.
    metadata = group._format.read(group.store, group.path)
    if not isinstance(metadata, GroupMetadata) or metadata.consolidated is None:
        raise ValueError(f"{group._where()} has no consolidated metadata")
    return metadata.consolidated.compare(_documents(group, progress))


def _documents(
    group: Group, progress: Callable[[Progress], object] | bool | None
) -> dict[str, JSON]:
    """The documents of all nodes below a group, by their paths relative to it."""
    prefix = len(group.path) + 1 if group.path else 0
    with reporting(progress, group.path, None, "nodes") as reporter:

        def children(path: str) -> Iterator[tuple[str, NodeMetadata]]:
            for child in group._format.children(group.store, path):
                reporter.advance(1)
                yield child

        return {
            path[prefix:]: group._format.to_json(metadata)
            for path, metadata in walk(group._format, group.store, group.path, None, children)
        }
