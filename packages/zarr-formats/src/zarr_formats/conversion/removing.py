"""Removing the documents of one format from a hierarchy that has those of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import locate
from zarr_core.extension import (
    MetadataError,
    Problem,
    StoreCapabilityError,
    ZarrError,
    formats_without,
    read_node,
)

from zarr_formats.conversion.errors import ConversionError
from zarr_formats.conversion.planning import nodes
from zarr_formats.conversion.steps import Side

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
    """Remove the documents of one format, and leave chunks and all other documents.

    After :func:`convert` in place, say, when nobody reads the old format any more.

    Parameters
    ----------
    source : store-like
        Where the hierarchy is.
    zarr_format : int or str
        The format whose documents are removed.
    path : str, optional
        Path of the array or group in the store.
    force : bool
        Whether to remove them also where a node has documents of no other format, so
        that its chunks are lost.
    dry_run : bool
        Only say which.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.

    Returns
    -------
    list of str
        Keys of the documents.

    Raises
    ------
    NodeNotFoundError
        If there is no node of that format.
    ConversionError
        If nodes have documents of no other format; names them all.
    StoreCapabilityError
        If the store cannot remove anything.

    Notes
    -----
    Members lose their documents before the groups that show them, so that the same call
    completes what was interrupted.
    """
    store, at = locate(source, path, storage_options=storage_options)
    format_, root = read_node(store, at, zarr_format)
    side = Side(store, at, format_)
    found = [below for below, _ in nodes(side, root)]
    shared = _documents_of_others(side, found)
    problems = [
        Problem(f"/{below}", f"has documents of {format_.name} alone; its chunks would be lost")
        for below in found
        if not shared[below]
    ]
    if problems and not force:
        raise ConversionError(f"the documents of {format_.name} in {side.where()}", problems)
    kept = {key for keys in shared.values() for key in keys}
    gone = [
        key
        for below in reversed(found)
        for key in format_.documents(side.at(below))
        if key not in kept and store.exists(key)
    ]
    if not dry_run:
        if not store.supports_erasing:
            raise StoreCapabilityError("the store cannot remove anything", store)
        for key in gone:
            store.erase(key)
    return gone


def _documents_of_others(side: Side, paths: list[str]) -> dict[str, list[str]]:
    """Keys of the documents that nodes have in other formats."""
    others = list(formats_without(side.format_.name))
    return {
        path: [key for other in others for key in _documents(other, side, path)] for path in paths
    }


def _documents(format_: Format, side: Side, path: str) -> Iterator[str]:
    at = side.at(path)
    try:
        there = format_.read(side.store, at) is not None
    except (MetadataError, ZarrError):
        there = False  # what cannot be read is no description of the chunks
    if there:
        yield from filter(side.store.exists, format_.documents(at))
