"""Moving nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import LocalStore, resolve_store_path
from zarr_core import open as open_node
from zarr_core.errors import NodeExistsError
from zarr_core.extension import NodeNotFoundError, StoreError, ZarrError
from zarr_core.formats.key_order import KeyOrder
from zarr_core.hierarchy.create_node import node_exists_error, prepare_path
from zarr_core.hierarchy.delete import erase_node, require_erasing
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.rollback import Rollback

from zarr_transfer.copy_executor import KeyPair
from zarr_transfer.copy_keys import copy_keys
from zarr_transfer.copy_nodes import check_source, dest_path_of, spec_of
from zarr_transfer.copy_values import all_same
from zarr_transfer.keys import largest_value, nodes_of
from zarr_transfer.plan import CopySpec, NodeLocation, is_within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core import Array, Group
    from zarr_core.extension import Format, Store
    from zarr_core.hierarchy.store_path import StoreLike

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
        As for :func:`copy`.
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
    """Move a node with everything below it; return the paths of all new nodes.

    All keys are copied as they are, metadata documents last, and then removed, documents first.
    """
    source, dest, format_ = spec.source, spec.dest, spec.source.format_
    location = dest.location()
    require_erasing(source.store)
    metadata = format_.read(source.store, source.path)
    if dest.is_within(source):
        raise NodeExistsError(location, f"is within the node to move, {'/' + source.path!r}")
    targets, existing = _keys(spec), _keys(spec.reversed())
    copied = [KeyPair(*pair) for pair in targets.items() if pair[1] in existing]
    is_same = all_same(source.store, dest.store, copied)
    if targets.keys().isdisjoint(format_.documents(source.path)):
        # An interrupted move may have copied everything and removed a part.
        if targets and is_same and len(copied) == len(targets):
            erase_node(format_, source.store, source.path)
            root = format_.read(dest.store, dest.path)
            return [dest.at(path) for path, _ in nodes_of(dest, root)] if root else []
        if metadata is None:
            raise NodeNotFoundError(source.location(), "no node to move")
    assert metadata is not None, "a node with a document"
    others = existing.keys() - targets.values()
    is_node = not existing.keys().isdisjoint(format_.documents(dest.path))
    if is_node and (others or not is_same):
        raise node_exists_error(dest.store, dest.path)
    if others or not is_same:
        key = min(others or existing)
        raise NodeExistsError(
            location, f"holds {key!r}, which is not part of a node; remove it first"
        )
    made: list[str] = []
    nodes = [(dest.at(path), node) for path, node in nodes_of(source, metadata)]
    paths = [path for path, _ in nodes]
    with Rollback() as rollback:
        if not is_node:
            made = prepare_path(
                dest.store, dest.path, format_, metadata, rollback,
                overwrite=False, existing=source.path.split("/"),
            )  # fmt: skip
        if not existing and _moved_at_once(spec):
            return [*made, *paths]
        if dest.store.traits.metadata_first:  # a failed copy removes the nodes
            for path, node in nodes:
                assert not isinstance(node, ZarrError), "reading it raised the error"
                rollback.record(dest.store, path, format_, node)
        order = KeyOrder([format_])
        pairs = [KeyPair(key, target) for key, target in targets.items() if target not in existing]
        largest = max(largest_value(node) for _, node in nodes)
        copy_keys(
            source.store, dest.store, dest.path, pairs, order, progress, "move again", largest
        )
    if added := _keys(spec).keys() - targets.keys():
        raise StoreError(
            "was stored while its node was moved; the node is now at both locations, "
            "remove one of them",
            source.store,
            min(added),
        )
    try:
        erase_node(format_, source.store, source.path)
    except BaseException as error:
        error.add_note(
            f"{location} is complete; {source.location()} is partly removed: move again to remove it"
        )
        raise
    return [*made, *paths]


def _moved_at_once(spec: CopySpec) -> bool:
    """Rename all keys in one operation, if the store can; return whether it was done."""
    pairs, store = spec.prefixes(""), spec.source.store
    if store != spec.dest.store or len(pairs) != 1 or "" in pairs[0]:
        return False
    ((old, new),) = pairs
    within = all(key.startswith(old) for key in spec.source.format_.documents(spec.source.path))
    if not within or is_within(spec.source.path, spec.dest.path):
        return False
    return isinstance(store, LocalStore) and store.move_prefix(old, new)


def _keys(spec: CopySpec) -> dict[str, str]:
    """Return all keys of a node and those below it, with their new keys."""
    store, format_ = spec.source.store, spec.source.format_
    keys = {
        key: new + key[len(old) :]
        for old, new in spec.prefixes("")
        for key in store.list_prefix(old)
    }
    documents = zip(
        format_.documents(spec.source.path), format_.documents(spec.dest.path), strict=True
    )
    return keys | {old: new for old, new in documents if old in keys or store.exists(old)}
