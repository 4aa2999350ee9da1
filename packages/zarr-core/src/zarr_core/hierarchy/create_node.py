"""Create nodes: check the location, create the parent groups, store the metadata."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from zarr_core.errors import (
    NodeExistsError,
    StoreCapabilityError,
    StoreReadOnlyError,
    ZarrError,
)
from zarr_core.formats.detect import conflicting_format, read_node
from zarr_core.formats.reserved_names import check_reserved_names
from zarr_core.formats.unmanaged_keys import refuse_unmanaged
from zarr_core.hierarchy.delete import erase_node, is_stored
from zarr_core.hierarchy.from_metadata import validate_node
from zarr_core.hierarchy.rollback import holds_anything
from zarr_core.interfaces.store import READ_ONLY
from zarr_core.interfaces.wrapper_store import WrapperStore
from zarr_core.location import Location
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.threads import parallel_for
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.hierarchy.rollback import Rollback
    from zarr_core.interfaces.byte_reader import Buffer
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


# Documents of arrays in a directory of their own, of all formats.
_DOCUMENTS = ("zarr.json", ".zarray", "attributes.json", "meta")

_ATTEMPTS = 10  # to overwrite a node that other writers create at the same time

_allows_conflicts: ContextVar[bool] = ContextVar("zarr_core_allows_conflicts", default=False)


@contextmanager
def allow_conflicting_formats() -> Iterator[None]:
    """Create nodes where a node of another format exists, with a warning, until the end of the block.

    Both nodes remain; version 3 is preferred when they are opened without a format.  Only the
    calling thread or task is affected.
    """
    token = _allows_conflicts.set(True)
    try:
        yield
    finally:
        _allows_conflicts.reset(token)


class StoreSnapshot(WrapperStore):
    """A store that sends each request once, although several checks read the same values.

    It is for the checks before a node is created, between which nothing is written.  It keeps
    values and empty prefixes.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._values: dict[tuple[str, int], Buffer | int | None] = {}
        self._empty: set[str] = set()

    @classmethod
    def before_creation(
        cls, store: Store, path: str, format_: Format, *, of_node: bool = False
    ) -> Store:
        """Request concurrently what the checks of a new node usually read.

        ``of_node`` also requests the metadata of a node at the path.  Returns the store itself if
        it has no latency.
        """
        if store.max_concurrency is None:
            return store
        snapshot = cls(store)
        nodes = dict.fromkeys(("", path.rpartition("/")[0], *([path] if of_node else ())))
        work: list[Callable[[], object]] = []
        if path or of_node:
            work += [partial(format_.read, snapshot, node) for node in nodes]
        if store.supports_listing:
            work.append(lambda: snapshot.is_empty(f"{path}/" if path else ""))

        def request(read: Callable[[], object]) -> None:
            try:
                read()
            except Exception as error:  # raised again by the check that needs it
                if getattr(error, "unanswered", False):
                    raise

        parallel_for(work, request, True, store.max_concurrency)
        return snapshot

    def get_limited(self, key: str, limit: int) -> Buffer | int | None:
        try:
            return self._values[key, limit]
        except KeyError:
            value = self.inner.get_limited(key, limit)
        self._values[key, limit] = value
        return value

    def list_prefix(self, prefix: str) -> Iterator[str]:
        if prefix in self._empty:
            return iter(())
        keys = iter(self.inner.list_prefix(prefix))
        first = next(keys, None)
        if first is None:
            self._empty.add(prefix)
            return iter(())
        return chain([first], keys)

    def was_empty(self, prefix: str) -> bool:
        """Whether a listing without keys below a prefix was received."""
        return prefix in self._empty

    def is_empty(self, prefix: str) -> bool:
        """Whether the store has no keys below a prefix."""
        return next(iter(self.list_prefix(prefix)), None) is None


def place_node(
    store: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata,
    rollback: Rollback,
    *,
    overwrite: bool,
    known_group: str | None = None,
    seen: Store | None = None,
) -> list[str]:
    """Store a new node and its parent groups; return the paths of the groups that were created.

    Specification: v3.1, "Operations": creating a node ensures groups at all ancestor paths.

    ``rollback`` records every node that is created.  ``known_group`` is the path of a group that
    exists: its metadata, which can be large, is not read.  ``seen`` is a snapshot of the store,
    for the checks.

    Raises
    ------
    NodeExistsError
        If a node exists and ``overwrite`` is false, if an ancestor is an array, or if overwriting
        would remove keys that belong to no node.
    StoreReadOnlyError
        If the store is read-only.
    """
    missing = make_room(
        store, path, format_, metadata, rollback, overwrite=overwrite, known_group=known_group,
        seen=seen,
    )  # fmt: skip
    where_empty = isinstance(seen, StoreSnapshot) and seen.was_empty(f"{path}/" if path else "")
    attempts = _ATTEMPTS if overwrite else 1
    while not rollback.create(store, path, format_, metadata, where_empty=where_empty):
        attempts -= 1
        if not attempts:
            raise occupied(store, path, overwrite)
        if _clear(store, path, format_):  # another writer has created a node meanwhile
            rollback.overwrite(store, path)
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
    seen: Store | None = None,
) -> list[str]:
    """Do everything that :func:`place_node` does before it stores the metadata.

    Parameters, result and errors as for :func:`place_node`.  ``existing`` has reserved names that
    are permitted, such as those of the source of a copy.
    """
    if store.read_only:
        raise StoreReadOnlyError(READ_ONLY, Location(store, path))
    format_.check_path(path)
    validate_node(store, path, metadata)
    seen = store if seen is None else seen
    missing = _missing_ancestors(seen, path, format_, known_group)
    # An existing node may keep its reserved name.
    keeps = format_.is_reserved(path.rpartition("/")[2]) and is_stored(format_, store, path)
    check_reserved_names(format_, missing if keeps else [path, *missing], existing)
    _refuse_conflicts(seen, path, format_, missing if overwrite else [path, *missing])
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
            rollback.record(store, "", format_, GroupMetadata())
        return []
    for ancestor in reversed(missing):
        rollback.create(store, ancestor, format_, GroupMetadata())
    return missing


def _refuse_conflicts(store: Store, path: str, format_: Format, paths: list[str]) -> None:
    """Raise a NodeExistsError, or warn, if a path has a node of another format."""
    for place in paths:
        if other := conflicting_format(store, place, format_):
            location = Location(store, place)
            problem = (
                f"has a node of the format {other.name}, which conflicts with a node of "
                f"{format_.name} at {'/' + path!r}; use zarr_format={other.name!r}, or "
                "choose another path"
            )
            if not _allows_conflicts.get():
                raise NodeExistsError(location, problem)
            warn(f"{location}: {problem}")


def occupied(store: Store, path: str, overwrite: bool = False) -> NodeExistsError:
    """The error for a node that already exists, although it was to be overwritten."""
    reason = "a node already exists; open it, or pass overwrite=True to remove it first"
    if overwrite:
        reason = "other writers create a node here at the same time; open it, or repeat the call"
    return NodeExistsError(Location(store, path), reason)


def _missing_ancestors(
    store: Store, path: str, format_: Format, known_group: str | None = None
) -> list[str]:
    """The missing parent groups of a path, the nearest first."""
    parents = path.split("/")[:-1]
    missing: list[str] = []
    for depth in range(len(parents) if path else -1, -1, -1):
        ancestor = "/".join(parents[:depth])
        if ancestor == known_group:
            return missing
        found = format_.read(store, ancestor)
        if isinstance(found, ArrayMetadata):
            raise NodeExistsError(
                Location(store, ancestor),
                f"is an array, so no node can be created below it (at {'/' + path!r})",
            )
        if found is not None:
            return missing
        missing.append(ancestor)
    _refuse_directory_of_array(store, path)
    return missing


def _refuse_directory_of_array(store: Store, path: str) -> None:
    """Raise a NodeExistsError if a directory above that of the store is an array."""
    if not store.url.startswith("file://"):
        return
    from zarr_core.stores.local import LocalStore, path_from_url

    directory = path_from_url(store.url)
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        if not any(os.path.exists(os.path.join(above, key)) for key in _DOCUMENTS):
            continue
        around = LocalStore(above, read_only=True)
        try:
            _, metadata = read_node(around, "")
        except ZarrError:  # a file with one of these names
            continue
        if isinstance(metadata, ArrayMetadata):
            raise NodeExistsError(
                Location(around, ""),
                f"is an array, so no node can be created below it (at {Location(store, path)})",
            )
        return


def refuse_leftovers(array: StoredArray, seen: Store) -> None:
    """Raise a NodeExistsError if chunks exist that a new array would use as its own.

    They remain if the removal of an array was interrupted.  ``seen`` is a snapshot of the store,
    or the store itself.
    """
    store, path, format_ = array.chunk_store, array.path, array.format
    if not store.supports_listing:
        return
    if isinstance(seen, StoreSnapshot) and seen.is_empty(format_.chunk_prefix(path)):
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
    """Remove a node, if all keys below it belong to nodes; return whether anything existed."""
    if not store.supports_listing:
        raise StoreCapabilityError("overwriting requires a store that lists its keys", store)
    refuse_unmanaged(format_, store, path, "overwriting", "move it, or choose another path")
    # A store that cannot remove keys needs no removal at an empty path.
    found = holds_anything(store, path, format_)
    if found:
        erase_node(format_, store, path)
    return found
