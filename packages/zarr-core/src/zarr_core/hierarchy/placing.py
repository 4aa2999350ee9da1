"""Putting the document of a new node where it belongs, with nothing in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeExistsError, StoreCapabilityError, StoreReadOnlyError
from zarr_core.hierarchy.storage import stored_chunk_keys
from zarr_core.hierarchy.checking import check
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from zarr_core.engine.chunks import Chunks
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


def place_node(
    store: Store, path: str, format_: Format, metadata: NodeMetadata, *, overwrite: bool
) -> None:
    """Store a new node, and the groups that lead to it.

    Specification: v3.1, "Operations": creating a node ensures groups at all
    ancestor paths.

    Parameters
    ----------
    store, path, format_, metadata
        The node.
    overwrite : bool
        Whether a node that is there already is removed first.

    Raises
    ------
    NodeExistsError
        If there is a node and ``overwrite`` is false; if an ancestor is an array;
        if what is to be overwritten holds what no Zarr node holds.
    StoreReadOnlyError
        If the store refuses changes.
    """
    where = f"{store} {('/' + path)!r}"
    if store.read_only:
        raise StoreReadOnlyError("the store is open for reading only", where)
    check(store, path, metadata)
    make_ancestors(store, path, format_)
    if overwrite:
        _clear(store, path, format_, where)
    if not format_.create(store, path, metadata):
        raise NodeExistsError(
            where, "there is a node already; open it, or give overwrite=True to remove it first"
        )


def make_ancestors(store: Store, path: str, format_: Format) -> None:
    """Make the groups that lead to a path, those that are not there.

    Raises
    ------
    NodeExistsError
        If one of them is an array.
    """
    parents = path.split("/")[:-1] if path else []
    missing = []
    for depth in range(len(parents) if path else -1, -1, -1):
        ancestor = "/".join(parents[:depth])
        found = format_.read(store, ancestor)
        if isinstance(found, ArrayMetadata):
            raise NodeExistsError(
                f"{store} {('/' + ancestor)!r}",
                f"is an array, and nothing can be made below it (at {('/' + path)!r})",
            )
        if found is not None:
            break
        missing.append(ancestor)
    for ancestor in reversed(missing):
        format_.create(store, ancestor, GroupMetadata())


def refuse_leftovers(chunks: Chunks, format_: Format, path: str) -> None:
    """Refuse a place with chunks that a new array would take for its own.

    They are what is left of an array whose removal was interrupted.

    Raises
    ------
    NodeExistsError
        If there is such a chunk.
    """
    store = chunks.store
    if not store.supports_listing:
        return
    key = next(stored_chunk_keys(chunks), None)
    if key is not None and format_.read(store, path) is None:
        raise NodeExistsError(
            f"{store} {('/' + path)!r}",
            f"holds {key!r}, a chunk of an array that was not removed completely; "
            "give overwrite=True to remove it first",
        )


def _clear(store: Store, path: str, format_: Format, where: str) -> None:
    """Remove a node, but nothing that is not part of a node."""
    if not store.supports_listing:
        raise StoreCapabilityError("overwriting needs a store that lists its keys", store)
    foreign = format_.foreign_key(store, path)
    if foreign is not None:
        raise NodeExistsError(
            where,
            f"overwriting would remove {foreign!r}, which is not part of a Zarr node; "
            "move it away, or choose another place",
        )
    format_.erase(store, path)
