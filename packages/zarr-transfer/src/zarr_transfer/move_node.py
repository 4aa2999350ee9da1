"""Moving nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import LocalStore, resolve_store_path
from zarr_core import open as open_node
from zarr_core.errors import MetadataError, NodeExistsError
from zarr_core.extension import Location, NodeNotFoundError, StoreError, strictjson
from zarr_core.formats.key_order import KeyOrder
from zarr_core.hierarchy.create_node import node_exists_error
from zarr_core.hierarchy.delete import erase_node, require_erasing
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.optional import reporter_for

from zarr_transfer.copy_executor import KeyPair
from zarr_transfer.copy_nodes import check_source, dest_path_of, spec_of
from zarr_transfer.copy_values import all_same
from zarr_transfer.execute import execute, prepare_destination
from zarr_transfer.keys import nodes_of, other_keys
from zarr_transfer.plan import CopyOptions, CopySpec, NodeLocation, is_within
from zarr_transfer.planner import plan_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core import Array, Group
    from zarr_core.extension import Buffer, Format, Store, ZarrError
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.progress import Progress


def move(
    source: Array | Group,
    dest: StoreLike,
    dest_path: str | None = None,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array | Group:
    """Move an array, or a group with everything below it, to another path or store.

    Parameters
    ----------
    source : Array or Group
        The node to move.
    dest : store-like
        A group, or a location in any store.
    dest_path : str, optional
        Path below ``dest``.  By default the name of the source if ``dest`` is a group;
        otherwise empty, and the node becomes the root.
    progress : callable or True, optional
        As for :func:`copy`; for copying, then for removing.
    storage_options : mapping, optional
        Further arguments for the store if ``dest`` is a URL.

    Returns
    -------
    Array or Group
        The moved node.

    Raises
    ------
    NodeTypeError
        If the source is not an array or group, but, for example, a path.
    NodeNotFoundError
        If the source has been removed.
    NodeExistsError
        If there is another node at the destination, or it is within the source.
    StoreCapabilityError
        If the store of the source cannot remove keys.

    Notes
    -----
    The node is always complete at one of the locations: a directory is renamed; in other stores
    the node is copied and then removed, metadata first.  The same call, or :meth:`Group.move`,
    resumes an interrupted one.
    """
    check_source(source)
    source.stored.check_writable()
    dest_path = dest_path_of(source, dest, dest_path)
    store, path = resolve_store_path(dest, dest_path, storage_options=storage_options)
    format_ = dest.stored.format if isinstance(dest, Node) else None
    spec = spec_of(source, store, path, format_, {})
    created = move_node(spec, progress)
    source.stored.record(removed=[source.path])
    if isinstance(dest, Node):
        dest.stored.record(removed=[path], changed=created)
    return open_node(
        store,
        "r+",
        path=path,
        zarr_format=spec.source.format_.name,
        extensions=source.stored.extensions,
    )


def move_in_store(
    format_: Format,
    store: Store,
    source_path: str,
    dest_path: str,
    progress: Callable[[Progress], object] | bool | None = None,
) -> list[str]:
    """Move a node to another path of its store; see :func:`move_node`."""
    return move_node(
        CopySpec(*(NodeLocation(store, path, format_) for path in (source_path, dest_path))),
        progress,
    )


def move_node(
    spec: CopySpec, progress: Callable[[Progress], object] | bool | None = None
) -> list[str]:
    """Move a node with everything below it; return the paths of all new nodes."""
    require_erasing(spec.source.store)
    format_, location = spec.source.format_, Location(spec.dest.store, spec.dest.path)
    metadata = format_.read(spec.source.store, spec.source.path)
    if spec.dest.is_within(spec.source):
        raise NodeExistsError(location, f"is within the node to move, {'/' + spec.source.path!r}")
    existing = format_.read(spec.dest.store, spec.dest.path)
    left = _keys(spec)
    is_document = KeyOrder([format_]).is_document
    if metadata is None or not any(is_document(key) for key, _ in left):
        # An interrupted move may have copied everything and removed a part.
        if existing is not None and left and _are_copied(spec, left):
            erase_node(format_, spec.source.store, spec.source.path)
            return [spec.dest.at(path) for path, _ in nodes_of(spec.dest, existing)]
        if metadata is None:
            raise NodeNotFoundError(
                Location(spec.source.store, spec.source.path), "no node to move"
            )
    nodes = list(nodes_of(spec.source, metadata))
    made: list[str] = []
    with reporter_for(progress, 1) as reporter, Rollback() as rollback:
        if existing is None or not _was_copied(spec, left):
            if existing and any(map(spec.dest.store.exists, format_.documents(spec.dest.path))):
                raise node_exists_error(spec.dest.store, spec.dest.path)
            plan = plan_nodes(spec, nodes, CopyOptions())
            made = prepare_destination(plan, rollback, "move again")
            if _moved_at_once(spec):
                return [*made, *(spec.dest.at(path) for path, _ in nodes)]
            execute(plan, reporter, rollback)
            _check_new_keys(spec, nodes, {pair.source for pair in plan.pairs or ()})
        try:
            erase_node(format_, spec.source.store, spec.source.path)
        except BaseException as error:
            old = Location(spec.source.store, spec.source.path)
            error.add_note(
                f"{location} is complete; {old} is partly removed: move again to remove it"
            )
            raise
    return [*made, *(spec.dest.at(path) for path, _ in nodes)]


def _moved_at_once(spec: CopySpec) -> bool:
    """Rename all keys in one operation, if the store can; return whether it was done."""
    pairs = spec.prefixes("")
    if spec.source.store != spec.dest.store or len(pairs) != 1 or "" in pairs[0]:
        return False
    ((old, new),) = pairs
    within = all(key.startswith(old) for key in spec.source.format_.documents(spec.source.path))
    if (
        not within
        or is_within(spec.source.path, spec.dest.path)
        or any(spec.dest.store.list_prefix(new))
    ):
        return False
    store = spec.source.store
    return isinstance(store, LocalStore) and store.move_prefix(old, new)


def _keys(spec: CopySpec) -> list[tuple[str, str]]:
    """Return all keys of a node and those below it, with their new keys."""
    below = [
        (key, new + key[len(old) :])
        for old, new in spec.prefixes("")
        for key in spec.source.store.list_prefix(old)
    ]
    documents = [document for document in _documents(spec) if spec.source.store.exists(document[0])]
    return list(dict.fromkeys([*below, *documents]))


def _documents(spec: CopySpec) -> list[tuple[str, str]]:
    """Return the metadata keys of a node with those of its copy."""
    documents = spec.source.format_.documents
    return list(zip(documents(spec.source.path), documents(spec.dest.path), strict=True))


def _was_copied(spec: CopySpec, left: list[tuple[str, str]]) -> bool:
    """Whether an interrupted move has copied all, except groups that members imply."""
    same, copies = {(new, old) for old, new in left}, set(_keys(spec.reversed()))
    implied = same.isdisjoint(_documents(spec.reversed()))
    return (
        bool(left) and (same == copies or (implied and same < copies)) and _are_copied(spec, left)
    )


def _are_copied(spec: CopySpec, keys: list[tuple[str, str]]) -> bool:
    """Whether the values of all keys are at the destination."""
    is_document = KeyOrder([spec.source.format_]).is_document
    values = (KeyPair(*pair) for pair in keys if not is_document(pair[0]))
    return all_same(spec.source.store, spec.dest.store, values) and all(
        _same_json(spec.source.store.get(old), spec.dest.store.get(new))
        for old, new in keys
        if is_document(old)
    )


def _same_json(one: Buffer | None, other: Buffer | None) -> bool:
    """Whether two documents are identical except for white space."""
    if one is None or other is None:
        return False
    try:
        return strictjson.identical(
            strictjson.loads(bytes(one), constants=True),
            strictjson.loads(bytes(other), constants=True),
        )
    except MetadataError:
        return bytes(one) == bytes(other)


def _check_new_keys(
    spec: CopySpec, nodes: list[tuple[str, NodeMetadata | ZarrError]], copied: set[str]
) -> None:
    """Raise an error if there are keys at the source that were not copied."""
    for key, _ in other_keys(spec, nodes, [""]):
        if key not in copied:
            raise StoreError(
                "was stored while its node was moved; the node is now at both locations, "
                "remove one of them",
                spec.source.store,
                key,
            )
