"""Giving nodes another place, in one store or another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.errors import (
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    StoreError,
)
from zarr_core.interfaces.carrier import Pair
from zarr_core.interfaces.progress import Reporter
from zarr_core.names import located
from zarr_core.nodes.erasing import erase_node, require_erasing
from zarr_core.nodes.key_order import is_document
from zarr_core.nodes.placing import occupied
from zarr_core.stores.nesting import lies_within
from zarr_core.transfer.ends import lies_in
from zarr_core.transfer.executing import execute, make_places
from zarr_core.transfer.planning import plan
from zarr_core.transfer.source import nodes_of, other_keys
from zarr_core.transfer.values import all_same

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.interfaces.codec import Buffer
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.progress import Progress
    from zarr_core.transfer.ends import Ends


def move_node(ends: Ends, progress: Callable[[Progress], object] | bool | None = None) -> list[str]:
    """Move a node with everything below it.

    Parameters
    ----------
    ends : Ends
        From where, where to.
    progress : callable or True, optional
        As for :func:`move`: what is copied is one part, what is removed then another.

    Returns
    -------
    list of str
        Paths of all nodes that are new.

    Raises
    ------
    NodeNotFoundError
        If there is no node at the source.
    NodeExistsError
        If there is another one at the destination, or it lies in the source; if there
        are keys without a node where an array is to be.
    StoreError
        If something was stored at the source meanwhile, which is left there.
    """
    require_erasing(ends.source)
    format_, where = ends.format_, located(ends.dest, ends.dest_path)
    metadata = format_.read(ends.source, ends.source_path)
    if lies_within(ends.dest, ends.dest_path, ends.source, ends.source_path):
        raise NodeExistsError(where, f"lies in the node to move, {'/' + ends.source_path!r}")
    there = format_.read(ends.dest, ends.dest_path)
    left = _keys(ends)
    if metadata is None or not any(is_document(key) for key, _ in left):
        # Perhaps what an earlier attempt had still to remove.
        if there is not None and left and _are_copied(ends, left):
            erase_node(format_, ends.source, ends.source_path)
            return [path for path, _ in nodes_of(ends.turned(), there)]
        if metadata is None:
            raise NodeNotFoundError(located(ends.source, ends.source_path), "no node to move")
    nodes = nodes_of(ends, metadata)
    made: list[str] = []
    with Reporter(progress, 2) as reporter:
        if there is None or not _was_copied(ends, left):
            if there and any(map(ends.dest.exists, format_.documents(ends.dest_path))):
                raise occupied(ends.dest, ends.dest_path)
            planned = plan(ends, nodes, "raise")
            made = make_places(planned)
            if _moved_at_once(ends):
                return [*made, *(ends.target(path) for path, _ in nodes)]
            reporter.begin(ends.dest_path, len(planned.pairs), "keys")
            execute(planned, "content", reporter)
            reporter.end()
            _refuse_newcomers(ends, nodes, {pair.source for pair in planned.pairs})
        erase_node(format_, ends.source, ends.source_path, reporter)
    return [*made, *(ends.target(path) for path, _ in nodes)]


def _moved_at_once(ends: Ends) -> bool:
    """Whether the store could give everything its new place, which has nothing yet."""
    pairs = ends.prefixes(ends.source_path)
    if ends.source != ends.dest or len(pairs) != 1 or "" in pairs[0]:
        return False
    ((old, new),) = pairs
    within = all(key.startswith(old) for key in ends.format_.documents(ends.source_path))
    if not within or lies_in(ends.source_path, ends.dest_path) or any(ends.dest.list_prefix(new)):
        return False
    return ends.source.move_prefix(old, new)


def _keys(ends: Ends) -> list[tuple[str, str]]:
    """All keys of a node and those below it, with the keys that their copies have."""
    below = [
        (key, new + key[len(old) :])
        for old, new in ends.prefixes(ends.source_path)
        for key in ends.source.list_prefix(old)
    ]
    documents = [it for it in _documents(ends) if ends.source.exists(it[0])]
    return list(dict.fromkeys([*below, *documents]))


def _documents(ends: Ends) -> list[tuple[str, str]]:
    """Keys of the documents that a node may have, with those that its copy has for them."""
    documents = ends.format_.documents
    return list(zip(documents(ends.source_path), documents(ends.dest_path), strict=True))


def _was_copied(ends: Ends, left: list[tuple[str, str]]) -> bool:
    """Whether an earlier attempt came as far as removing what it had copied.

    It may have removed the document already of a group that its members still imply.
    """
    same, copies = {(new, old) for old, new in left}, set(_keys(ends.turned()))
    implied = same.isdisjoint(_documents(ends.turned()))
    return (
        bool(left) and (same == copies or (implied and same < copies)) and _are_copied(ends, left)
    )


def _are_copied(ends: Ends, keys: list[tuple[str, str]]) -> bool:
    """Whether the value of every key is at the destination as well."""
    values = (Pair(*pair) for pair in keys if not is_document(pair[0]))
    return all_same(ends.source, ends.dest, values) and all(
        _same_json(ends.source.get(old), ends.dest.get(new))
        for old, new in keys
        if is_document(old)
    )


def _same_json(one: Buffer | None, other: Buffer | None) -> bool:
    """Whether two documents say the same, perhaps with other blanks."""
    if one is None or other is None:
        return False
    try:
        return strictjson.identical(
            strictjson.loads(bytes(one), constants=True),
            strictjson.loads(bytes(other), constants=True),
        )
    except MetadataError:
        return bytes(one) == bytes(other)


def _refuse_newcomers(ends: Ends, nodes: list[tuple[str, NodeMetadata]], copied: set[str]) -> None:
    """Raise if there is anything at the source that was not copied, lest it be lost."""
    for key, _ in other_keys(ends, nodes, [ends.source_path]):
        if key not in copied:
            raise StoreError(
                "was stored while its node was moved; the node is now at both places, "
                "so remove one of them",
                ends.source,
                key,
            )
