"""Removing nodes, or all keys below a path, wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeExistsError, NodeNotFoundError
from zarr_core.formats.detect import read_node
from zarr_core.hierarchy.briefly import briefly, refuse_misspelt
from zarr_core.hierarchy.node import Node
from zarr_core.interfaces.progress import Reporter
from zarr_core.names import located
from zarr_core.nodes.erasing import erase_documents, erase_keys, erase_node, require_erasing

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.progress import Progress


def remove(
    store: StoreLike,
    path: str | None = None,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
) -> None:
    """Remove an array, or a group with everything below it, wherever it is.

    Parameters
    ----------
    store : store-like
        Where; an array or group for the node itself.
    path : str, optional
        Path of the node in the store; without it, the root.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True draws a line on
        standard error.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    NodeExistsError
        If there is anything below it that is part of no node, which is left, as is all else.
    StoreReadOnlyError, StoreCapabilityError
        If the store refuses changes, or cannot list or remove its keys.

    Notes
    -----
    Documents are removed first, as by ``del group[name]``.  A node that was reached
    through a group with consolidated metadata is removed from these.
    """
    if isinstance(store, Node):
        store._check_writable()
    with briefly(store, path) as (place, below):
        format_ = store._format if isinstance(store, Node) else read_node(place, below)[0]
        if format_.read(place, below) is None:
            raise NodeNotFoundError(located(place, below), "no node here")
        require_erasing(place)
        if (foreign := format_.foreign_key(place, below)) is not None:
            raise NodeExistsError(
                located(place, below),
                f"removing it would remove {foreign!r}, which is part of no Zarr node; move that "
                "away, or remove all keys whatever they are with rmdir",
            )
        with Reporter(progress, 1) as reporter:
            erase_node(format_, place, below, reporter)
    if isinstance(store, Node):
        store._record(gone=[below])


def rmdir(
    store: StoreLike,
    path: str | None = None,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
) -> None:
    """Remove all keys below a path, whatever they mean.

    Parameters
    ----------
    store : store-like
        Where.
    path : str, optional
        The path; all keys of the place without it.
    progress : callable or True, optional
        As for :func:`remove`.

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
        with Reporter(progress, 1) as reporter:
            if reporter.is_heard:
                erase_keys(place, below, keys, reporter)
            else:
                erase_documents(place, keys)
        place.erase_prefix(prefix)
