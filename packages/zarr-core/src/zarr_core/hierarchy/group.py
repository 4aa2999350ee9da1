"""The class ``Group``."""

from __future__ import annotations

from collections.abc import MutableMapping
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from zarr_core import names
from zarr_core.engine.stored_array import StoredArray
from zarr_core.errors import (
    MetadataError,
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    ZarrError,
)
from zarr_core.formats.walk import walk
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.delete import check_removable, erase_node, is_stored
from zarr_core.hierarchy.from_metadata import stored_node
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.store_path import NodeOptions
from zarr_core.messages import escape_controls, shorten
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.optional import optional_function, with_advice
from zarr_core.registry.overrides import override_extensions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self, TypeVar

    from zarr_core.engine.stored_node import StoredGroup
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.format import NodeMetadata

    T = TypeVar("T")


class Group(Node[GroupMetadata], MutableMapping[str, "Array | Group"]):
    """A group of arrays and groups: a mapping from their names.

    :func:`zarr_core.open_group` and :func:`zarr_core.create_group` return it.  Names may be paths:
    ``group["a/b"]``.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.create_group()
    >>> ocean = root.create_group("ocean")
    >>> salt = ocean.create_array("salt", shape=(4, 4), dtype="float32")
    >>> sorted(root.members(max_depth=None))[1][0]
    'ocean/salt'
    """

    stored: StoredGroup
    """The stored group: its format and members."""

    # --- the mapping ---

    def __getitem__(self, path: str) -> Array | Group:
        """The node at a path below the group.

        Raises
        ------
        NodeNotFoundError
            If there is none; it is also a KeyError.
        """
        if not isinstance(path, str):
            raise TypeError(
                f"{self.stored.location}: a path must be a string, not {type(path).__name__}; this "
                'is a group: elements are in its arrays, as in group["name"][...]'
            )
        member: Array | Group | None = self.get(path)
        if member is None:
            raise _member_not_found(self, path)
        return member

    def get(self, path: str, default: Any = None) -> Any:
        """The node at a path below the group, or a default if there is none."""
        try:
            child = names.join(self.path, path)
            metadata = self.stored.find(child)
        except NodeNameError:
            return default
        return default if metadata is None else self._node(child, metadata)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            return self.stored.find(names.join(self.path, path)) is not None
        except NodeNameError:
            return False
        except MetadataError:
            return True  # exists, but cannot be opened

    def __iter__(self) -> Iterator[str]:
        """Names of the direct members, sorted; includes nodes with damaged metadata."""
        return self.stored.child_names(self.path)

    def __len__(self) -> int:
        """Number of direct members."""
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """True, also for a group without members."""
        return True

    def __setitem__(self, path: str, value: Any) -> None:
        """Store an array at a path, and overwrite an existing node."""
        if isinstance(value, Group):
            raise NodeTypeError(value.stored.location, "is a group; copy it with zarr_core.copy")
        if value is None:
            raise TypeError("None is not an array; to remove a node, use del group[path]")
        self.create_array(path, data=value, overwrite=True)

    def __delitem__(self, path: str) -> None:
        """Remove the node at a path, with everything below it.

        Raises
        ------
        NodeNotFoundError
            If there is none; it is also a KeyError.
        """
        stored = self.stored
        stored.check_writable()
        try:
            child = names.join(stored.path, path)
        except NodeNameError:
            raise _member_not_found(self, path) from None
        if child == stored.path:
            reason = "a group cannot remove itself; use zarr_core.remove"
            raise NodeNotFoundError(stored.location, reason)
        if not is_stored(stored.format, stored.store, child):  # damaged nodes can be removed
            raise _member_not_found(self, path)
        check_removable(stored.format, stored.store, child)
        erase_node(stored.format, stored.store, child)
        stored.record(removed=[child])

    # Compares locations, not contents as a mapping would.
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
            0 for direct members, 1 to include those of direct subgroups ...; None for all.
        use_consolidated_for_children : bool
            Whether consolidated metadata may be used, if the group was opened with it.

        Raises
        ------
        ValueError
            If the depth is negative.
        MetadataError
            If the metadata of a member is invalid.
        """
        members = self._all(max_depth, use_consolidated=use_consolidated_for_children)
        return tuple((name, self._node(path, metadata)) for name, path, metadata in members)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of members; depth as for :meth:`members`."""
        if max_depth == 0:
            return len(self)
        return sum(1 for _ in self._all(max_depth))

    def arrays(self, max_depth: int | None = 0) -> Iterator[tuple[str, Array]]:
        """Paths and arrays among the members; depth as for :meth:`members`."""
        return self._nodes_of(ArrayMetadata, max_depth)

    def groups(self, max_depth: int | None = 0) -> Iterator[tuple[str, Group]]:
        """Paths and groups among the members; depth as for :meth:`members`."""
        return self._nodes_of(GroupMetadata, max_depth)

    def array_keys(self, max_depth: int | None = 0) -> Iterator[str]:
        """Paths of the arrays among the members; depth as for :meth:`members`."""
        return self._names_of(ArrayMetadata, max_depth)

    def group_keys(self, max_depth: int | None = 0) -> Iterator[str]:
        """Paths of the groups among the members; depth as for :meth:`members`."""
        return self._names_of(GroupMetadata, max_depth)

    def array_values(self) -> Iterator[Array]:
        """The arrays."""
        return (array for _, array in self.arrays())

    def group_values(self) -> Iterator[Group]:
        """The groups."""
        return (group for _, group in self.groups())

    def tree(self, level: int | None = None) -> Any:
        """The hierarchy below the group, for display; at most ``level`` levels if set."""
        if level is not None and level < 0:
            raise ValueError(f"level must be at least 0, or None for all levels, not {level}")
        return self._displayed("tree", self.stored, level)

    # --- creating members ---

    @with_advice
    def create_group(
        self, name: str, *, overwrite: bool = False, attributes: Mapping[str, Any] | None = None
    ) -> Group:
        """Create a group below this one; see :func:`zarr_core.create_group`."""
        with override_extensions(self.stored.extensions):
            return create_group(
                self, path=_new_name(name), overwrite=overwrite, attributes=attributes
            )

    @with_advice
    def create_array(self, name: str, **options: Any) -> Array:
        """Create an array below this group; see :func:`zarr_core.create_array`."""
        from zarr_core.hierarchy.create import create_array  # slow to import

        with override_extensions(self.stored.extensions):
            return create_array(self, path=_new_name(name), **options)

    def array(self, name: str, data: Any, **options: Any) -> Array:
        """Create an array that contains ``data``; see :func:`zarr_core.create_array`."""
        return self.create_array(name, data=data, **options)

    def empty(self, name: str, **options: Any) -> Array:
        """Create an array of the default fill value; see :func:`zarr_core.empty`."""
        return self.create_array(name, **options)

    def zeros(self, name: str, **options: Any) -> Array:
        """Create an array of zeros; see :func:`zarr_core.zeros`."""
        return self.create_array(name, fill_value=0, **options)

    def ones(self, name: str, **options: Any) -> Array:
        """Create an array of ones; see :func:`zarr_core.ones`."""
        return self.create_array(name, fill_value=1, **options)

    def full(self, name: str, fill_value: Any, **options: Any) -> Array:
        """Create an array of one value; see :func:`zarr_core.full`."""
        return self.create_array(name, fill_value=fill_value, **options)

    def require_group(self, name: str, *, overwrite: bool = False) -> Group:
        """Return a group, created if it does not exist; for an empty name, the group itself.

        Raises
        ------
        NodeTypeError
            If the node is an array.
        """
        if overwrite:
            return self.create_group(name, overwrite=True)
        group, _ = self._require(name, self.create_group)
        if not isinstance(group, Group):
            raise NodeTypeError(group.stored.location, "is an array, not a group")
        return group

    def require_groups(self, *paths: str) -> tuple[Group, ...]:
        """Return several groups, each created if it does not exist."""
        return tuple(self.require_group(path) for path in paths)

    def require_array(
        self, name: str, shape: int | Sequence[int] | None = None, dtype: Any = None,
        exact: bool = False, **options: Any,
    ) -> Array:  # fmt: skip
        """Return an array, created if it does not exist.

        Parameters
        ----------
        name : str
            Path below the group.
        shape, dtype
            Required shape and dtype; by default those of the option ``data``.  Without a dtype,
            any is accepted; a list as ``data`` has none.
        exact : bool
            Whether the dtype must be the same; otherwise ``dtype`` must cast safely to it.
        **options
            Further arguments of :func:`zarr_core.create_array`, also ``metadata``.  An existing
            array is compared with those that describe an array, as by :func:`zarr_core.open`.

        Raises
        ------
        NodeTypeError
            If the node is a group.
        MetadataMismatchError
            If the array exists and is not as required; has all differences.
        """
        arguments = {**options, "shape": shape, "dtype": dtype}
        array, is_new = self._require(name, lambda name: self.create_array(name, **arguments))
        if not isinstance(array, Array):
            raise NodeTypeError(array.stored.location, "is a group, not an array")
        if is_new:
            return array
        from zarr_core.normalize.array_metadata import check_array  # slow to import

        metadata = options.get("metadata")
        if shape is None and options.get("data") is None and metadata is None:
            raise TypeError("require_array requires shape or data")
        check_array(array.stored, metadata, arguments, casts=not exact)
        return array

    def _require(
        self, name: str, create: Callable[[str], Array | Group]
    ) -> tuple[Array | Group, bool]:
        """Return a member, without consolidated metadata, and whether it has been created."""
        path = names.join(self.path, name)
        metadata = self.stored.format.read(self.store, path)
        if metadata is None:
            try:
                return create(name), True
            except NodeExistsError:
                metadata = self.stored.format.read(self.store, path)
                if metadata is None:  # otherwise another writer has created the member
                    raise
        return self._node(path, metadata), False

    @contextmanager
    def batch(self) -> Iterator[Self]:
        """Write consolidated metadata once, for all changes within a block.

        Otherwise, every creation, removal and change of metadata through a group that was opened
        with consolidated metadata writes all of it, which takes time proportional to the number of
        nodes.

        Notes
        -----
        Nodes and attributes themselves are stored immediately.  The consolidated metadata is
        written when the block ends, also after an exception; it then lists the nodes that were
        created before.  Changes by other writers are kept.  Until then, readers of the consolidated
        metadata do not see the changes.  If the process is killed within the block,
        :func:`zarr_core.consolidate_metadata` repairs it.

        The block applies to all nodes that were opened through the same consolidated metadata, in
        all threads of the process.  It has no effect on a group without consolidated metadata.

        Examples
        --------
        >>> import zarr_core as zarr
        >>> root = zarr.consolidate_metadata(zarr.create_group().store)
        >>> with root.batch():
        ...     for name in ("x", "y", "z"):
        ...         array = root.create_array(name, shape=10)
        ...         array.attrs["units"] = "m"
        >>> [name for name in zarr.open_consolidated(root.store)]
        ['x', 'y', 'z']
        """
        consolidated = self.stored.consolidated
        with nullcontext() if consolidated is None else consolidated.batch():
            yield self

    # --- moving and removing ---

    def move(
        self,
        source: str,
        dest: str,
        *,
        progress: Callable[[Any], object] | bool | None = None,
    ) -> None:
        """Move a member to another path; both are relative to the group.

        :func:`zarr_core.move` moves nodes to another store or group.  ``progress`` as for
        :func:`zarr_core.copy`.

        Raises
        ------
        NodeNotFoundError
            If the source does not exist.
        NodeExistsError
            If a node exists at the destination, or the destination is within the source.

        Notes
        -----
        The node is complete at one of the two paths at any time: its chunks are copied, then its
        metadata, then the source is removed.  Repeat an interrupted call to complete it.
        """
        self.stored.check_writable()
        old, new = (names.join(self.path, _new_name(path)) for path in (source, dest))
        move = optional_function("Group.move")
        moved = move(self.stored.format, self.store, old, new, progress)
        self.stored.record(removed=[old], changed=moved)

    def clear(self) -> None:
        """Remove all members."""
        stored = self.stored
        stored.check_writable()
        names_ = stored.format.child_names(stored.store, stored.path)
        paths = [names.join(stored.path, name) for name in names_]
        for path in paths:
            check_removable(stored.format, stored.store, path)
        removed = []
        try:
            for path in paths:
                removed.append(path)
                erase_node(stored.format, stored.store, path)
        finally:
            stored.record(removed=removed)

    # --- context manager, display ---

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.store.close()

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        path = f" {shorten(self.name, 1000)}" if self.path else ""
        return escape_controls(f"<Group {self.store}{path}>")

    # --- internal ---

    def _node(self, path: str, metadata: NodeMetadata) -> Array | Group:
        group = self.stored
        with override_extensions(group.extensions):
            stored = stored_node(
                group.store, path, group.format, metadata,
                read_only=group.read_only, consolidated=group.consolidated,
            )  # fmt: skip
        return Array(stored) if isinstance(stored, StoredArray) else Group(stored)

    def _all(
        self, max_depth: int | None = None, *, use_consolidated: bool = True
    ) -> Iterator[tuple[str, str, NodeMetadata]]:
        """Relative paths, paths and metadata of members, parents before children."""
        stored = self.stored
        prefix = len(stored.path) + 1 if stored.path else 0
        children = stored.children if use_consolidated else None
        # Not a generator: an invalid depth raises at once.
        nodes = walk(stored.format, stored.store, stored.path, max_depth, children)
        return ((path[prefix:], path, metadata) for path, metadata in nodes)

    def _nodes_of(
        self, kind: type[ArrayMetadata | GroupMetadata], max_depth: int | None
    ) -> Iterator[Any]:
        members = self._all(max_depth)
        return (
            (name, self._node(path, metadata))
            for name, path, metadata in members
            if isinstance(metadata, kind)
        )

    def _names_of(
        self, kind: type[ArrayMetadata | GroupMetadata], max_depth: int | None
    ) -> Iterator[str]:
        return (name for name, _, metadata in self._all(max_depth) if isinstance(metadata, kind))


@with_advice
def create_group(
    store: StoreLike = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Create a group; parameters as for :func:`create_array`.

    Raises
    ------
    NodeExistsError
        If a node or another key exists at that path.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.create_group("year.zarr", attributes={"year": 2024})
    >>> _ = root.create_group("north")
    >>> list(root), root.attrs["year"]
    (['north'], 2024)
    """
    from zarr_core.hierarchy.create import new_group  # slow to import

    options = NodeOptions(path, zarr_format, storage_options, overwrite=overwrite)
    return Group(new_group(store, options, attributes))


def _new_name(name: str) -> str:
    if not names.normalise_path(name):
        raise NodeNameError(repr(name), "a new node below a group requires a name")
    return name


def _member_not_found(group: Group, path: str) -> NodeNotFoundError:
    """The error for a missing member, with similar names; ``path`` is any string."""
    stored, reason = group.stored, f"no member {path!r}"
    with suppress(ZarrError):  # an invalid path, or a store that cannot list
        parent, _, name = names.normalise_path(path).rpartition("/")
        above = names.join(stored.path, parent)
        children = (
            stored.child_names(above)
            if stored.uses_consolidated
            else stored.format.child_candidates(stored.store, above)  # reads no metadata
        )
        members = {child.casefold(): names.join(parent, child) for child in children}
        if members.get(name.casefold()) == names.join(parent, name):
            reason += f": it has no metadata ({' or '.join(stored.format.detection_keys)})"
        elif similar := get_close_matches(name.casefold(), members):
            reason += f"; similar names: {', '.join(repr(members[child]) for child in similar)}"
    return NodeNotFoundError(stored.location, reason)
