"""A group as far as it can be read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zarr_core import names
from zarr_core.errors import MetadataError, NodeNameError
from zarr_core.hierarchy.node import Node
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.nodes.walk import walk
from zarr_core.registry.scope import extensions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from zarr_core.display.info import Info
    from zarr_core.display.tree import Tree
    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.group import Group
    from zarr_core.interfaces.format import NodeMetadata

    T = TypeVar("T")


class ListedGroup(Node[GroupMetadata]):
    """What is in a group."""

    def __getitem__(self, path: str) -> Array | Group:
        """The node at a path below the group.

        Raises
        ------
        KeyError
            If there is none.
        """
        try:
            metadata = self._find(names.normalise_path(path))
        except NodeNameError:
            metadata = None
        if metadata is None:
            raise KeyError(path)
        return self._node(names.join(self.path, path), metadata)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            return self._find(names.normalise_path(path)) is not None
        except NodeNameError:
            return False
        except MetadataError:
            return True  # there is something, though it cannot be opened

    def __iter__(self) -> Iterator[str]:
        """Names of the direct members, sorted; also of those whose documents are damaged."""
        if self._consolidation is not None and self._consolidation.lookup:
            return self._consolidation.child_names(self.path)
        return self._format.child_names(self.store, self.path)

    def __len__(self) -> int:
        """Number of direct members."""
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """True: a group without members is a group all the same."""
        return True

    # --- members ---

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """Paths (relative to the group) and nodes of the members.

        Parameters
        ----------
        max_depth : int or None
            0 for direct members, 1 for those of direct subgroups as well ...; None
            for all.
        use_consolidated_for_children : bool
            Whether consolidated metadata may be used, if the group was opened with it.

        Raises
        ------
        ValueError
            If the depth is negative.
        MetadataError
            If the document of a member is wrong.
        """
        look_up = self._children if use_consolidated_for_children else None
        prefix = len(self.path) + 1 if self.path else 0
        return tuple(
            (path[prefix:], self._node(path, metadata))
            for path, metadata in walk(self._format, self.store, self.path, max_depth, look_up)
        )

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of members; depth as for :meth:`members`."""
        if max_depth == 0:
            return len(self)
        found = walk(self._format, self.store, self.path, max_depth, self._children)
        return sum(1 for _ in found)

    def arrays(self, max_depth: int | None = 0) -> Iterator[tuple[str, Array]]:
        """Paths and arrays among the members; depth as for :meth:`members`."""
        return self._members_of(ArrayMetadata, max_depth)

    def groups(self, max_depth: int | None = 0) -> Iterator[tuple[str, Group]]:
        """Paths and groups among the members; depth as for :meth:`members`."""
        return self._members_of(GroupMetadata, max_depth)

    def array_keys(self) -> Iterator[str]:
        """Names of the arrays; a node with a damaged document is neither array nor group."""
        return self._names_of(ArrayMetadata)

    def group_keys(self) -> Iterator[str]:
        """Names of the groups; a node with a damaged document is neither array nor group."""
        return self._names_of(GroupMetadata)

    def array_values(self) -> Iterator[Array]:
        """The arrays."""
        return (array for _, array in self.arrays())

    def group_values(self) -> Iterator[Group]:
        """The groups."""
        return (group for _, group in self.groups())

    def visit(self, func: Callable[[str], T | None]) -> T | None:
        """Call a function with the path of each member at any depth, until it returns something.

        Parameters
        ----------
        func : callable
            Gets a path relative to the group.  What it returns, unless that is None, ends
            the visit.

        Returns
        -------
        object
            What the function returned at last.
        """
        for path, _ in self._all():
            found = func(path)
            if found is not None:
                return found
        return None

    visitkeys = visit

    def visitvalues(self, func: Callable[[Array | Group], T | None]) -> T | None:
        """Call a function with each member at any depth; as :meth:`visit`."""
        return self.visititems(lambda _, node: func(node))

    def visititems(self, func: Callable[[str, Array | Group], T | None]) -> T | None:
        """Call a function with path and node of each member at any depth; as :meth:`visit`."""
        for path, metadata in self._all():
            found = func(path, self._node(names.join(self.path, path), metadata))
            if found is not None:
                return found
        return None

    def tree(self, level: int | None = None) -> Tree:
        """The hierarchy below the group, to look at.

        Parameters
        ----------
        level : int, optional
            How many levels to show; all if not given.
        """
        from zarr_core.display.tree import tree  # noqa: PLC0415 - lazy: for people only

        return tree(self, level)

    @property
    def info(self) -> Info:
        """What the group is, as a table; never touches the store."""
        from zarr_core.display.info import group_info  # noqa: PLC0415 - lazy: for people only

        return group_info(self)

    def info_complete(self) -> Info:
        """What the group is, with the numbers of its members, which are listed for it."""
        from zarr_core.display.info import group_info  # noqa: PLC0415 - lazy: for people only

        return group_info(self, members=True)

    # --- within ---

    def _names_of(self, kind: type[ArrayMetadata | GroupMetadata]) -> Iterator[str]:
        for name in self:
            metadata = None
            with suppress(MetadataError):
                metadata = self._find(name)
            if isinstance(metadata, kind):
                yield name

    def _all(self) -> Iterator[tuple[str, NodeMetadata]]:
        """Relative paths and metadata of all members, parents before children."""
        prefix = len(self.path) + 1 if self.path else 0
        for path, metadata in walk(self._format, self.store, self.path, None, self._children):
            yield path[prefix:], metadata

    def _members_of(
        self, kind: type[ArrayMetadata | GroupMetadata], max_depth: int | None
    ) -> Iterator[Any]:
        prefix = len(self.path) + 1 if self.path else 0
        found = walk(self._format, self.store, self.path, max_depth, self._children)
        return (
            (path[prefix:], self._node(path, metadata))
            for path, metadata in found
            if isinstance(metadata, kind)
        )

    def _find(self, path: str) -> NodeMetadata | None:
        child = names.join(self.path, path)
        if self._consolidation is not None and self._consolidation.lookup and child != self.path:
            return self._consolidation.node(child)
        return self._format.read(self.store, child)

    def _children(self, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        if self._consolidation is not None and self._consolidation.lookup:
            return self._consolidation.children(path)
        return self._format.children(self.store, path)

    def _node(self, path: str, metadata: NodeMetadata) -> Array | Group:
        from zarr_core.hierarchy.from_metadata import node  # noqa: PLC0415 - makes groups

        with extensions(self._extensions):
            return node(
                self.store, path, self._format, metadata,
                read_only=self.read_only, consolidation=self._consolidation,
            )  # fmt: skip

    def _adopt(self, metadata: GroupMetadata) -> None:
        super()._adopt(metadata)
        own = self._consolidation
        if own is not None and own.path == self.path:
            if metadata.consolidated is None:
                self._consolidation = None
            else:
                own.metadata = metadata.consolidated

    def _consolidate_lookups(self, use: bool | None) -> None:
        """Look members up in the consolidated metadata, if there is some and that is wanted.

        Raises
        ------
        ValueError
            If it is wanted and there is none.
        """
        from zarr_core.hierarchy.consolidation import Consolidation  # noqa: PLC0415 - lazy: if there is some

        consolidated = self.metadata.consolidated
        if consolidated is not None:
            lookup = self.read_only if use is None else use
            self._consolidation = Consolidation(
                self.store, self.path, self._format, consolidated, lookup
            )
        elif use:
            raise ValueError(
                f"{self._where()} has no consolidated metadata; make it with consolidate_metadata()"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        from zarr_core.hierarchy.from_metadata import reopen  # noqa: PLC0415 - makes groups

        lookup = self._consolidation is not None and self._consolidation.lookup
        own = lookup and self.metadata.consolidated is not None
        return reopen, (
            self.store, self.path, self._format.name, self._format.to_json(self.metadata),
            self.read_only,
            {}, self._extensions, own,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<Group {self.store}{'' if not self.path else f' {self.name}'}>"

    def _repr_html_(self) -> str:
        from zarr_core.display.html_group import group_html  # noqa: PLC0415 - lazy: for people only

        return group_html(self)
