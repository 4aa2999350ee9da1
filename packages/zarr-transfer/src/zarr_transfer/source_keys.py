"""Nodes and keys of the source of a copy."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from zarr_core.extension import ArrayMetadata, GroupMetadata, StoreCapabilityError, ZarrError
from zarr_core.tools import create_extension, walk

from zarr_transfer.chunk_keys import ChunkKeys, key_pairs
from zarr_transfer.spec import is_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import Format
    from zarr_core.tools import NodeMetadata

    from zarr_transfer.spec import CopySpec

    Children = Callable[[str], Iterator[tuple[str, NodeMetadata]]]


def nodes_of(
    spec: CopySpec,
    root: NodeMetadata,
    *,
    members_only: bool = False,
    shallow: bool = False,
    children: Children | None = None,
) -> list[tuple[str, NodeMetadata]]:
    """Return paths and metadata of a node and those below it, parents first.

    ``members_only`` omits the node itself, ``shallow`` the groups below it.  ``children`` returns
    the members of a path; by default from the store.
    """
    nodes = [] if members_only else [(spec.source.path, root)]
    if isinstance(root, GroupMetadata):
        depth = 0 if shallow else None
        below = walk(spec.source.format_, spec.source.store, spec.source.path, depth, children)
        nodes += (node for node in below if not shallow or isinstance(node[1], ArrayMetadata))
    return nodes


def chosen(
    nodes: list[tuple[str, NodeMetadata]], source_path: str, only: Callable[[str], bool]
) -> list[tuple[str, NodeMetadata]]:
    """Return the nodes whose path below the source a function selects, with their parent groups.

    Raises TypeError if ``only`` is not callable.
    """
    if not callable(only):
        raise TypeError(
            f"only must be a function that takes the path of a node and returns whether to copy it, "
            f"not {only!r}"
        )
    kept: set[str] = set()
    for path, _ in reversed(nodes):
        if path in kept or only(path[len(source_path) :].lstrip("/")):
            kept.update((path, path.rpartition("/")[0]))
    return [node for node in nodes if node[0] in kept]


class KeyOwners:
    """Finds the index of the node that a key belongs to: the nearest with a prefix of the key."""

    def __init__(self, format_: Format, paths: list[str]) -> None:
        self._numbers = {
            prefix: number for number, path in enumerate(paths) for prefix in format_.prefixes(path)
        }

    def __call__(self, key: str) -> int | None:
        """Return the index of the node, or None."""
        end = key.rfind("/") + 1
        while end > 0:
            number = self._numbers.get(key[:end])
            if number is not None:
                return number
            end = key.rfind("/", 0, end - 1) + 1
        return self._numbers.get("")


def other_keys(
    spec: CopySpec, nodes: list[tuple[str, NodeMetadata]], tops: list[str]
) -> list[tuple[str, str]]:
    """Return all keys except metadata, also unmanaged ones, with the keys of their copies.

    Raises StoreCapabilityError if the store cannot list its keys and they cannot be computed.
    """
    if not spec.source.store.supports_listing:
        return [pair for path, metadata in nodes for pair in _possible_keys(spec, path, metadata)]
    documents = {key for path, _ in nodes for key in spec.source.format_.documents(path)}
    return [
        (key, new + key[len(old) :])
        for path in tops
        for old, new in spec.prefixes(path)
        for key in spec.source.store.list_prefix(old)
        if key not in documents
    ]


def _possible_keys(spec: CopySpec, path: str, metadata: NodeMetadata) -> Iterator[tuple[str, str]]:
    """Iterate over the keys of all possible chunks of an array."""
    if not isinstance(metadata, ArrayMetadata):
        return
    if metadata.storage_transformers:
        raise StoreCapabilityError(
            f"{'/' + path!r} has storage transformers, so its keys are known only by listing, which "
            "the store does not support; read the array and write it to another",
            spec.source.store,
        )
    below = spec.below(path)
    yield from key_pairs(
        ChunkKeys.of(spec.source, below, metadata), ChunkKeys.of(spec.dest, below, metadata)
    )


def largest_value(metadata: NodeMetadata | None) -> int:
    """Return the approximate maximum size of a chunk in bytes; 0 if unknown."""
    if not isinstance(metadata, ArrayMetadata):
        return 0
    try:
        data_type = create_extension("data_type", metadata.data_type)
        grid = create_extension("chunk_grid", metadata.chunk_grid)
        if data_type is None or grid is None:
            return 0
        axes = grid.axes(metadata.shape)
    except (ZarrError, ValueError):  # a copy does not need it
        return 0
    lengths = (max((length for length, _ in axis.runs()), default=0) for axis in axes)
    return prod(lengths) * (data_type.item_size or 0)


def top_level(paths: Iterable[str]) -> list[str]:
    """Return the top-level paths of nodes in order, parents first."""
    tops: list[str] = []
    for path in paths:
        if not tops or not is_within(path, tops[-1]):
            tops.append(path)
    return tops
