"""Access to the stored state of arrays and groups that copies need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core import Array, Group
    from zarr_core.extension import ChunkKeyEncoding, Format
    from zarr_core.tools import Node, NodeMetadata


def format_of(node: Node[Any]) -> Format:
    """The format of a node."""
    return node.stored.format


def where(node: Node[Any]) -> str:
    """The store and path of a node, for messages."""
    return node.stored.location


def extensions_of(node: Node[Any]) -> Any:
    """The extensions that were passed when the node was opened."""
    return node.stored.extensions


def check_writable(node: Node[Any]) -> None:
    """Raise ``StoreReadOnlyError`` if the node is open for reading only."""
    node.check_writable()


def update_consolidated(
    node: Node[Any], gone: Sequence[str] = (), there: Sequence[str] = ()
) -> None:
    """Update the consolidated metadata through which a node was opened, if there are any.

    Parameters
    ----------
    node : Node
        The array or group.
    gone, there : sequence of str
        Paths of nodes that were removed, and that were created.
    """
    node.stored.record(gone=gone, there=there)


def children_of(group: Group) -> Callable[[str], Iterator[tuple[str, NodeMetadata]]]:
    """Function that lists the members of a group at a path, by consolidated metadata if known."""
    return group.stored.children


def chunk_prefix(array: Array) -> str:
    """Prefix of the keys of an array's chunks."""
    return array.stored.prefix


def key_encoding_of(array: Array) -> ChunkKeyEncoding:
    """The chunk key encoding of an array."""
    return array.stored.resolved.key_encoding


def fill_value_of(array: Array) -> Any:
    """The fill value of an array, as an array of one element of its data type."""
    return array.stored.resolved.fill_value


def missing_is_error(array: Array) -> bool:
    """Whether reading a chunk that is not stored raises an error."""
    return array.stored.missing_is_error
