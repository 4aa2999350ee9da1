"""What is copied where a node with everything below it is copied: documents, other keys."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from zarr_core.errors import StoreCapabilityError, ZarrError
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.names import located
from zarr_core.nodes.walk import walk
from zarr_core.registry.resolve import make, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.transfer.ends import Ends

    Children = Callable[[str], Iterator[tuple[str, NodeMetadata]]]


def nodes_of(
    ends: Ends,
    root: NodeMetadata,
    *,
    members_only: bool = False,
    shallow: bool = False,
    children: Children | None = None,
) -> list[tuple[str, NodeMetadata]]:
    """Paths and metadata of a node and those below it, parents first.

    Parameters
    ----------
    ends : Ends
        Where it is.
    root : ArrayMetadata or GroupMetadata
        Its metadata.
    members_only : bool
        Without the node itself.
    shallow : bool
        Without the groups below it.
    children : callable, optional
        Where to look for members; by default in the store.
    """
    nodes = [] if members_only else [(ends.source_path, root)]
    if isinstance(root, GroupMetadata):
        depth = 0 if shallow else None
        below = walk(ends.format_, ends.source, ends.source_path, depth, children)
        nodes += (node for node in below if not shallow or isinstance(node[1], ArrayMetadata))
    return nodes


def chosen(
    nodes: list[tuple[str, NodeMetadata]], source_path: str, only: Callable[[str], bool]
) -> list[tuple[str, NodeMetadata]]:
    """Those of some nodes that a function wants, with the groups that lead to them.

    Parameters
    ----------
    nodes : list
        Paths and metadata, parents first, as :func:`nodes_of` gives them.
    source_path : str
        What the function's paths are relative to.
    only : callable
        The function.

    Raises
    ------
    TypeError
        If it is none.
    """
    if not callable(only):
        raise TypeError(
            f"only is called with the path of each node and says whether to copy it; {only!r} "
            "is no function"
        )
    kept: set[str] = set()
    for path, _ in reversed(nodes):
        if path in kept or only(path[len(source_path) :].lstrip("/")):
            kept.update((path, path.rpartition("/")[0]))
    return [node for node in nodes if node[0] in kept]


class Owners:
    """Finds the node that a key belongs to: the nearest of some whose prefix it has.

    Parameters
    ----------
    format_ : Format
        That of the nodes.
    paths : iterable of str
        Their paths; the number of a node is its place among them.
    """

    def __init__(self, format_: Format, paths: list[str]) -> None:
        self._numbers = {
            prefix: number for number, path in enumerate(paths) for prefix in format_.prefixes(path)
        }

    def __call__(self, key: str) -> int | None:
        """The number of the node, or None if there is none."""
        end = key.rfind("/") + 1
        while end > 0:
            number = self._numbers.get(key[:end])
            if number is not None:
                return number
            end = key.rfind("/", 0, end - 1) + 1
        return self._numbers.get("")


def other_keys(
    ends: Ends, nodes: list[tuple[str, NodeMetadata]], tops: list[str]
) -> list[tuple[str, str]]:
    """Keys of everything but documents, with the keys of their copies.

    Also of what is no chunk: a user may keep notes beside an array.

    Parameters
    ----------
    ends, nodes
        What is copied.
    tops : list of str
        Paths of those nodes that lie in no other.

    Raises
    ------
    StoreCapabilityError
        If the store cannot list its keys, nor can they be told beforehand.
    """
    if not ends.source.supports_listing:
        return [pair for path, metadata in nodes for pair in _possible_keys(ends, path, metadata)]
    documents = {key for path, _ in nodes for key in ends.format_.documents(path)}
    return [
        (key, new + key[len(old) :])
        for path in tops
        for old, new in ends.prefixes(path)
        for key in ends.source.list_prefix(old)
        if key not in documents
    ]


def _possible_keys(ends: Ends, path: str, metadata: NodeMetadata) -> Iterator[tuple[str, str]]:
    """Keys of all chunks that an array may have, whether or not they are stored."""
    if not isinstance(metadata, ArrayMetadata):
        return
    where = located(ends.source, path)
    if metadata.storage_transformers:
        raise StoreCapabilityError(
            f"{'/' + path!r} has storage transformers, so that its keys are known by listing only, "
            "which the store cannot do; read the array and write it to another",
            ends.source,
        )
    grid = require("chunk_grid", metadata.chunk_grid, where, "/chunk_grid")
    encoding = require(
        "chunk_key_encoding", metadata.chunk_key_encoding, where, "/chunk_key_encoding"
    )
    old = ends.format_.chunk_prefix(path)
    new = ends.dest_format.chunk_prefix(ends.target(path))
    for chunk in product(*(range(axis.count) for axis in grid.axes(metadata.shape))):
        key = encoding.encode(chunk)
        yield old + key, new + key


def largest_value(metadata: NodeMetadata) -> int:
    """Bytes that a stored object of an array may have about; 0 if that is not known."""
    if not isinstance(metadata, ArrayMetadata):
        return 0
    try:
        data_type = make("data_type", metadata.data_type)
        grid = make("chunk_grid", metadata.chunk_grid)
        if data_type is None or grid is None:
            return 0
        axes = grid.axes(metadata.shape)
    except (ZarrError, ValueError):  # of no concern to a copy
        return 0
    lengths = (max((length for length, _ in axis.runs()), default=0) for axis in axes)
    return prod(lengths) * (data_type.item_size or 0)
