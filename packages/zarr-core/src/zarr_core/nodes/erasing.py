"""Removing a node with all below it, documents first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import StoreCapabilityError
from zarr_core.nodes.key_order import documents_to_remove

if TYPE_CHECKING:
    from collections.abc import Iterable

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
