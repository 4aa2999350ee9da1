"""Putting the document of a new node where it belongs, with nothing in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.engine.stored import stored_chunks
from zarr_core.errors import NodeExistsError, StoreCapabilityError, StoreReadOnlyError
from zarr_core.formats.detect import rival
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.names import located
from zarr_core.nodes.checking import check
from zarr_core.nodes.erasing import erase_node

if TYPE_CHECKING:
    from zarr_core.engine.chunks import Chunks
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


def place_node(
    store: Store, path: str, format_: Format, metadata: NodeMetadata, *, overwrite: bool
) -> list[str]:
    """Store a new node, and the groups that lead to it.

    Specification: v3.1, "Operations": creating a node ensures groups at all
    ancestor paths.

    Parameters
    ----------
    store, path, format_, metadata
        The node.
    overwrite : bool
        Whether a node that is there already is removed first.

    Returns
    -------
    list of str
        Paths of the groups that were made to lead to it.

    Raises
    ------
    NodeExistsError
        If there is a node and ``overwrite`` is false; if an ancestor is an array;
        if what is to be overwritten holds what no Zarr node holds.
    StoreReadOnlyError
        If the store refuses changes.
    """
    missing = make_room(store, path, format_, metadata, overwrite=overwrite)
    if not format_.create(store, path, metadata):
        raise occupied(store, path)
    return missing


def make_room(
    store: Store, path: str, format_: Format, metadata: NodeMetadata, *, overwrite: bool
) -> list[str]:
    """Do what :func:`place_node` does before it stores the document."""
    if store.read_only:
        raise StoreReadOnlyError("the store is open for reading only", located(store, path))
    format_.check_path(path)
    check(store, path, metadata)
    missing = _missing_ancestors(store, path, format_)
    for place in missing if overwrite else [path, *missing]:
        if other := rival(store, place, format_):
            raise NodeExistsError(
                located(store, place),
                f"has a node of the format {other.name}, with which one of {format_.name} at "
                f"{'/' + path!r} does not go together: give zarr_format={other.name!r}, or "
                "choose another place",
            )
    if format_.implicit_groups:
        missing = []
    if overwrite:
        _clear(store, path, format_)
    for ancestor in reversed(missing):
        format_.create(store, ancestor, GroupMetadata())
    return missing


def occupied(store: Store, path: str) -> NodeExistsError:
    """What to raise where there is a node already."""
    return NodeExistsError(
        located(store, path),
        "there is a node already; open it, or give overwrite=True to remove it first",
    )


def _missing_ancestors(store: Store, path: str, format_: Format) -> list[str]:
    """The groups that lead to a path and are not there, the nearest first."""
    parents = path.split("/")[:-1]
    missing: list[str] = []
    for depth in range(len(parents) if path else -1, -1, -1):
        ancestor = "/".join(parents[:depth])
        found = format_.read(store, ancestor)
        if isinstance(found, ArrayMetadata):
            raise NodeExistsError(
                located(store, ancestor),
                f"is an array, and nothing can be made below it (at {'/' + path!r})",
            )
        if found is not None:
            break
        missing.append(ancestor)
    return missing


def refuse_leftovers(chunks: Chunks, format_: Format, path: str) -> None:
    """Refuse a place with chunks that a new array would take for its own.

    They are what is left of an array whose removal was interrupted.

    Raises
    ------
    NodeExistsError
        If there is such a chunk.
    """
    store = chunks.store
    if not store.supports_listing:
        return
    _, key = next(stored_chunks(chunks), (None, None))
    if key is not None and format_.read(store, path) is None:
        # A key such as "0.0" may be anyone's, and overwriting will not remove it.
        certain = format_.foreign_key(store, path) is None
        remedy = (
            "give overwrite=True to remove it first"
            if certain
            else "remove it from the store if it is one, or choose another place"
        )
        raise NodeExistsError(
            located(store, path),
            f"holds {key!r}, perhaps a chunk of an array that was not removed completely; {remedy}",
        )


def _clear(store: Store, path: str, format_: Format) -> None:
    """Remove a node, but nothing that is not part of a node."""
    if not store.supports_listing:
        raise StoreCapabilityError("overwriting needs a store that lists its keys", store)
    foreign = format_.foreign_key(store, path)
    if foreign is not None:
        raise NodeExistsError(
            located(store, path),
            f"overwriting would remove {foreign!r}, which is not part of a Zarr node; "
            "move it away, or choose another place",
        )
    # Of a store that cannot remove anything nothing is asked where there is nothing.
    if store.supports_erasing or _holds_anything(store, path, format_):
        erase_node(format_, store, path)


def _holds_anything(store: Store, path: str, format_: Format) -> bool:
    return any(map(store.exists, format_.documents(path))) or any(
        True for prefix in format_.prefixes(path) for _ in store.list_prefix(prefix)
    )
