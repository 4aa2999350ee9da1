"""Stores that are open while a command runs."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array, Group, Store

    from zarr_cli.location import Location


@contextmanager
def open_stores(
    source: Location, dest: Location | None, *, changes_source: bool = False
) -> Iterator[tuple[Store, Store]]:
    """Open the stores of two locations; close them at the end, which completes archives.

    Without a destination, both stores are that of the source.
    """
    same = dest is None or (source.url, source.storage_options) == (dest.url, dest.storage_options)
    first, _ = source.locate(read_only=not same and not changes_source)
    try:
        if same or dest is None:
            yield first, first
            return
        second, _ = dest.locate(read_only=False)
        try:
            yield first, second
        finally:
            second.close()
    finally:
        first.close()


def open_node_in(store: Store, location: Location, mode: Literal["r", "r+"] = "r") -> Array | Group:
    """Open the node of a location whose store is open.

    With mode ``"r+"``, the node is opened through the root group, so that changes also update
    the consolidated metadata of the root.
    """
    import zarr_core

    root = root_or_store(store, location) if mode == "r+" else store
    if isinstance(root, zarr_core.Group):
        with suppress(KeyError):
            return root[location.path]
    return zarr_core.open(store, mode, path=location.path, zarr_format=location.zarr_format)


def root_or_store(store: Store, location: Location) -> Group | Store:
    """Return the root group of the hierarchy of a location, or the store if there is none."""
    import zarr_core
    from zarr_core.errors import MetadataError, NodeTypeError
    from zarr_core.extension import NodeNotFoundError

    if location.path:
        with suppress(MetadataError, NodeNotFoundError, NodeTypeError):
            return zarr_core.open_group(
                store, "r+", zarr_format=location.zarr_format, use_consolidated=False
            )
    return store


def update_consolidated(store: Store, location: Location) -> None:
    """Update the consolidated metadata of the root after creating a node.

    For functions that write nodes without the groups above them.
    """
    import zarr_core

    root = root_or_store(store, location)
    if isinstance(root, zarr_core.Group) and root.metadata.consolidated is not None:
        zarr_core.consolidate_metadata(store, zarr_format=root.zarr_format)


def resume_hint(store: Store, dest: Location, *, overwrite: bool) -> str:
    """Return what an interrupt leaves at the destination and how to resume."""
    kept = f"Written data is kept at {dest}; incomplete nodes are not visible there."
    if not store.traits.supports_erasing:
        return f"{kept} Values cannot be replaced in this store: remove {dest.url} and start again."
    return (
        f"{kept} To resume, run the same command {'without --overwrite' if overwrite else 'again'}."
    )
