"""Delete nodes, or all keys below a path, metadata documents first."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from zarr_core.errors import MetadataError, NodeNotFoundError, StoreCapabilityError
from zarr_core.formats.detect import read_node
from zarr_core.formats.key_order import key_order
from zarr_core.formats.unmanaged_keys import refuse_unmanaged
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.progress import Reporter
from zarr_core.hierarchy.store_path import opened_store, refuse_misspelt
from zarr_core.interfaces.chunk_observer import forget_chunks
from zarr_core.location import Location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zarr_core.formats.key_order import KeyOrder
    from zarr_core.hierarchy.progress import Progress
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store

_BATCH = 1000  # keys that are removed between two reports


def remove(
    store: StoreLike,
    path: str | None = None,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Remove an array, or a group with everything below it.

    Parameters
    ----------
    store : store-like
        Location; an array or group for the node itself.
    path : str, optional
        Path of the node in the store; the root by default.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True draws a bar (zarr-transfer).
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
    if isinstance(store, Node):
        store.stored.check_writable()
    with opened_store(store, path, storage_options=storage_options) as (place, below):
        format_ = store.stored.format if isinstance(store, Node) else read_node(place, below)[0]
        if format_.read(place, below) is None:
            raise NodeNotFoundError(Location(place, below), "no array or group here")
        require_erasing(place)
        check_removable(format_, place, below)
        with Reporter(progress, 1) as reporter:
            erase_node(format_, place, below, reporter)
    if isinstance(store, Node):
        store.stored.record(removed=[below])


def rmdir(
    store: StoreLike,
    path: str | None = None,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Remove all keys below a path, whether or not they belong to nodes.

    For nodes, prefer :func:`remove`: it includes chunks that the format stores elsewhere, and
    updates consolidated metadata.

    Parameters
    ----------
    store : store-like
        Location.
    path : str, optional
        The path; by default all keys of the location.
    progress, storage_options : optional
        As for :func:`remove`.

    Raises
    ------
    NodeNotFoundError
        If there is no key below the path.  A store object may be empty.
    StoreReadOnlyError, StoreCapabilityError
        If the store is read-only, or cannot list or remove its keys.

    Notes
    -----
    Metadata is removed first, so that an interrupted call leaves no incomplete node.
    """
    with opened_store(store, path, storage_options=storage_options) as (place, below):
        prefix = f"{below}/" if below else ""
        require_erasing(place)
        keys = list(place.list_prefix(prefix))
        if not keys:
            refuse_misspelt(store, place, below, "there is nothing to remove")
        order = key_order(store.stored.format if isinstance(store, Node) else None)
        with Reporter(progress, 1) as reporter:
            erase_documents(place, keys, order, reporter, below)
        place.erase_prefix(prefix)


def check_removable(format_: Format, store: Store, path: str) -> None:
    """Raise a NodeExistsError if a key below a node, which would be removed, belongs to no node."""
    remedy = "move that key, or remove all keys with rmdir"
    refuse_unmanaged(format_, store, path, "removing it", remedy)


def erase_node(format_: Format, store: Store, path: str, reporter: Reporter | None = None) -> None:
    """Remove a node with everything below it, and report the progress.

    All metadata is removed first, also that of other formats, parents before members: an
    interrupted call leaves no incomplete node.

    Raises
    ------
    StoreCapabilityError
        If the store cannot remove keys.
    """
    require_erasing(store)
    for key in format_.documents(path):
        store.erase(key)
    if store.supports_listing:
        keys = (key for prefix in format_.prefixes(path) for key in store.list_prefix(prefix))
        erase_documents(store, keys, key_order(format_), reporter, path)
    format_.erase(store, path)
    for prefix in format_.prefixes(path):
        forget_chunks(store, prefix)


def is_stored(format_: Format, store: Store, path: str) -> bool:
    """Whether a node exists, possibly damaged."""
    try:
        return format_.read(store, path) is not None
    except MetadataError:
        return True


def erase_documents(
    store: Store,
    keys: Iterable[str],
    order: KeyOrder,
    reporter: Reporter | None = None,
    path: str = "",
) -> None:
    """Remove the metadata documents among some keys, parents first.

    A reporter that somebody listens to reports the removal of all these keys, at ``path``: then
    the other keys are removed too.
    """
    if reporter is None or not reporter.is_heard:
        for step in order.documents_to_remove(keys):
            store.erase_values(step)
        return
    keys = list(keys)
    reporter.begin(path, len(keys), "keys")
    others = (key for key in keys if not order.is_document(key))
    batches = iter(lambda: [*islice(others, _BATCH)], [])
    for step in chain(order.documents_to_remove(keys), batches):
        store.erase_values(step)
        reporter.advance(len(step))
    reporter.end()


def require_erasing(store: Store) -> None:
    """Raise a StoreCapabilityError if a store cannot remove keys."""
    if not store.traits.supports_erasing:
        raise StoreCapabilityError(
            "the store cannot remove keys; copy what you want to keep to another store", store
        )
