"""What is at the destination of a copy already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import MetadataError
from zarr_core.threads import in_flight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Store
    from zarr_core.transfer.ends import Ends


def keys_there(ends: Ends, tops: list[str]) -> set[str]:
    """All keys that lie where something is copied to; none if the store cannot list them.

    Parameters
    ----------
    ends : Ends
        Where it goes.
    tops : list of str
        Paths of the nodes that are copied and lie in no other.
    """
    store, format_ = ends.dest, ends.dest_format
    if not store.supports_listing:
        return set()
    prefixes: list[str] = []
    beside: list[str] = []  # documents of formats that keep them elsewhere
    for target in map(ends.target, tops):
        own = tuple(format_.prefixes(target))
        prefixes += own
        beside += (key for key in format_.documents(target) if not key.startswith(own))
    found = existing(store, beside)
    listed = in_flight(prefixes, lambda prefix: list(store.list_prefix(prefix)), store.requests)
    return found.union(*(keys for _, keys in listed))


def existing(store: Store, keys: Iterable[str]) -> set[str]:
    """Those of some keys that a store has, each asked for."""
    return {key for key, is_there in in_flight(keys, store.exists, store.requests) if is_there}


def nodes_there(
    ends: Ends, nodes: list[tuple[str, NodeMetadata]], keys: set[str]
) -> dict[str, NodeMetadata | MetadataError]:
    """What is at the destination, or why it cannot be read, by the path of its source.

    Parameters
    ----------
    ends, nodes
        What is copied.
    keys : set of str
        What :func:`keys_there` gave.
    """

    def read(path: str) -> NodeMetadata | MetadataError | None:
        try:
            return ends.dest_format.read(ends.dest, ends.target(path))
        except MetadataError as error:
            return error

    # A group may be there without a document, implied by its members: that does not count.
    listed = ends.dest.supports_listing
    paths = [
        path
        for path, _ in nodes
        if not (listed and keys.isdisjoint(ends.dest_format.documents(ends.target(path))))
    ]
    found = in_flight(paths, read, ends.dest.requests)
    return {path: metadata for path, metadata in found if metadata is not None}
