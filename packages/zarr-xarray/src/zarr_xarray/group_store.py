"""Groups as read-only data stores of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xarray.backends import AbstractDataStore
from zarr_core import Group, open_group, resolve_store_path
from zarr_core.errors import NodeTypeError
from zarr_core.extension import Location, NodeNotFoundError, Store
from zarr_core.names import join, normalise_path
from zarr_core.threads import concurrent_map

from zarr_xarray.dimensions import user_attributes
from zarr_xarray.variables import variable_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xarray import Variable


# xarray reads larger index variables itself; it may not create indexes for them.
_MAX_EAGER_BYTES = 1 << 20


class GroupStore(AbstractDataStore):
    """Variables of one group.

    ``fill_value_is_mask`` tells whether fill values mark missing elements, by default only in
    version 2; ``dropped`` has the names of arrays that are not read.
    """

    __slots__ = ("closes", "dropped", "fill_value_is_mask", "group")

    def __init__(
        self,
        group: Group,
        fill_value_is_mask: bool | None = None,
        closes: bool = False,
        dropped: frozenset[str] = frozenset(),
    ) -> None:
        self.group = group
        self.fill_value_is_mask = fill_value_is_mask
        self.closes = closes
        self.dropped = dropped

    def get_variables(self) -> dict[str, Variable]:
        variables = {
            name: variable_of(array, self.fill_value_is_mask)
            for name, array in self.group.arrays()
            if name not in self.dropped
        }
        _read_indexes(variables, self.group.store.max_concurrency)
        return variables

    def get_attrs(self) -> dict[str, Any]:
        return user_attributes(self.group.attrs.asdict())

    def close(self) -> None:
        if self.closes:
            self.group.store.close()


def resolve_group(
    store_like: Any, group: str | None, **options: Any
) -> tuple[Store, str, str, bool]:
    """Return a store, the path of the location in it, that of a group below, and whether to close.

    A store that was given must not be closed, nor a cache around it.
    """
    given = store_like if isinstance(store_like, Store) else getattr(store_like, "store", None)
    path = normalise_path(group or "")
    store, root = resolve_store_path(store_like, **options)
    return store, root, join(root, path), not isinstance(given, Store)


def open_readable_group(
    store_like: Any,
    group: str | None,
    *,
    consolidated: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: int | str | None = None,
) -> tuple[Group, bool]:
    """Open a group for reading, with the consolidated metadata of the root if it exists.

    Also returns whether this call opened the store, so that it has to be closed.  Raises
    FileNotFoundError if the group does not exist, and ValueError if ``consolidated`` is true and
    the group has no consolidated metadata.
    """
    store, base, path, closes = resolve_group(
        store_like, group, read_only=True, storage_options=storage_options
    )
    try:
        if path != base and consolidated is not False:
            root = _root(store, base, zarr_format)
            if root is not None:
                return _below(root, path[len(base) :].lstrip("/")), closes
        opened = open_group(
            store, "r", path=path, zarr_format=zarr_format, use_consolidated=consolidated
        )
    except NodeNotFoundError as error:
        if closes:
            store.close()
        raise FileNotFoundError(f"No group found in store: {error}") from error
    except BaseException:
        if closes:
            store.close()
        raise
    return opened, closes


def _read_indexes(variables: Mapping[str, Variable], max_concurrency: int | None) -> None:
    """Read index variables concurrently from stores with latency; xarray would do so one by one."""
    if max_concurrency is None:
        return
    indexes = [
        variable
        for name, variable in variables.items()
        if variable.dims == (name,) and variable.nbytes <= _MAX_EAGER_BYTES
    ]
    for _ in concurrent_map(indexes, lambda variable: variable.load(), max_concurrency):
        pass


def _root(store: Any, base: str, zarr_format: int | str | None) -> Group | None:
    """Return the root group if it has consolidated metadata."""
    try:
        root = open_group(store, "r", path=base, zarr_format=zarr_format)
    except NodeNotFoundError:
        return None
    return None if root.metadata.consolidated is None else root


def _below(root: Group, path: str) -> Group:
    try:
        node = root[path]
    except KeyError:
        raise NodeNotFoundError(
            Location(root.store, path),
            "is not in the consolidated metadata; consolidated=False reads from the store itself",
        ) from None
    if not isinstance(node, Group):
        raise NodeTypeError(node.stored.location, "is an array, not a group")
    return node


def subgroups(group: Group) -> Iterator[tuple[str, Group]]:
    """Yield a group and all groups below it with their relative paths, parents first."""
    yield "", group
    yield from sorted(group.groups(max_depth=None), key=lambda member: member[0].split("/"))
