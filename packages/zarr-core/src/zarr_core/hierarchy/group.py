"""The group as its users see it."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from zarr_core import names
from zarr_core.errors import (
    MetadataError,
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
)
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.walk import walk
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.display.info import Info
    from zarr_core.display.tree import Tree
    from zarr_core.hierarchy.array import Array
    from zarr_core.interfaces.format import NodeMetadata


class Group(Node[GroupMetadata], MutableMapping[str, "Array | Group"]):
    """A group of arrays and groups: a mapping from their names.

    Made by :func:`zarr_core.open_group` and :func:`zarr_core.create_group`.  Names
    may be paths: ``group["a/b"]``.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.create_group()
    >>> ocean = root.create_group("ocean")
    >>> salt = ocean.create_array("salt", shape=(4, 4), dtype="float32")
    >>> sorted(root.members(max_depth=None))[1][0]
    'ocean/salt'
    """

    # --- the mapping ---

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

    def __setitem__(self, path: str, value: Any) -> None:
        """Store an array at a path, in place of what is there."""
        if isinstance(value, Node) and not hasattr(value, "dtype"):
            raise NodeTypeError(value._where(), "is a group; copy it with copy()")
        self.create_array(path, data=value, overwrite=True)

    def __delitem__(self, path: str) -> None:
        """Remove the node at a path, with everything below it.

        Raises
        ------
        KeyError
            If there is none.
        """
        self._check_writable()
        child = names.join(self.path, path)
        if child == self.path or not self._is_there(child):
            raise KeyError(path)
        self._format.erase(self.store, child)
        if self._consolidation is not None:
            self._consolidation.remove(child)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            return self._find(names.normalise_path(path)) is not None
        except NodeNameError:
            return False

    def __iter__(self) -> Iterator[str]:
        """Names of the direct members, sorted."""
        return (name for name, _ in self._children(self.path))

    def __len__(self) -> int:
        """Number of direct members."""
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """True: a group without members is a group all the same."""
        return True

    # Equality is that of the node, not of a mapping.
    __eq__ = Node.__eq__
    __hash__ = Node.__hash__

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
        """
        look_up = self._children if use_consolidated_for_children else None
        prefix = len(self.path) + 1 if self.path else 0
        return tuple(
            (path[prefix:], self._node(path, metadata))
            for path, metadata in walk(self._format, self.store, self.path, max_depth, look_up)
        )

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of members; depth as for :meth:`members`."""
        found = walk(self._format, self.store, self.path, max_depth, self._children)
        return sum(1 for _ in found)

    def arrays(self, max_depth: int | None = 0) -> Iterator[tuple[str, Array]]:
        """Paths and arrays among the members."""
        from zarr_core.hierarchy.array import Array  # noqa: PLC0415 - arrays know groups

        return ((path, node) for path, node in self.members(max_depth) if isinstance(node, Array))

    def groups(self, max_depth: int | None = 0) -> Iterator[tuple[str, Group]]:
        """Paths and groups among the members."""
        return ((path, node) for path, node in self.members(max_depth) if isinstance(node, Group))

    def array_keys(self) -> Iterator[str]:
        """Names of the arrays."""
        return (n for n, found in self._children(self.path) if isinstance(found, ArrayMetadata))

    def group_keys(self) -> Iterator[str]:
        """Names of the groups."""
        return (n for n, found in self._children(self.path) if isinstance(found, GroupMetadata))

    def array_values(self) -> Iterator[Array]:
        """The arrays."""
        return (array for _, array in self.arrays())

    def group_values(self) -> Iterator[Group]:
        """The groups."""
        return (group for _, group in self.groups())

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

    # --- making members ---

    def create_group(
        self, name: str, *, overwrite: bool = False, attributes: Mapping[str, Any] | None = None
    ) -> Group:
        """Make a group below this one; see :func:`zarr_core.create_group`."""
        from zarr_core.hierarchy.create import create_group  # noqa: PLC0415 - makes groups

        return create_group(
            self, path=self._child(name), overwrite=overwrite, attributes=attributes,
            zarr_format=self._format.name,
        )  # fmt: skip

    def create_array(self, name: str, **options: Any) -> Array:
        """Make an array below this group; see :func:`zarr_core.create_array`."""
        from zarr_core.hierarchy.create import create_array  # noqa: PLC0415 - makes arrays

        options.setdefault("zarr_format", self._format.name)
        return create_array(self, name=self._child(name), **options)

    create = create_array

    def require_group(self, name: str, *, overwrite: bool = False) -> Group:
        """The group of a name, made if it is not there.

        Raises
        ------
        NodeTypeError
            If there is an array.
        """
        found = None if overwrite else self._existing(name)
        if found is None:
            try:
                return self.create_group(name, overwrite=overwrite)
            except NodeExistsError:
                found = self._existing(name)  # someone was faster
                if found is None:
                    raise
        if not isinstance(found, Group):
            raise NodeTypeError(found._where(), "is an array, not a group")
        return found

    def require_groups(self, *paths: str) -> tuple[Group, ...]:
        """Several groups, each made if it is not there."""
        return tuple(self.require_group(path) for path in paths)

    def require_array(
        self, name: str, *, shape: int | Sequence[int], dtype: Any = None, exact: bool = False,
        **options: Any,
    ) -> Array:  # fmt: skip
        """The array of a name, made if it is not there.

        Parameters
        ----------
        name : str
            Path below the group.
        shape, dtype
            What the array must have.
        exact : bool
            Whether the dtype must be the same; else it must cast safely.
        **options
            Further arguments of :func:`zarr_core.create_array`.

        Raises
        ------
        NodeTypeError
            If there is a group, or an array of another shape or dtype.
        """
        from zarr_core.hierarchy.requiring import require_array  # noqa: PLC0415 - makes arrays

        return require_array(self, name, shape, dtype, exact, options)

    # --- moving and removing ---

    def move(self, source: str, dest: str) -> None:
        """Give a member another path; both are relative to the group.

        Notes
        -----
        The node is whole at one of the two places at any time: its data is copied, then
        its document, and only then is the old one removed.

        Raises
        ------
        NodeNotFoundError
            If there is no node at the source.
        NodeExistsError
            If there is one at the destination, or the destination lies in the source.
        """
        from zarr_core.hierarchy.moving import move_node  # noqa: PLC0415 - lazy: rare

        self._check_writable()
        old, new = self._child_path(source), self._child_path(dest)
        moved = move_node(self._format, self.store, old, new)
        if self._consolidation is not None:
            self._consolidation.remove(old)
            for path, metadata in moved:
                self._consolidation.put(path, metadata)

    def delete(self, path: str) -> None:
        """Remove the node at a path, with everything below it.

        Raises
        ------
        NodeNotFoundError
            If there is none.
        """
        try:
            del self[path]
        except KeyError:
            where = f"{self.store} {self._child_path(path)!r}"
            raise NodeNotFoundError(where, "no node here") from None

    def clear(self) -> None:
        """Remove all members."""
        for name in list(self):
            del self[name]

    # --- within ---

    def _child(self, name: str) -> str:
        if not names.normalise_path(name):
            raise NodeNameError(repr(name), "a new node below a group needs a name")
        return name

    def _child_path(self, path: str) -> str:
        return names.join(self.path, self._child(path))

    def _is_there(self, path: str) -> bool:
        try:
            return self._format.read(self.store, path) is not None
        except MetadataError:
            return True  # what is damaged can still be removed

    def _existing(self, name: str) -> Array | Group | None:
        metadata = self._find(names.normalise_path(name))
        return None if metadata is None else self._node(names.join(self.path, name), metadata)

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
        from zarr_core.hierarchy.open import node  # noqa: PLC0415 - opening makes groups

        return node(
            self.store, path, self._format, metadata,
            read_only=self.read_only, consolidation=self._consolidation,
        )  # fmt: skip

    def _consolidate_lookups(self, use: bool | None) -> None:
        """Look members up in the consolidated metadata, if there is some and that is wanted.

        Raises
        ------
        ValueError
            If it is wanted and there is none.
        """
        from zarr_core.hierarchy.consolidation import Consolidation  # noqa: PLC0415 - knows groups

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
        from zarr_core.hierarchy.open import reopen  # noqa: PLC0415 - opening makes groups

        document = self.metadata.to_bytes()
        return reopen, (self.store, self.path, self._format.name, document, self.read_only, {})

    def __repr__(self) -> str:
        return f"<Group {self.store}{'' if not self.path else f' {self.name}'}>"

    def _repr_html_(self) -> str:
        return self.tree()._repr_html_()
