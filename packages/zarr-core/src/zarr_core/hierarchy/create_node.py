"""Create nodes: check the location, create the parent groups, store the metadata."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.errors import (
    NodeExistsError,
    NodeNameError,
    StoreCapabilityError,
    StoreReadOnlyError,
    ZarrError,
)
from zarr_core.formats.detect import conflicting_format, format_of_new, read_node
from zarr_core.formats.unmanaged_keys import check_unmanaged_keys
from zarr_core.hierarchy.delete import erase_node, is_stored
from zarr_core.hierarchy.from_metadata import validate_node
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.rollback import has_keys
from zarr_core.interfaces.store import READ_ONLY
from zarr_core.interfaces.wrapper_store import WrapperStore
from zarr_core.location import Location
from zarr_core.messages import warn
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.registry.resolve import format_named
from zarr_core.threads import parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.hierarchy.rollback import Rollback
    from zarr_core.hierarchy.store_path import NodeOptions, StoreLike
    from zarr_core.interfaces.byte_reader import Buffer
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


# Documents of arrays in a directory of their own, of all formats.
_DOCUMENTS = ("zarr.json", ".zarray", "attributes.json", "meta")

_ATTEMPTS = 10  # to overwrite a node that other writers create at the same time

_permitted: ContextVar[tuple[str, ...]] = ContextVar("permitted nodes", default=())


@contextmanager
def permit_nodes(*, reserved_names: bool = False, other_formats: bool = False) -> Iterator[None]:
    """Warn, instead of refusing new nodes, until the end of the block in the calling thread or task."""
    new = ("reserved_names",) * reserved_names + ("other_formats",) * other_formats
    token = _permitted.set(_permitted.get() + new)
    try:
        yield
    finally:
        _permitted.reset(token)


class NewNode:
    """The location and the format of a new node; ``parent`` can be a group."""

    def __init__(self, parent: StoreLike, options: NodeOptions) -> None:
        self.store, self.path, requested = options.resolve(parent)
        self.consolidated: Any = None
        self._group, self._overwrite = None, options.overwrite
        if isinstance(parent, Node):
            self._group, self.consolidated = parent, parent.stored.consolidated
            if requested is None:
                requested = parent.stored.format.name
        # The snapshot is for checks before creation, in the requested format or version 3.
        self.snapshot = StoreSnapshot.before_creation(
            self.store, self.path, format_named(requested or "v3")
        )
        self.format = format_of_new(self.snapshot, self.path, requested)

    def create(self, metadata: NodeMetadata, rollback: Rollback) -> None:
        """Store the metadata, and add the node to the consolidated metadata of the group."""
        store, path, format_, group = self.store, self.path, self.format, self._group
        known_group = None
        if group is not None:
            group.stored.check_writable()
            if self.consolidated is not None:
                # If the call fails, this lists the node if the store still has it.
                paths = list(accumulate(path.split("/"), "{}/{}".format))
                rollback.add_cleanup(lambda: group.stored.record(removed=[path], changed=paths))
                # If the group has been removed, record() raises an error.
                known_group = self.consolidated.path
        created = prepare_path(
            store, path, format_, metadata, rollback, overwrite=self._overwrite,
            known_group=known_group, snapshot=self.snapshot,
        )  # fmt: skip
        known_empty = isinstance(self.snapshot, StoreSnapshot) and self.snapshot.is_empty(path)
        attempts = _ATTEMPTS if self._overwrite else 1
        while not rollback.create(store, path, format_, metadata, known_empty=known_empty):
            attempts -= 1
            if not attempts:
                raise node_exists_error(store, path, self._overwrite)
            _clear(store, path, format_, rollback)
        if group is not None:
            removed = [path] if self._overwrite else []
            group.stored.record(removed=removed, changed=[*created, path])


def prepare_path(
    store: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata | None,
    rollback: Rollback,
    *,
    overwrite: bool,
    existing: Container[str] = (),
    known_group: str | None = None,
    snapshot: Store | None = None,
) -> list[str]:
    """Check the location of a new node, remove what it replaces and create its parent groups.

    ``metadata`` is that of the node, which the caller then stores; None creates only the groups,
    which ``rollback`` records.  ``existing`` has reserved names that are permitted, such as those
    of the source of a copy.  ``known_group`` is the path of a group that exists: its metadata,
    which can be large, is not read.  ``snapshot`` is for the checks.  Returns the paths of the
    groups.
    """
    # All checks come first: a call that fails by one of them has changed nothing.
    snapshot = store if snapshot is None else snapshot
    if metadata is not None:
        if store.read_only:
            raise StoreReadOnlyError(READ_ONLY, Location(store, path))
        format_.check_path(path)
        validate_node(store, path, metadata)
    # v3.1, "Operations": creating a node ensures groups at all ancestor paths.
    groups = _missing_groups(snapshot, path, format_, known_group)
    new = groups if metadata is None else [path, *groups]
    # An existing node may keep its reserved name.
    is_reserved = format_.is_reserved(path.rpartition("/")[2])
    keeps_name = is_reserved and metadata is not None and is_stored(format_, store, path)
    check_reserved_names(format_, groups if keeps_name else new, existing)
    _check_conflicts(snapshot, path, format_, groups if overwrite else new)
    if overwrite:
        _clear(store, path, format_, rollback)
    if format_.implicit_groups:
        if "" in groups:  # its metadata is written with the first node
            rollback.record(store, "", format_, GroupMetadata())
        return []
    for group in reversed(groups):  # a group never exists before its parent
        rollback.create(store, group, format_, GroupMetadata())
    return groups


def check_reserved_names(
    format_: Format, paths: Iterable[str], existing: Container[str] = ()
) -> None:
    """Raise a NodeNameError, or warn, if the last names of the paths of new nodes are reserved.

    Specification: v3.1, "Node names".  Names that exist already are not new.
    """
    for path in paths:
        name = path.rpartition("/")[2]
        if name in existing or not format_.is_reserved(name):
            continue
        if "reserved_names" not in _permitted.get() and config.settings.reserved_names == "error":
            raise NodeNameError(
                repr(name),
                'names that begin with "__" are reserved by the specification of Zarr; choose '
                'another name, or allow them with zarr_core.config.set(reserved_names="warn")',
            )
        warn(
            f'the new node {"/" + path!r} has a name that begins with "__": the specification of '
            "Zarr reserves such names, and other libraries may ignore the node",
        )


def _check_conflicts(store: Store, path: str, format_: Format, paths: Iterable[str]) -> None:
    """Raise a NodeExistsError, or warn, if one of ``paths`` has a node of another format."""
    for existing in paths:
        if other := conflicting_format(store, existing, format_):
            location = Location(store, existing)
            problem = (
                f"has a node of the format {other.name}, which conflicts with a node of "
                f"{format_.name} at {'/' + path!r}; use zarr_format={other.name!r}, or "
                "choose another path"
            )
            if "other_formats" not in _permitted.get():
                raise NodeExistsError(location, problem)
            warn(f"{location}: {problem}")


def _missing_groups(store: Store, path: str, format_: Format, known_group: str | None) -> list[str]:
    """The missing parent groups of a path, the nearest first."""
    groups: list[str] = []
    parent = path
    while parent:
        parent = parent.rpartition("/")[0]
        if parent == known_group:
            return groups
        metadata = format_.read(store, parent)
        if isinstance(metadata, ArrayMetadata):
            raise _below_array(store, parent, repr("/" + path))
        if metadata is not None:
            return groups
        groups.append(parent)
    _check_directories_above(store, path)
    return groups


def _check_directories_above(store: Store, path: str) -> None:
    """Raise a NodeExistsError if a directory above that of the store is an array."""
    if not store.url.startswith("file://"):
        return
    from zarr_core.stores.local import LocalStore, path_from_url

    directory = path_from_url(store.url)
    while (above := os.path.dirname(directory)) != directory:
        directory = above
        if not any(os.path.isfile(os.path.join(above, key)) for key in _DOCUMENTS):
            continue
        store_above = LocalStore(above, read_only=True)
        try:
            _, metadata = read_node(store_above, "")
        except ZarrError:  # a file with one of these names
            continue
        if isinstance(metadata, ArrayMetadata):
            raise _below_array(store_above, "", Location(store, path))
        return


def _below_array(store: Store, path: str, node: object) -> NodeExistsError:
    reason = f"is an array, so no node can be created below it (at {node})"
    return NodeExistsError(Location(store, path), reason)


def _clear(store: Store, path: str, format_: Format, rollback: Rollback) -> None:
    """Remove a node that is overwritten, if all keys below it belong to nodes."""
    if not store.supports_listing:
        raise StoreCapabilityError("overwriting requires a store that lists its keys", store)
    check_unmanaged_keys(format_, store, path, "overwriting", "move it, or choose another path")
    # A store that cannot remove keys needs no removal at an empty path.
    if has_keys(store, path, format_):
        erase_node(format_, store, path)
        rollback.note(
            f"{Location(store, path)}: the previous node has been removed (overwrite) and is lost"
        )


def check_leftovers(array: StoredArray, snapshot: Store) -> None:
    """Raise a NodeExistsError if chunks exist that a new array would use as its own."""
    # They remain if the removal of an array was interrupted.
    store, path, format_ = array.chunk_store, array.path, array.format
    if not store.supports_listing or not any(True for _ in snapshot.list_prefix(array.prefix)):
        return
    _, key = next(array.stored_chunks(), (None, None))
    if key is not None and format_.read(store, path) is None:
        # A key such as "0.0" may belong to other data; overwriting does not remove such keys.
        is_chunk = format_.find_unmanaged_key(store, path) is None
        remedy = "pass overwrite=True to remove it first" if is_chunk else "if it is one, remove it"
        raise NodeExistsError(
            Location(store, path),
            f"contains {key!r}, perhaps a chunk of an array that was not removed completely; "
            f"{remedy}, or choose another path",
        )


def node_exists_error(store: Store, path: str, overwrite: bool = False) -> NodeExistsError:
    """The error for a node that already exists, although it was to be overwritten."""
    reason = "a node already exists; open it, or pass overwrite=True to remove it first"
    if overwrite:
        reason = "other writers create a node here at the same time; open it, or repeat the call"
    return NodeExistsError(Location(store, path), reason)


class StoreSnapshot(WrapperStore):
    """A store for the checks before a node is created: what several of them read is read once."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._values: dict[tuple[str, int], Buffer | int | None] = {}
        self._empty_prefixes: set[str] = set()

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
        nodes = {"", path.rpartition("/")[0], *([path] if of_node else ())}
        requests: list[Callable[[], object]] = []
        if path or of_node:
            requests += [partial(format_.read, snapshot, node) for node in nodes]
        if store.supports_listing:
            requests.append(partial(snapshot.list_prefix, f"{path}/" if path else ""))

        def send(request: Callable[[], object]) -> None:
            try:
                request()
            except Exception as error:  # raised again by the check that needs it
                if getattr(error, "unanswered", False):
                    raise

        parallel_for(requests, send, True, store.max_concurrency)
        return snapshot

    def is_empty(self, path: str) -> bool:
        """Whether the store has listed no keys below a path."""
        return (f"{path}/" if path else "") in self._empty_prefixes

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        if (key, limit) not in self._values:
            self._values[key, limit] = self.inner.get_limited(key, limit)
        return self._values[key, limit]

    def list_prefix(self, prefix: str) -> Iterator[str]:
        if prefix in self._empty_prefixes:
            return iter(())
        keys = iter(self.inner.list_prefix(prefix))
        for first in keys:
            return chain([first], keys)
        self._empty_prefixes.add(prefix)
        return iter(())
