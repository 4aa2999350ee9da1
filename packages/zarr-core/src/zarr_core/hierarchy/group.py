"""The group as its users see it."""

from __future__ import annotations

from collections.abc import MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from zarr_core import names
from zarr_core.errors import (
    MetadataError,
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
)
from zarr_core.hierarchy.listed import ListedGroup
from zarr_core.hierarchy.node import Node
from zarr_core.names import located
from zarr_core.nodes.erasing import erase_node
from zarr_core.registry.scope import extensions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from zarr_core.hierarchy.array import Array
    from zarr_core.interfaces.progress import Progress, Reporter


class Group(ListedGroup, MutableMapping[str, "Array | Group"]):
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

    def __setitem__(self, path: str, value: Any) -> None:
        """Store an array at a path, in place of what is there."""
        if isinstance(value, Group):
            raise NodeTypeError(value._where(), "is a group; copy it with zarr_core.copy")
        self.create_array(path, data=value, overwrite=True)

    def __delitem__(self, path: str) -> None:
        """Remove the node at a path, with everything below it.

        Raises
        ------
        KeyError
            If there is none.
        """
        self._remove(path, None)

    # Equality is that of the node, not of a mapping.
    __eq__ = Node.__eq__
    __hash__ = Node.__hash__

    # --- making members ---

    def create_group(
        self, name: str, *, overwrite: bool = False, attributes: Mapping[str, Any] | None = None
    ) -> Group:
        """Make a group below this one; see :func:`zarr_core.create_group`."""
        from zarr_core.hierarchy.create import create_group  # noqa: PLC0415 - makes groups

        with extensions(self._extensions):
            return create_group(
                self, path=self._child(name), overwrite=overwrite, attributes=attributes,
                zarr_format=self._format.name,
            )  # fmt: skip

    def create_array(self, name: str, **options: Any) -> Array:
        """Make an array below this group; see :func:`zarr_core.create_array`."""
        from zarr_core.hierarchy.create import create_array  # noqa: PLC0415 - makes arrays

        options.setdefault("zarr_format", self._format.name)
        with extensions(self._extensions):
            return create_array(self, name=self._child(name), **options)

    create = create_dataset = create_array

    def array(self, name: str, data: Any, **options: Any) -> Array:
        """Make an array that holds ``data``; see :func:`zarr_core.create_array`."""
        return self.create_array(name, data=data, **options)

    def empty(self, name: str, **options: Any) -> Array:
        """Make an array of the default fill value; see :func:`zarr_core.empty`."""
        return self.create_array(name, **options)

    def zeros(self, name: str, **options: Any) -> Array:
        """Make an array of zeros; see :func:`zarr_core.zeros`."""
        return self.create_array(name, fill_value=0, **options)

    def ones(self, name: str, **options: Any) -> Array:
        """Make an array of ones; see :func:`zarr_core.ones`."""
        return self.create_array(name, fill_value=1, **options)

    def full(self, name: str, fill_value: Any, **options: Any) -> Array:
        """Make an array of one value; see :func:`zarr_core.full`."""
        return self.create_array(name, fill_value=fill_value, **options)

    def empty_like(self, name: str, like: Any, **options: Any) -> Array:
        """Make an empty array like another; see :func:`zarr_core.empty_like`."""
        from zarr_core.hierarchy.convenience import empty_like  # noqa: PLC0415 - makes arrays

        options.setdefault("zarr_format", self._format.name)
        with extensions(self._extensions):
            return empty_like(like, store=self, name=self._child(name), **options)

    def zeros_like(self, name: str, like: Any, **options: Any) -> Array:
        """Make an array of zeros like another; see :func:`zarr_core.empty_like`."""
        return self.full_like(name, like, 0, **options)

    def ones_like(self, name: str, like: Any, **options: Any) -> Array:
        """Make an array of ones like another; see :func:`zarr_core.empty_like`."""
        return self.full_like(name, like, 1, **options)

    def full_like(self, name: str, like: Any, fill_value: Any, **options: Any) -> Array:
        """Make an array of one value like another; see :func:`zarr_core.empty_like`."""
        return self.empty_like(name, like, fill_value=fill_value, **options)

    def require_group(self, name: str, *, overwrite: bool = False) -> Group:
        """The group of a name, made if it is not there; without a name, the group itself.

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
        self, name: str, shape: int | Sequence[int] | None = None, dtype: Any = None,
        exact: bool = False, **options: Any,
    ) -> Array:  # fmt: skip
        """The array of a name, made if it is not there.

        Parameters
        ----------
        name : str
            Path below the group.
        shape, dtype
            What the array must have; those of ``data``, if it is among the options
            and they are not given.  Of no dtype, any will do.
        exact : bool
            Whether the dtype must be the same; else ``dtype`` must cast safely to it.
        **options
            Further arguments of :func:`zarr_core.create_array`.

        Raises
        ------
        NodeTypeError
            If there is a group, or an array of another shape or dtype.
        """
        from zarr_core.hierarchy.requiring import require_array  # noqa: PLC0415 - makes arrays

        with extensions(self._extensions):
            return require_array(self, name, shape, dtype, exact, options)

    require_dataset = require_array

    # --- moving and removing ---

    def move(
        self,
        source: str,
        dest: str,
        *,
        progress: Callable[[Progress], object] | bool | None = None,
    ) -> None:
        """Give a member another path; both are relative to the group.

        To another store or group it goes by :func:`zarr_core.move`.

        Parameters
        ----------
        source, dest : str
            The paths.
        progress : callable or True, optional
            As for :func:`zarr_core.copy`.

        Notes
        -----
        The node is whole at one of the two places at any time: its data is copied, then
        its document, and only then is the old one removed.  What was interrupted is
        completed by the same call.

        Raises
        ------
        NodeNotFoundError
            If there is no node at the source.
        NodeExistsError
            If there is one at the destination, or the destination lies in the source.
        """
        from zarr_core.transfer.ends import Ends  # noqa: PLC0415 - lazy: rare
        from zarr_core.transfer.moving import move_node  # noqa: PLC0415 - lazy: rare

        self._check_writable()
        old, new = self._child_path(source), self._child_path(dest)
        format_, store = self._format, self.store
        moved = move_node(Ends(format_, store, old, format_, store, new), progress)
        self._record(gone=[old], there=moved)

    def delete(
        self, path: str, *, progress: Callable[[Progress], object] | bool | None = None
    ) -> None:
        """Remove the node at a path, with everything below it.

        Parameters
        ----------
        path : str
            The path, relative to the group.
        progress : callable or True, optional
            As for :func:`zarr_core.remove`.

        Raises
        ------
        NodeNotFoundError
            If there is none.
        """
        from zarr_core.interfaces.progress import Reporter  # noqa: PLC0415 - lazy: rare

        child = self._child_path(path)
        try:
            with Reporter(progress, 1) as reporter:
                self._remove(path, reporter)
        except KeyError:
            raise NodeNotFoundError(located(self.store, child), "no node here") from None

    def clear(self, *, progress: Callable[[Progress], object] | bool | None = None) -> None:
        """Remove all members.

        Parameters
        ----------
        progress : callable or True, optional
            As for :func:`zarr_core.remove`; each member is a part.
        """
        from zarr_core.interfaces.progress import Reporter  # noqa: PLC0415 - lazy: rare

        self._check_writable()
        members = list(self._format.child_names(self.store, self.path))
        with Reporter(progress, len(members)) as reporter:
            for name in members:
                with suppress(KeyError):  # someone else was faster
                    self._remove(name, reporter)

    def _remove(self, path: str, reporter: Reporter | None) -> None:
        self._check_writable()
        try:
            child = names.join(self.path, path)
        except NodeNameError:
            raise KeyError(path) from None
        if child == self.path or not self._is_there(child):
            raise KeyError(path)
        erase_node(self._format, self.store, child, reporter)
        self._record(gone=[child])

    # --- as a context, in a shell ---

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.store.close()

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    # --- within ---

    def _child(self, name: str) -> str:
        if not names.normalise_path(name):
            raise NodeNameError(repr(name), "a new node below a group needs a name")
        return name

    def _child_path(self, path: str) -> str:
        return names.join(self.path, self._child(path))

    def _existing(self, name: str) -> Array | Group | None:
        """The stored node of a name, whatever copies say."""
        child = names.join(self.path, name)
        metadata = self._format.read(self.store, child)
        return None if metadata is None else self._node(child, metadata)

    def _is_there(self, path: str) -> bool:
        """Whether there is a node, or what is left of one."""
        try:
            return self._format.read(self.store, path) is not None
        except MetadataError:
            return True  # damaged: all the more may it be removed
