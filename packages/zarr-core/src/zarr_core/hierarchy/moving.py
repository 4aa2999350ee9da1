"""Giving a node another path in its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeExistsError, NodeNotFoundError
from zarr_core.hierarchy.copying import copy_node
from zarr_core.hierarchy.placing import make_room

if TYPE_CHECKING:
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store


def move_node(format_: Format, store: Store, source: str, destination: str) -> list[str]:
    """Move a node with everything below it.

    Parameters
    ----------
    format_, store
        Where the node lives.
    source, destination : str
        Normalised paths.

    Returns
    -------
    list of str
        Paths of all nodes that are new.

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
        raise NodeNotFoundError(f"{store} {'/' + source!r}", "no node to move")
    if f"{destination}/".startswith(f"{source}/"):
        raise NodeExistsError(
            f"{store} {'/' + destination!r}", f"lies in the node to move, {'/' + source!r}"
        )
    made = make_room(store, destination, format_, metadata, overwrite=False)
    moved = copy_node(format_, store, source, store, destination)
    format_.erase(store, source)
    return made + moved
