"""Stores that are opened for the length of a command."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array, Group, Store

    from zarr_cli.place import Place


@contextmanager
def stores(
    source: Place, dest: Place | None, *, changes_source: bool = False
) -> Iterator[tuple[Store, Store]]:
    """The stores of two places, closed in the end: it is then that an archive is complete.

    Parameters
    ----------
    source, dest : Place
        From where, where to; without the latter, both are the first.
    changes_source : bool
        Whether the source is written to, too.
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


def open_in(store: Store, place: Place, mode: Literal["r", "r+"] = "r") -> Array | Group:
    """The node of a place whose store is open.

    To be changed, it is reached through the root, whose consolidated metadata are kept in
    step then.
    """
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    root = around(store, place) if mode == "r+" else store
    if isinstance(root, zarr_core.Group):
        with suppress(KeyError):
            return root[place.path]
    return zarr_core.open(store, mode, path=place.path, zarr_format=place.zarr_format)


def around(store: Store, place: Place) -> Group | Store:
    """The root of the hierarchy in which a place lies, if it is a group; else the store.

    Parameters
    ----------
    store : Store
        The store of the place.
    place : Place
        What is to be made, changed or removed.
    """
    import zarr_core  # noqa: PLC0415 - lazy: not for help
    from zarr_core.extension import (  # noqa: PLC0415 - as above
        MetadataError,
        NodeNotFoundError,
        NodeTypeError,
    )

    if place.path:
        with suppress(MetadataError, NodeNotFoundError, NodeTypeError):
            return zarr_core.open_group(
                store, "r+", zarr_format=place.zarr_format, use_consolidated=False
            )
    return store


def keep_consolidated(store: Store, place: Place) -> None:
    """Bring consolidated metadata of the root up to date with what was made at a place.

    For what writes nodes without the groups around them; else nobody would see them there.
    """
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    root = around(store, place)
    if isinstance(root, zarr_core.Group) and root.metadata.consolidated is not None:
        zarr_core.consolidate_metadata(store, zarr_format=root.zarr_format)
