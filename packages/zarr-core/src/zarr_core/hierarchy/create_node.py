"""Create nodes: check the location, create the parent groups, store the metadata."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from zarr_core.errors import (
    NodeExistsError,
    StoreCapabilityError,
    StoreReadOnlyError,
)
from zarr_core.formats.detect import conflicting_format
from zarr_core.formats.reserved_names import check_reserved_names
from zarr_core.hierarchy.delete import erase_node, is_stored
from zarr_core.hierarchy.from_metadata import validate_node
from zarr_core.hierarchy.rollback import holds_anything
from zarr_core.interfaces.store import READ_ONLY
from zarr_core.location import Location
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.hierarchy.rollback import Rollback
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


_overwrites_all: ContextVar[bool] = ContextVar("zarr_core_overwrites_all", default=False)


@contextmanager
def overwrite_unmanaged_keys() -> Iterator[None]:
    """Remove all keys below nodes that are overwritten, until the end of the block.

    Otherwise, a key that belongs to no node, such as a file of a user, prevents overwriting.  Only
    the calling thread or task is affected.
    """
    token = _overwrites_all.set(True)
    try:
        yield
    finally:
        _overwrites_all.reset(token)


def place_node(
    store: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata,
    rollback: Rollback,
    *,
    overwrite: bool,
    known_group: str | None = None,
) -> list[str]:
    """Store a new node and its parent groups; return the paths of the groups that were created.

    Specification: v3.1, "Operations": creating a node ensures groups at all ancestor paths.

    ``rollback`` records every node that is created.  ``known_group`` is the path of a group that
    exists: its metadata, which can be large, is not read.

    Raises
    ------
    NodeExistsError
        If a node exists and ``overwrite`` is false, if an ancestor is an array, or if overwriting
        would remove keys that belong to no node.
    StoreReadOnlyError
        If the store is read-only.
    """
    missing = make_room(
        store, path, format_, metadata, rollback, overwrite=overwrite, known_group=known_group
    )
    if not rollback.create(store, path, format_, metadata):
        raise occupied(store, path)
    return missing


def make_room(
    store: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata,
    rollback: Rollback,
    *,
    overwrite: bool,
    existing: Container[str] = (),
    known_group: str | None = None,
) -> list[str]:
    """Do everything that :func:`place_node` does before it stores the metadata.

    Parameters, result and errors as for :func:`place_node`.  ``existing`` has reserved names that
    are permitted, such as those of the source of a copy.
    """
    if store.read_only:
        raise StoreReadOnlyError(READ_ONLY, Location(store, path))
    format_.check_path(path)
    validate_node(store, path, metadata)
    missing = _missing_ancestors(store, path, format_, known_group)
    # An existing node may keep its reserved name.
    keeps = format_.is_reserved(path.rpartition("/")[2]) and is_stored(format_, store, path)
    check_reserved_names(format_, missing if keeps else [path, *missing], existing)
    _refuse_conflicts(store, path, format_, missing if overwrite else [path, *missing])
    if overwrite and _clear(store, path, format_):
        rollback.overwrite(store, path)
    return _create_groups(store, missing, format_, rollback)


def create_ancestors(store: Store, path: str, format_: Format, rollback: Rollback) -> list[str]:
    """Create the missing parent groups of a path, record them for rollback, and return their paths.

    Raises
    ------
    NodeExistsError
        If an ancestor is an array, or has a node of another format.
    NodeNameError
        If the name of a new group is reserved.
    """
    missing = _missing_ancestors(store, path, format_)
    check_reserved_names(format_, missing)
    _refuse_conflicts(store, path, format_, missing)
    return _create_groups(store, missing, format_, rollback)


def _create_groups(
    store: Store, missing: list[str], format_: Format, rollback: Rollback
) -> list[str]:
    if format_.implicit_groups:
        if "" in missing:  # its metadata is written with the first node
            rollback.expect(store, "", format_, GroupMetadata())
        return []
    for ancestor in reversed(missing):
        rollback.create(store, ancestor, format_, GroupMetadata())
    return missing


def _refuse_conflicts(store: Store, path: str, format_: Format, paths: list[str]) -> None:
    """Raise a NodeExistsError if a path has a node of another format."""
    for place in paths:
        if other := conflicting_format(store, place, format_):
            raise NodeExistsError(
                Location(store, place),
                f"has a node of the format {other.name}, which conflicts with a node of "
                f"{format_.name} at {'/' + path!r}; use zarr_format={other.name!r}, or "
                "choose another path",
            )


def occupied(store: Store, path: str) -> NodeExistsError:
    """The error for a node that already exists."""
    return NodeExistsError(
        Location(store, path),
        "a node already exists; open it, or pass overwrite=True to remove it first",
    )


def _missing_ancestors(
    store: Store, path: str, format_: Format, known_group: str | None = None
) -> list[str]:
    """The missing parent groups of a path, the nearest first."""
    parents = path.split("/")[:-1]
    missing: list[str] = []
    for depth in range(len(parents) if path else -1, -1, -1):
        ancestor = "/".join(parents[:depth])
        if ancestor == known_group:
            break
        found = format_.read(store, ancestor)
        if isinstance(found, ArrayMetadata):
            raise NodeExistsError(
                Location(store, ancestor),
                f"is an array, so no node can be created below it (at {'/' + path!r})",
            )
        if found is not None:
            break
        missing.append(ancestor)
    return missing


def refuse_leftovers(array: StoredArray) -> None:
    """Raise a NodeExistsError if chunks exist that a new array would use as its own.

    They remain if the removal of an array was interrupted.
    """
    store, path, format_ = array.chunk_store, array.path, array.format
    if not store.supports_listing:
        return
    _, key = next(array.stored_chunks(), (None, None))
    if key is not None and format_.read(store, path) is None:
        # A key such as "0.0" may belong to other data; overwriting does not remove such keys.
        certain = format_.unmanaged_key(store, path) is None
        remedy = (
            "pass overwrite=True to remove it first"
            if certain
            else "remove it from the store if it is one, or choose another path"
        )
        raise NodeExistsError(
            Location(store, path),
            f"contains {key!r}, perhaps a chunk of an array that was not removed completely; {remedy}",
        )


def _clear(store: Store, path: str, format_: Format) -> bool:
    """Remove a node, if all keys below it belong to nodes; return whether anything existed.

    Other keys are removed only within :func:`overwrite_unmanaged_keys`.
    """
    if not store.supports_listing:
        raise StoreCapabilityError("overwriting requires a store that lists its keys", store)
    foreign = None if _overwrites_all.get() else format_.unmanaged_key(store, path)
    if foreign is not None:
        raise NodeExistsError(
            Location(store, path),
            f"overwriting would remove {foreign!r}, which is not part of a Zarr node; "
            "move it, or choose another path",
        )
    # A store that cannot remove keys needs no removal at an empty path.
    found = holds_anything(store, path, format_)
    if found:
        erase_node(format_, store, path)
    return found
