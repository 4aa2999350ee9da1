"""Giving a node another path in its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeExistsError, NodeNotFoundError
from zarr_core.hierarchy.placing import make_ancestors
from zarr_core.hierarchy.walk import walk
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


def move_node(
    format_: Format, store: Store, source: str, destination: str
) -> list[tuple[str, NodeMetadata]]:
    """Move a node with everything below it.

    Parameters
    ----------
    format_, store
        Where the node lives.
    source, destination : str
        Normalised paths.

    Returns
    -------
    list of (str, NodeMetadata)
        New paths and metadata of all nodes that were moved, parents first.

    Raises
    ------
    NodeNotFoundError
        If there is no node at the source.
    NodeExistsError
        If there is one at the destination, or it lies in the source; if there are keys
        without a node where an array is to be.
    """
    metadata = format_.read(store, source)
    if metadata is None:
        raise NodeNotFoundError(f"{store} {('/' + source)!r}", "no node to move")
    if f"{destination}/".startswith(f"{source}/"):
        raise NodeExistsError(
            f"{store} {('/' + destination)!r}", f"lies in the node to move, {('/' + source)!r}"
        )
    if format_.read(store, destination) is not None:
        raise NodeExistsError(f"{store} {('/' + destination)!r}", "there is a node already")
    make_ancestors(store, destination, format_)
    nodes = [(source, metadata)]
    if isinstance(metadata, GroupMetadata):
        nodes += walk(format_, store, source, None)
    moved = [(destination + path[len(source) :], found) for path, found in nodes]
    values = [
        pair
        for (old, found), (new, _) in zip(nodes, moved, strict=True)
        if isinstance(found, ArrayMetadata)
        for pair in _chunks(format_, store, old, new)
    ]
    # Chunks first, then documents from the leaves to the root: a node that can be
    # seen is complete.
    for old, new in values:
        value = store.get(old)
        if value is not None:
            store.set(new, value)
    for path, found in reversed(moved):
        format_.write(store, path, found)
    format_.erase(store, source)
    return moved


def _chunks(format_: Format, store: Store, source: str, destination: str) -> list[tuple[str, str]]:
    """Old and new keys of the chunks of an array.

    Raises
    ------
    NodeExistsError
        If there are other keys at the destination, which the array would take for its own.
    """
    old, new = format_.chunk_prefix(source), format_.chunk_prefix(destination)
    documents = {old + mark for mark in format_.marks}
    keys = [(key, new + key[len(old) :]) for key in store.list_prefix(old) if key not in documents]
    # Its own may be there already, if it was moved before and that was interrupted.
    others = set(store.list_prefix(new)).difference(key for _, key in keys)
    if others:
        raise NodeExistsError(
            f"{store} {('/' + destination)!r}",
            f"holds {min(others)!r}, which is not part of a node; remove it first",
        )
    return keys
