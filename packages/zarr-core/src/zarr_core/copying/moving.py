"""Giving nodes another place, at the word of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.copying.copied import ends_of
from zarr_core.errors import NodeNameError
from zarr_core.hierarchy.location import locate
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.open import open as open_node
from zarr_core.transfer.moving import move_node

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.group import Group
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.progress import Progress


def move(
    source: Array | Group,
    dest: StoreLike,
    name: str | None = None,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
) -> Array | Group:
    """Move an array, or a group with everything below it, to another place or store.

    Parameters
    ----------
    source : Array or Group
        What to move.
    dest : store-like
        Where to: a group, or any other place, in any store.
    name : str, optional
        Path below that place.  By default the name of the source if ``dest`` is a
        group, else none: the node becomes the root.
    progress : callable or True, optional
        As for :func:`copy`; of what is copied, then of what is removed.

    Returns
    -------
    Array or Group
        The node at its new place.

    Raises
    ------
    NodeNotFoundError
        If the source has been removed.
    NodeExistsError
        If there is another node at the destination, or it lies in the source.
    StoreCapabilityError
        If the store of the source cannot remove anything.

    Notes
    -----
    The node is whole at one of the two places at any time: a directory is renamed; in
    other stores it is copied as by :func:`copy`, and only then removed, documents first.  One that was interrupted is
    completed by the same call, or by :meth:`Group.move`.
    """
    source._check_writable()
    if isinstance(dest, Node):
        dest._check_writable()
        name = name or source.basename
        if not name:
            raise NodeNameError("''", "the root has no name; say what it is to be called")
    store, path = locate(dest, name)
    format_ = dest._format if isinstance(dest, Node) else None
    ends = ends_of(source, store, path, format_, {})
    there = move_node(ends, progress)
    source._record(gone=[source.path])
    if isinstance(dest, Node):
        dest._record(gone=[path], there=there)
    return open_node(
        store, "r+", path=path, zarr_format=ends.format_.name, extensions=source._extensions
    )
