"""How many bytes a place takes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from zarr_core.errors import NodeNotFoundError
from zarr_core.hierarchy.location import locate
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.storage import nbytes_of

if TYPE_CHECKING:
    from zarr_core.hierarchy.location import StoreLike


def getsize(store: StoreLike, path: str | None = None) -> int:
    """Bytes of all values below a path: chunks, documents, whatever else there is.

    Parameters
    ----------
    store : store-like
        Where; an array or group for what it takes with everything below it.
    path : str, optional
        Path of a node, or a key.

    Raises
    ------
    NodeNotFoundError
        If there is neither a value at that path nor one below it.
    StoreCapabilityError
        If the store cannot list its keys.

    Notes
    -----
    Of an array, :meth:`Array.nbytes_stored` counts the chunks alone.
    """
    place, below = locate(store, path, read_only=True)
    if isinstance(store, Node) and not path:
        format_ = store._format
        keys = set(format_.documents(below))
        prefixes = format_.prefixes(below)
        listed = (key for prefix in prefixes for key in place.list_prefix(prefix))
        return nbytes_of(place, chain(keys, (key for key in listed if key not in keys)))
    found = place.getsize(below) if below else None
    keys_below = list(place.list_prefix(f"{below}/" if below else ""))
    if below and found is None and not keys_below:
        raise NodeNotFoundError(f"{place} {'/' + below!r}", "nothing is stored here")
    return (found or 0) + nbytes_of(place, keys_below)
