"""The group that a dataset is written to: found, or made, as the mode asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group, create_group, locate, open_group
from zarr_core.extension import (
    ArrayMetadata,
    Format,
    NodeNotFoundError,
    Store,
    format_named,
    format_of_new,
    in_flight,
    normalise_path,
)

from zarr_xarray.copies import Copies
from zarr_xarray.documents import array_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(slots=True)
class Target:
    """A group to write to.

    Parameters
    ----------
    store : Store
        Where it is.
    path : str
        Its path.
    format : Format
        Its format.
    copies : Copies
        Consolidated metadata of the hierarchy.
    group : Group, optional
        The group; None as long as it is not made, which it is once all is planned.
    closes : bool
        Whether the store was made for this.
    keep_empty : bool, optional
        Whether chunks are stored that hold nothing but the fill value.
    nothing_there : bool
        Whether the store was found empty.
    overwrite : bool
        Whether what is there is removed first.
    """

    store: Store
    path: str
    format: Format
    copies: Copies
    group: Group | None
    closes: bool
    keep_empty: bool | None
    nothing_there: bool = False
    overwrite: bool = False

    def make(self) -> None:
        """Make the group, in place of what is there if it shall be overwritten.

        Raises
        ------
        NodeExistsError
            If something is there and shall not be overwritten, or is part of no node.
        """
        self.group = create_group(
            self.store, path=self.path, zarr_format=self.format.name, overwrite=self.overwrite
        )
        if self.overwrite:
            self.copies.forget(self.path)
        _record_between(self.copies, self.path)

    def path_of(self, name: str) -> str:
        """The path of a member."""
        return f"{self.path}/{name}" if self.path else name

    def stored(self, names: Iterable[str]) -> dict[str, Array]:
        """Those of some arrays that are there, by name; documents of these alone are read."""
        if self.group is None:
            return {}
        wanted = [*names]
        found = in_flight(
            wanted,
            lambda name: self.format.read(self.store, self.path_of(name)),
            self.store.requests,
        )
        return {
            name: self._array(name, metadata)
            for name, metadata in found
            if isinstance(metadata, ArrayMetadata)
        }

    def copied(self, names: Iterable[str]) -> dict[str, Array]:
        """Those of some arrays that consolidated metadata have, which may be out of date."""
        if self.group is None or self.path != self.copies.root:
            return {}
        consolidated = self.group.metadata.consolidated
        found = {}
        for name in names if consolidated is not None else ():
            if consolidated is not None and name in consolidated:
                where = f"{self.store} consolidated metadata of {name!r}"
                metadata = self.format.from_json(consolidated.entries[name], where)
                if isinstance(metadata, ArrayMetadata):
                    found[name] = self._array(name, metadata)
        return found

    def arrays(self) -> dict[str, Array]:
        """All arrays that are there."""
        group = self.opened()
        return {} if group is None else dict(group.arrays())

    def opened(self) -> Group | None:
        """The group, or None if it is not made yet."""
        if self.group is not None:
            return self.group
        return _existing(self.store, self.path, "a", self.format.name)

    def child(self, name: str) -> Target:
        """A group below, to be made if it is not there."""
        path = self.path_of(name)
        group = None
        if self.group is not None:  # else nothing is there, or nothing will be
            group = _existing(self.store, path, "a", self.format.name)
        return Target(self.store, path, self.format, self.copies, group, False, self.keep_empty)

    def _array(self, name: str, metadata: ArrayMetadata) -> Array:
        path = self.path_of(name)
        return array_at(self.store, path, self.format, metadata, self.keep_empty)


def open_target(
    place: Any,
    mode: str,
    group: str | None,
    *,
    consolidate: bool,
    storage_options: Mapping[str, Any] | None,
    zarr_format: int | str | None,
    keep_empty: bool | None,
) -> Target:
    """Find the group to write to, which may have to be made.

    Parameters
    ----------
    place : store-like
        What :func:`zarr_core.open` takes.
    mode : {"w", "w-", "a", "a-", "r+"}
        As for :meth:`xarray.Dataset.to_zarr`.
    group : str, optional
        Path of the group below the place.
    consolidate : bool
        Whether the place gets consolidated metadata if it has none.
    storage_options, zarr_format
        As for :func:`zarr_core.open`.
    keep_empty : bool, optional
        Whether chunks are stored that hold nothing but the fill value.

    Raises
    ------
    FileNotFoundError
        If there is no group and the mode is ``r+``.
    """
    store, root = locate(place, storage_options=storage_options)
    path = "/".join(part for part in (root, normalise_path(group or "")) if part)
    closes = store is not place and store is not getattr(place, "store", None)
    if zarr_format is None and isinstance(place, Group):
        zarr_format = place.zarr_format
    found = None
    nothing_there = False
    try:
        if mode in ("a", "a-", "r+"):
            found = _existing(store, path, mode, zarr_format)
        if found is not None:
            format_ = format_named(found.zarr_format)
        elif not path and _nothing_at(store, path):
            nothing_there = True
            format_ = format_named(3 if zarr_format is None else zarr_format)
        else:
            format_ = format_of_new(store, path, zarr_format)
    except BaseException:
        if closes:
            store.close()
        raise
    copies = Copies(store, root, format_, consolidate)
    if found is not None and mode != "r+":
        _record_between(copies, path)
    return Target(
        store, path, format_, copies, found, closes, keep_empty, nothing_there, mode == "w"
    )


def _record_between(copies: Copies, path: str) -> None:
    """Note the groups that lead from the root to a group, some of which may be new."""
    below = path[len(copies.root) :].strip("/").split("/")
    for depth in range(1, len(below)):
        between = "/".join([copies.root, *below[:depth]]).lstrip("/")
        if between in copies:
            continue
        metadata = copies.format.read(copies.store, between)
        if metadata is not None:
            copies.record(between, metadata)


def _existing(store: Store, path: str, mode: str, zarr_format: int | str | None) -> Group | None:
    try:
        return open_group(store, "r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    except NodeNotFoundError as error:
        if mode == "r+":
            raise FileNotFoundError(f"No group found in store: {error}") from error
    return None


def _nothing_at(store: Store, path: str) -> bool:
    if not store.supports_listing:
        return False
    prefix = f"{path}/" if path else ""
    return next(iter(store.list_prefix(prefix)), None) is None
