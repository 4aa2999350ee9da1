"""Removing nodes, or all keys below a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import StoreCapabilityError
from zarr_core.hierarchy.briefly import briefly, refuse_misspelt
from zarr_core.hierarchy.key_order import documents_to_remove

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store


def erase_node(format_: Format, store: Store, path: str) -> None:
    """Remove a node with everything below it.

    Parameters
    ----------
    format_, store, path
        The node.

    Raises
    ------
    StoreCapabilityError
        If the store cannot remove anything.

    Notes
    -----
    All documents first, that of the node before those of its members: whatever stops
    this, nothing that can be seen lacks a part.
    """
    require_erasing(store)
    for key in format_.documents(path):
        store.erase(key)
    if store.supports_listing:
        for prefix in format_.prefixes(path):
            erase_documents(store, store.list_prefix(prefix))
    format_.erase(store, path)


def erase_documents(store: Store, keys: Iterable[str]) -> None:
    """Remove those keys that are documents, parents first."""
    for step in documents_to_remove(keys):
        store.erase_values(step)


def require_erasing(store: Store) -> None:
    """Raise if a store cannot remove anything."""
    if not store.supports_erasing:
        raise StoreCapabilityError(
            "the store cannot remove anything; copy what is to stay to another one", store
        )


def rmdir(store: StoreLike, path: str | None = None) -> None:
    """Remove all keys below a path, whatever they mean.

    Parameters
    ----------
    store : store-like
        Where.
    path : str, optional
        The path; all keys of the place without it.

    Raises
    ------
    NodeNotFoundError
        If there is no key below the path, or at a place that is given by its name.
    StoreReadOnlyError, StoreCapabilityError
        If the store refuses changes, or cannot list or remove its keys.

    Notes
    -----
    Documents are removed first, so that no half of a node is taken for the whole.  A
    node is better removed by ``del group[name]``, which knows where its format keeps
    chunks, and keeps consolidated metadata in step.
    """
    with briefly(store, path) as (place, below):
        prefix = f"{below}/" if below else ""
        require_erasing(place)
        keys = list(place.list_prefix(prefix))
        if not keys:
            refuse_misspelt(store, place, below, "there is nothing to remove")
        erase_documents(place, keys)
        place.erase_prefix(prefix)
