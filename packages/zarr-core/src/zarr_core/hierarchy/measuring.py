"""How many bytes a place takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.engine.stored import nbytes_of
from zarr_core.hierarchy.briefly import briefly, refuse_misspelt
from zarr_core.hierarchy.node import Node

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
        If there is neither a value at that path nor one below it, or nothing at a place
        that is given by its name.
    StoreCapabilityError
        If the store cannot list its keys.

    Notes
    -----
    Of an array, :meth:`Array.nbytes_stored` counts the chunks alone.
    """
    with briefly(store, path, read_only=True) as (place, below):
        if isinstance(store, Node) and below and not path:
            format_ = store._format
            keys = set(format_.documents(below))
            for prefix in format_.prefixes(below):
                keys.update(place.list_prefix(prefix))
            return nbytes_of(place, keys)
        found = place.getsize(below) if below else None
        keys = set(place.list_prefix(f"{below}/" if below else ""))
        if found is None and not keys:
            refuse_misspelt(store, place, below, "nothing is stored here")
        return (found or 0) + nbytes_of(place, keys)
