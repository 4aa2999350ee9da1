"""Removing the metadata documents of one format from a hierarchy with several formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import resolve_store_path
from zarr_core.errors import MetadataError
from zarr_core.extension import StoreCapabilityError, ValidationProblem, ZarrError
from zarr_core.tools import formats_without, read_node

from zarr_transfer.conversion.plan_conversion import nodes
from zarr_transfer.errors import ConversionError
from zarr_transfer.spec import NodeLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import Format


def remove_documents(
    source: Any,
    zarr_format: int | str,
    *,
    path: str | None = None,
    force: bool = False,
    dry_run: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Remove the metadata documents of one format; chunks and other formats are kept.

    For example, after :func:`convert` in place.

    Parameters
    ----------
    source : store-like
        The hierarchy.
    zarr_format : int or str
        The format.
    path : str, optional
        Path of the array or group in the store.
    force : bool
        Whether to include nodes without metadata of another format, whose chunks are then lost.
    dry_run : bool
        Remove nothing; only return the keys.
    storage_options : mapping, optional
        Arguments for the store if ``source`` is a URL.

    Returns
    -------
    list of str
        Keys of the documents.

    Raises
    ------
    NodeNotFoundError
        If there is no node of that format.
    ConversionError
        If nodes have no metadata of another format; contains all of them.
    StoreCapabilityError
        If the store cannot remove keys.

    Notes
    -----
    Documents of members are removed before those of their groups, so the same call resumes an
    interrupted one.
    """
    store, at = resolve_store_path(source, path, storage_options=storage_options)
    format_, root = read_node(store, at, zarr_format)
    side = NodeLocation(store, at, format_)
    paths = [below for below, _ in nodes(side, root)]
    shared = _documents_of_others(side, paths)
    problems = [
        ValidationProblem(
            f"/{below}", f"has only metadata of {format_.name}; its chunks would be lost"
        )
        for below in paths
        if not shared[below]
    ]
    if problems and not force:
        raise ConversionError(f"the documents of {format_.name} in {side.location()}", problems)
    kept = {key for keys in shared.values() for key in keys}
    gone = [
        key
        for below in reversed(paths)
        for key in format_.documents(side.at(below))
        if key not in kept and store.exists(key)
    ]
    if not dry_run:
        if not store.traits.supports_erasing:
            raise StoreCapabilityError("the store cannot remove keys", store)
        for key in gone:
            store.erase(key)
    return gone


def _documents_of_others(side: NodeLocation, paths: list[str]) -> dict[str, list[str]]:
    """Return the keys of the metadata of nodes in other formats."""
    others = list(formats_without(side.format_.name))
    return {
        path: [key for other in others for key in _documents(other, side, path)] for path in paths
    }


def _documents(format_: Format, side: NodeLocation, path: str) -> Iterator[str]:
    at = side.at(path)
    try:
        exists = format_.read(side.store, at) is not None
    except (MetadataError, ZarrError):
        exists = False  # unreadable metadata does not count
    if exists:
        yield from filter(side.store.exists, format_.documents(at))
