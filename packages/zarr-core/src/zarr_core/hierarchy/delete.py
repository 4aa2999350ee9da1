"""Delete nodes, metadata documents first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import MetadataError, NodeNotFoundError, StoreCapabilityError
from zarr_core.formats.detect import read_node
from zarr_core.formats.key_order import key_order
from zarr_core.formats.unmanaged_keys import check_unmanaged_keys
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.store_path import opened_store
from zarr_core.interfaces.chunk_observer import forget_chunks
from zarr_core.location import Location

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store


def remove(
    store: StoreLike,
    path: str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Remove an array, or a group with everything below it.

    Parameters
    ----------
    store : store-like
        Location; an array or group for the node itself.
    path : str, optional
        Path of the node in the store; the root by default.
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    NodeExistsError
        If a key below the node belongs to no node.  Nothing is removed.
    StoreReadOnlyError, StoreCapabilityError
        If the store is read-only, or cannot list or remove its keys.

    Notes
    -----
    Metadata is removed first, as by ``del group[name]``, also from consolidated metadata of the
    group.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.create_group("old.zarr")
    >>> _ = root.create_array("t", shape=5)
    >>> zarr.remove(root["t"])
    >>> list(root)
    []
    """
    stored = store.stored if isinstance(store, Node) else None
    if stored:
        stored.check_writable()
    with opened_store(store, path, storage_options=storage_options) as (opened, node_path):
        format_ = stored.format if stored else read_node(opened, node_path)[0]
        if format_.read(opened, node_path) is None:
            raise NodeNotFoundError(Location(opened, node_path), "no array or group here")
        check_removable(format_, opened, node_path)
        erase_node(format_, opened, node_path)
    if stored:
        stored.record(removed=[node_path])


def check_removable(format_: Format, store: Store, path: str) -> None:
    """Raise a NodeExistsError if removing a node would remove a key that belongs to no node.

    Raises a StoreCapabilityError if the store cannot remove keys.
    """
    require_erasing(store)
    remedy = "move that key, or remove all keys with rmdir"
    check_unmanaged_keys(format_, store, path, "removing it", remedy)


def erase_node(format_: Format, store: Store, path: str) -> None:
    """Remove a node with everything below it; raises as :func:`require_erasing`."""
    require_erasing(store)
    # All metadata is removed first, also that of other formats, and that of parents before that of
    # members: an interrupted call leaves chunks without a node, and no node without its chunks.
    for key in format_.documents(path):
        store.erase(key)
    prefixes = format_.prefixes(path)
    keys = (key for prefix in prefixes for key in store.list_prefix(prefix))
    key_order(format_).erase_documents(store, keys)
    for prefix in prefixes:
        store.erase_prefix(prefix)
        forget_chunks(store, prefix)


def is_stored(format_: Format, store: Store, path: str) -> bool:
    """Whether a node exists, possibly damaged."""
    try:
        return format_.read(store, path) is not None
    except MetadataError:
        return True


def require_erasing(store: Store) -> None:
    """Raise a StoreCapabilityError if a store cannot remove keys."""
    if not store.traits.supports_erasing:
        raise StoreCapabilityError(
            "the store cannot remove keys; copy what you want to keep to another store", store
        )
