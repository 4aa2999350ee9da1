"""Groups of a hierarchy, opened for reading, as stores of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xarray.backends import AbstractDataStore
from zarr_core import Group, array_from_metadata, locate, open_group
from zarr_core.extension import (
    ArrayMetadata,
    NodeNotFoundError,
    NodeTypeError,
    format_named,
    in_flight,
    normalise_path,
)

from zarr_xarray import _xarray
from zarr_xarray.dimensions import shown
from zarr_xarray.variables import variable_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xarray import Variable
    from zarr_core import Array


# Larger coordinates are left to xarray, which may have been told to make no indexes.
_MOST_READ_EARLY = 1 << 20


class GroupStore(AbstractDataStore):
    """The variables of one group.

    Parameters
    ----------
    group : Group
        The group.
    fill_value_is_mask : bool, optional
        Whether fill values mark missing elements; by default in version 2.
    closes : bool
        Whether the store of the group is closed with this.
    dropped : frozenset of str
        Arrays that are no variables; nothing is asked of them.
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
        found = {
            name: variable_of(array, self.fill_value_is_mask)
            for name, array in self.group.arrays()
            if name not in self.dropped
        }
        if all(variable.dims == (name,) for name, variable in found.items()):
            unnamed = _unnamed(self.group)
            if unnamed is not None:
                found[_xarray.NAME_OF_UNNAMED] = variable_of(unnamed, self.fill_value_is_mask)
        _read_indexes(found, self.group.store.requests)
        return found

    def get_attrs(self) -> dict[str, Any]:
        return shown(self.group.attrs.asdict())

    def get_dimensions(self) -> dict[str, int]:
        return {
            str(name): size
            for variable in self.get_variables().values()
            for name, size in variable.sizes.items()
        }

    def close(self) -> None:
        if self.closes:
            self.group.store.close()


def open_for_reading(
    place: Any,
    group: str | None,
    *,
    consolidated: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: int | str | None = None,
) -> tuple[Group, bool]:
    """Open a group, with the consolidated metadata of the place if it has some.

    Parameters
    ----------
    place : store-like
        What :func:`zarr_core.open` takes.
    group : str, optional
        Path of the group below the place.
    consolidated : bool, optional
        Whether members are looked up in consolidated metadata; by default where it is.
    storage_options, zarr_format
        As for :func:`zarr_core.open`.

    Returns
    -------
    group : Group
    closes : bool
        Whether the store was made for this, so that it is ours to close.

    Raises
    ------
    FileNotFoundError
        If there is no group.
    ValueError
        If consolidated metadata are asked for and there are none.
    """
    path = normalise_path(group or "")
    store, base = locate(place, read_only=True, storage_options=storage_options)
    closes = store is not place and store is not getattr(place, "store", None)
    try:
        if path and consolidated is not False:
            root = _root(store, base, zarr_format)
            if root is not None:
                return _below(root, path), closes
        opened = open_group(
            store, "r", path=f"{base}/{path}".strip("/"), zarr_format=zarr_format,
            use_consolidated=consolidated,
        )  # fmt: skip
    except NodeNotFoundError as error:
        if closes:
            store.close()
        raise FileNotFoundError(f"No group found in store: {error}") from error
    except BaseException:
        if closes:
            store.close()
        raise
    return opened, closes


def _read_indexes(found: Mapping[str, Variable], requests: int | None) -> None:
    """Read coordinates at once where there is latency.

    xarray is going to make indexes of them, and to wait for one after the other.
    """
    if requests is None:
        return
    indexes = [
        variable
        for name, variable in found.items()
        if variable.dims == (name,) and variable.nbytes <= _MOST_READ_EARLY
    ]
    for _ in in_flight(indexes, lambda variable: variable.load(), requests):
        pass


def _unnamed(group: Group) -> Array | None:
    """The array that xarray's own engine made of a data array without a name.

    Version 3 reserves names like that, so it is among the members of no group.
    """
    if group.zarr_format != 3:
        return None
    path = f"{group.path}/{_xarray.NAME_OF_UNNAMED}".lstrip("/")
    metadata = format_named(3).read(group.store, path)
    if not isinstance(metadata, ArrayMetadata):
        return None
    return array_from_metadata(group.store, metadata, path=path, read_only=True)


def _root(store: Any, base: str, zarr_format: int | str | None) -> Group | None:
    """The group at the place, if it has consolidated metadata."""
    try:
        root = open_group(store, "r", path=base, zarr_format=zarr_format)
    except NodeNotFoundError:
        return None
    return None if root.metadata.consolidated is None else root


def _below(root: Group, path: str) -> Group:
    try:
        found = root[path]
    except KeyError:
        raise NodeNotFoundError(
            f"{root.store} {'/' + path!r}",
            "is not among the consolidated metadata; consolidated=False looks at what is stored",
        ) from None
    if not isinstance(found, Group):
        raise NodeTypeError(f"{found.store} {found.name!r}", "is an array, not a group")
    return found


def subgroups(group: Group) -> Iterator[tuple[str, Group]]:
    """A group and all groups below it, by their paths within it; parents come first."""
    yield "", group
    yield from sorted(group.groups(max_depth=None), key=lambda found: found[0].split("/"))
