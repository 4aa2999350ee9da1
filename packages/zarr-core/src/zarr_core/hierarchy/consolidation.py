"""Consolidated metadata of a group: looked up, written, kept in step, checked.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeTypeError
from zarr_core.hierarchy.walk import walk
from zarr_core.metadata.consolidated import ConsolidatedMetadata, Difference
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.format import Format, NodeMetadata
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
        self._path = path
        self._format = format_
        self.metadata = metadata
        self.lookup = lookup

    def node(self, path: str) -> NodeMetadata | None:
        """The metadata of a node, or None if there is no copy of it."""
        relative = self._relative(path)
        if relative not in self.metadata:
            return None
        return self.metadata.node(relative, f"{self._store} consolidated metadata")

    def children(self, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name."""
        prefix = f"{self._relative(path)}/".lstrip("/")
        for relative in sorted(self.metadata.paths()):
            name = relative[len(prefix) :]
            if relative.startswith(prefix) and name and "/" not in name:
                yield name, self.metadata.node(relative, f"{self._store} consolidated metadata")

    def put(self, path: str, metadata: NodeMetadata) -> None:
        """Record that a node is new or has changed."""
        relative = self._relative(path)
        if not relative:
            return
        document: JSON = metadata.to_json()
        self._change(lambda entries: {**entries, relative: document})

    def remove(self, path: str) -> None:
        """Record that a node is gone, with everything below it."""
        relative = self._relative(path)
        self._change(
            lambda entries: {
                name: document
                for name, document in entries.items()
                if name != relative and not name.startswith(f"{relative}/")
            }
        )

    def _relative(self, path: str) -> str:
        return path[len(self._path) :].lstrip("/")

    def _change(self, change: Callable[[dict[str, JSON]], dict[str, JSON]]) -> None:
        def changed(metadata: NodeMetadata) -> NodeMetadata:
            if not isinstance(metadata, GroupMetadata) or metadata.consolidated is None:
                return metadata  # someone removed it: then there is nothing to keep in step
            entries = change(metadata.consolidated.entries)
            self.metadata = ConsolidatedMetadata.from_documents(entries)
            return metadata.replace(consolidated=self.metadata)

        self._format.update(self._store, self._path, changed)


def consolidate_metadata(
    store: StoreLike, path: str | None = None, zarr_format: int | str | None = None
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
    consolidated = ConsolidatedMetadata.from_documents(_documents(group))

    def change(metadata: NodeMetadata) -> NodeMetadata:
        if not isinstance(metadata, GroupMetadata):
            raise NodeTypeError(group._where(), "is an array; groups have consolidated metadata")
        return metadata.replace(consolidated=consolidated)

    group._format.update(group.store, group.path, change)
    return open_group(group.store, "r+", path=group.path, zarr_format=zarr_format)


def check_consolidated(group: Group) -> Difference:
    """How the consolidated metadata of a group differs from the stored documents.

    Parameters
    ----------
    group : Group
        A group that has some.

    Returns
    -------
    Difference
        False in a condition if nothing differs.

    Raises
    ------
    ValueError
        If the group has no consolidated metadata.
    """
    if group.metadata.consolidated is None:
        raise ValueError(f"{group._where()} has no consolidated metadata")
    return group.metadata.consolidated.compare(_documents(group))


def _documents(group: Group) -> dict[str, JSON]:
    prefix = len(group.path) + 1 if group.path else 0
    return {
        path[prefix:]: metadata.to_json()
        for path, metadata in walk(group._format, group.store, group.path, None)
    }
