"""The group that a dataset is written to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group, create_group, open_group
from zarr_core.errors import NodeTypeError, StoreCapabilityError
from zarr_core.extension import ArrayMetadata, Format, NodeNotFoundError, Store
from zarr_core.formats.detect import format_of_new
from zarr_core.names import join
from zarr_core.registry.resolve import format_named

from zarr_xarray.consolidated_metadata import ConsolidatedCopies
from zarr_xarray.group_arrays import array_at, stored_arrays
from zarr_xarray.group_store import resolve_group

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


@dataclass(slots=True)
class Target:
    """A group to write to."""

    store: Store
    path: str
    format: Format
    consolidated: ConsolidatedCopies
    group: Group | None  # None until it is created, after everything is planned
    closes: bool  # whether this package opened the store and has to close it
    write_empty_chunks: bool | None
    is_empty: bool = False  # whether the store was found empty
    overwrite: bool = False  # whether existing contents are removed first

    def create(self) -> None:
        """Create the group, overwriting existing contents if ``overwrite`` is set.

        Raises NodeExistsError if a node exists and is not overwritten, or unmanaged keys exist.
        """
        self.group = create_group(
            self.store, path=self.path, zarr_format=self.format.name, overwrite=self.overwrite
        )
        if self.overwrite:
            self.consolidated.record_removed(self.path)

    def path_of(self, name: str) -> str:
        """Return the path of a member."""
        return join(self.path, name)

    def stored_arrays(self, names: Iterable[str]) -> dict[str, Array]:
        """Return the named arrays that exist; only their documents are read."""
        if self.group is None:
            return {}
        return stored_arrays(self.store, self.path, self.format, names, self.write_empty_chunks)

    def other_arrays(self, names: Collection[str]) -> dict[str, Array]:
        """Return the arrays with other names, from the consolidated metadata if there is any."""
        if self.group is None:
            return {}
        view = self.group.stored.consolidated
        if view is not None and self.path == self.consolidated.root:
            return {
                name: array_at(
                    self.store, self.path_of(name), self.format, metadata, self.write_empty_chunks
                )
                for name, metadata in view.children(self.path)
                if name not in names and isinstance(metadata, ArrayMetadata)
            }
        if not self.store.supports_listing:
            return {}
        return self.stored_arrays(name for name in self.group if name not in names)

    def arrays(self) -> dict[str, Array]:
        """Return all existing arrays."""
        group = self.existing_group()
        return {} if group is None else dict(group.arrays())

    def existing_group(self) -> Group | None:
        """Return the group, or None if it does not exist yet."""
        if self.group is not None:
            return self.group
        return _existing(self.store, self.path, "a", self.format.name)

    def child(self, name: str) -> Target:
        """Return the target for a subgroup, which need not exist."""
        path = self.path_of(name)
        group = None
        if self.group is not None:  # otherwise nothing exists below, or it will be removed
            group = _existing(self.store, path, "a", self.format.name)
        return Target(
            self.store, path, self.format, self.consolidated, group, False, self.write_empty_chunks
        )


def open_target(
    store_like: Any,
    mode: str,
    group: str | None,
    *,
    consolidated: bool | None,
    storage_options: Mapping[str, Any] | None,
    zarr_format: int | str | None,
    write_empty_chunks: bool | None,
) -> Target:
    """Find the group to write to, which need not exist.

    ``consolidated`` tells whether to consolidate a hierarchy without consolidated metadata; None
    means unless the store needs none.  Raises FileNotFoundError if the group does not exist and
    the mode is ``r+``, and StoreCapabilityError if the store needs no consolidated metadata.
    """
    store, root, path, closes = resolve_group(store_like, group, storage_options=storage_options)
    if zarr_format is None and isinstance(store_like, Group):
        zarr_format = store_like.stored.format.name
    existing = None
    is_empty = False
    try:
        if consolidated and not store.traits.supports_consolidated_metadata:
            raise StoreCapabilityError(
                "the store reads all metadata fast and keeps its versions; pass consolidated=False",
                store,
            )
        if mode in ("a", "a-", "r+"):
            existing = _existing(store, path, mode, zarr_format)
        if existing is not None:
            format_ = existing.stored.format
        elif not path and _is_empty(store, path):
            is_empty = True
            format_ = format_named(3 if zarr_format is None else zarr_format)
        else:
            format_ = format_of_new(store, path, zarr_format)
    except BaseException:
        if closes:
            store.close()
        raise
    consolidate = store.traits.supports_consolidated_metadata and consolidated is not False
    copies = ConsolidatedCopies(store, root, format_, consolidate)
    return Target(
        store, path, format_, copies, existing, closes, write_empty_chunks, is_empty, mode == "w"
    )


def _existing(store: Store, path: str, mode: str, zarr_format: int | str | None) -> Group | None:
    try:
        return open_group(store, "r+", path=path, zarr_format=zarr_format, use_consolidated=False)
    except NodeNotFoundError as error:
        if mode == "r+":
            raise FileNotFoundError(f"No group found in store: {error}") from error
    except NodeTypeError as error:
        reason = 'is an array, not a group; use mode="w" to replace it'
        raise NodeTypeError(error.location, reason) from error
    return None


def _is_empty(store: Store, path: str) -> bool:
    if not store.supports_listing:
        return False
    prefix = f"{path}/" if path else ""
    return next(iter(store.list_prefix(prefix)), None) is None
