"""Removing a node with all below it, documents first."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from zarr_core.errors import StoreCapabilityError
from zarr_core.nodes.key_order import documents_to_remove, is_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.progress import Reporter
    from zarr_core.interfaces.store import Store

_SOME = 1000  # keys that are removed between two reports


def erase_node(format_: Format, store: Store, path: str, reporter: Reporter | None = None) -> None:
    """Remove a node with everything below it.

    Parameters
    ----------
    format_, store, path
        The node.
    reporter : Reporter, optional
        Is told of every key.

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
        keys = (key for prefix in format_.prefixes(path) for key in store.list_prefix(prefix))
        if reporter is None or not reporter.is_heard:
            erase_documents(store, keys)
        else:
            erase_keys(store, path, [*keys], reporter)
    format_.erase(store, path)


def erase_documents(store: Store, keys: Iterable[str]) -> None:
    """Remove those keys that are documents, parents first."""
    for step in documents_to_remove(keys):
        store.erase_values(step)


def erase_keys(store: Store, path: str, keys: list[str], reporter: Reporter) -> None:
    """Remove keys: documents, parents first, then the others.

    Parameters
    ----------
    store, path
        Where they lie.
    keys : list of str
        The keys.
    reporter : Reporter
        Is told of some at a time.
    """
    reporter.begin(path, len(keys), "keys")
    others = (key for key in keys if not is_document(key))
    batches = iter(lambda: [*islice(others, _SOME)], [])
    for some in chain(documents_to_remove(keys), batches):
        store.erase_values(some)
        reporter.advance(len(some))
    reporter.end()


def require_erasing(store: Store) -> None:
    """Raise if a store cannot remove anything."""
    if not store.supports_erasing:
        raise StoreCapabilityError(
            "the store cannot remove anything; copy what is to stay to another one", store
        )
