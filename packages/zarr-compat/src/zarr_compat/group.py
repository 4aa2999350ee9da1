"""The class ``zarr.Group``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core

from zarr_compat.adapt import adapt, wrap_result
from zarr_compat.api_nodes import create_nodes_below
from zarr_compat.arguments import as_native_dtype
from zarr_compat.asynchronous import AsyncGroup
from zarr_compat.errors import (
    ArrayNotFoundError,
    ContainsNodeError,
    GroupNotFoundError,
    NodeNotFoundError,
    NodeTypeValidationError,
    ZarrDeprecationWarning,
)
from zarr_compat.group_metadata import GroupMetadata, consolidated_metadata_of
from zarr_compat.node import Node
from zarr_compat.open_nodes import create_group, open_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

__all__ = ["Group"]


class Group(Node[zarr_core.Group], wraps=zarr_core.Group):
    """A group of the core with the interface of zarr-python."""

    @classmethod
    def _open(
        cls, store: Any, *, path: str | None = None, read_only: bool = False, **options: Any
    ) -> Group:
        group: Group = open_group(store, mode="r" if read_only else "r+", path=path, **options)
        return group

    @classmethod
    def open(cls, store: Any, zarr_format: int | None = 3, **options: Any) -> Group:
        """Open a group at a location."""
        mode = "r" if getattr(store, "read_only", False) else "r+"
        group: Group = open_group(store, mode=mode, zarr_format=zarr_format, **options)
        return group

    @classmethod
    def from_store(cls, store: Any, **options: Any) -> Group:
        """Create a group at a location; see :func:`zarr_core.create_group`."""
        group: Group = create_group(store, **options)
        return group

    @property
    def metadata(self) -> GroupMetadata:
        """The metadata, with consolidated metadata."""
        consolidated = getattr(self.core.metadata, "consolidated", None)
        entries = None if consolidated is None else consolidated.entries
        stored = self.core.stored
        if (
            entries is None and stored.consolidated is not None
        ):  # reached from a group above that has it
            below = f"{self.core.path}/".removeprefix(f"{stored.consolidated.path}/".lstrip("/"))
            entries = {
                path.removeprefix(below): entry
                for path, entry in stored.consolidated.metadata.entries.items()
                if path.startswith(below)
            }
        inner = None if entries is None else consolidated_metadata_of(entries)
        attributes = self.live_attributes.values(self.core)
        more = getattr(self.core.metadata, "additional_fields", {})
        return GroupMetadata(attributes, self.core.zarr_format, inner, dict(more))

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Create nodes below the group, for metadata by path, and yield paths and nodes."""
        return create_nodes_below(self, nodes, overwrite)

    def __getitem__(self, path: str) -> Any:
        return wrap_result(self.core[path], self.store)

    def __setitem__(self, path: str, value: Any) -> None:
        adapt(self.core.__setitem__)(path, value)

    def __delitem__(self, path: str) -> None:
        del self.core[path]

    def __contains__(self, path: object) -> bool:
        return path in self.core

    def __iter__(self) -> Iterator[str]:
        return iter(self.core)

    def __len__(self) -> int:
        return len(self.core)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def get_array(self, path: str) -> Any:
        """Return the array at a path."""
        return self._member(path, zarr_core.Array, ArrayNotFoundError)

    def get_group(self, path: str) -> Group:
        """Return the group at a path."""
        member: Group = self._member(path, zarr_core.Group, GroupNotFoundError)
        return member

    def _member(self, path: str, kind: type, missing: type[NodeNotFoundError]) -> Any:
        where = f"in store {self.store!r} at path {self.store_path / path!s}"
        try:
            member = self[path]
        except KeyError as error:
            what = "group" if kind is zarr_core.Group else "array"
            raise missing(f"No {what} found {where}") from error
        if not isinstance(member.core, kind):
            other = "An array" if kind is zarr_core.Group else "A group"
            raise ContainsNodeError(f"{other} exists {where}.")
        return member

    def array(self, name: str, *, data: Any = None, **options: Any) -> Any:
        """Create an array; deprecated by zarr-python."""
        _warn_deprecated("array", "create_array")
        if data is not None:
            options.pop("shape", None)  # that of the data, as in zarr-python
        return adapt(self.core.create_array, self.store)(name, data=data, **options)

    def create_dataset(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Create an array; deprecated by zarr-python."""
        _warn_deprecated("create_dataset", "create_array")
        return adapt(self.core.create_array, self.store)(name, *arguments, **options)

    def require_dataset(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Return an array, and create it if it does not exist; deprecated by zarr-python."""
        _warn_deprecated("require_dataset", "require_array")
        return self.require_array(name, *arguments, **options)

    def create(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Create an array, as in zarr-python 2."""
        return adapt(self.core.create_array, self.store)(name, *arguments, **options)

    def create_groups(self, *names: str, **options: Any) -> tuple[Group, ...]:
        """Create several groups, as in zarr-python 2."""
        make = adapt(self.core.create_group, self.store)
        return tuple(make(name, **options) for name in names)

    def empty_like(self, name: str, data: Any, **options: Any) -> Any:
        """Create an empty array like another."""
        options.setdefault("zarr_format", self.core.stored.format.name)
        return adapt(zarr_core.empty_like, self.store)(data, store=self, path=name, **options)

    def zeros_like(self, name: str, data: Any, **options: Any) -> Any:
        """Create an array of zeros like another."""
        return self.full_like(name, data, 0, **options)

    def ones_like(self, name: str, data: Any, **options: Any) -> Any:
        """Create an array of ones like another."""
        return self.full_like(name, data, 1, **options)

    def full_like(self, name: str, data: Any, fill_value: Any, **options: Any) -> Any:
        """Create an array of one value like another."""
        return self.empty_like(name, data, fill_value=fill_value, **options)

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call a function with the path of each member at any depth, relative to the group.

        Stops at the first result that is not None, and returns it.
        """
        return self.visititems(lambda path, _: func(path))

    visitkeys = visit

    def visitvalues(self, func: Callable[[Any], Any]) -> Any:
        """Call a function with each member at any depth; as :meth:`visit`."""
        return self.visititems(lambda _, node: func(node))

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call a function with path and node of each member at any depth; as :meth:`visit`."""
        members = wrap_result(self.core.members(max_depth=None), self.store)
        results = (func(path, node) for path, node in members)
        return next((result for result in results if result is not None), None)

    async def update_attributes_async(self, new_attributes: Mapping[str, Any]) -> Self:
        """Replace the attributes, as zarr-python does, and return the group."""
        self.attrs.put(new_attributes)
        return self

    def require_group(self, name: str, **options: Any) -> Group:
        """Return the group of a name, and create it if it does not exist.

        ``"/"`` is the group itself: programs clear a store, then require its root again.
        """
        if name.strip("/"):
            member: Group = adapt(self.core.require_group, self.store)(name, **options)
            return member
        core = self.core
        again = zarr_core.open_group(core.store, "a", path=core.path, zarr_format=core.zarr_format)
        return Group(again, self.store)

    def require_array(
        self, name: str, shape: Any = None, dtype: Any = None, exact: bool = False, **options: Any
    ) -> Any:
        """Return the array of a name, and create it if it does not exist.

        As in zarr-python, only shape and dtype of an existing array are compared.
        """
        if name not in self.core:
            arguments = {} if dtype is None else {"dtype": dtype}
            return adapt(self.core.require_array, self.store)(name, shape, **arguments, **options)
        member = self[name]
        if isinstance(member, Group):
            raise NodeTypeValidationError(
                f"Incompatible object: {member!r} is a group, not an array"
            )
        wanted = getattr(options.get("data"), "shape", shape)
        if wanted is not None and member.shape != tuple(np.ravel(wanted).tolist()):
            raise TypeError(f"Incompatible shape ({member.shape} vs {wanted})")
        native = dtype if dtype is None else as_native_dtype(dtype)
        if native is not None and (
            member.dtype != native if exact else not np.can_cast(member.dtype, native)
        ):
            raise TypeError(f"Incompatible dtype ({member.dtype} vs {native})")
        return member

    @property
    def async_(self) -> AsyncGroup:
        """The group with asynchronous methods."""
        return AsyncGroup(self)

    async_group = _async_group = async_


def _warn_deprecated(name: str, instead: str) -> None:
    warnings.warn(
        f"Group.{name} is deprecated. Use Group.{instead} instead.",
        ZarrDeprecationWarning,
        stacklevel=3,
    )
