"""Nodes and keys of the source of a copy, and the chunk keys of its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import (
    ArrayMetadata,
    GroupMetadata,
    StoreCapabilityError,
    ZarrError,
    create_extension,
)
from zarr_core.formats.walk import walk
from zarr_core.names import join
from zarr_core.optional import optional_function
from zarr_core.threads import concurrent_map

from zarr_transfer.plan import is_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.extension import ChunkKeyEncoding, Format, Store
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.plan import CopySpec, CopyStep, NodeLocation

    Children = Callable[[str], Iterator[tuple[str, Any]]]


Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChunkKeys:
    """The keys of the stored chunks or shards of an array.

    ``counts`` are the numbers of chunks along each dimension.  If ``verbatim``, all keys below the
    prefix are copied, since storage transformers define them.
    """

    side: NodeLocation
    prefix: str
    encoding: ChunkKeyEncoding
    counts: tuple[int, ...]
    verbatim: bool

    @classmethod
    def of(cls, side: NodeLocation, path: str, metadata: ArrayMetadata) -> ChunkKeys:
        """Return the keys of an array; raise ExtensionError or ValueError if they are unknown."""
        location = side.location(path)
        grid = create_extension("chunk_grid", metadata.chunk_grid, location.at("/chunk_grid"))
        encoding = create_extension(
            "chunk_key_encoding", metadata.chunk_key_encoding, location.at("/chunk_key_encoding")
        )
        assert grid is not None, "a chunk grid is never ignored"
        assert encoding is not None, "a chunk key encoding is never ignored"
        counts = tuple(axis.count for axis in grid.axes(metadata.shape))
        prefix = side.format_.chunk_prefix(side.at(path))
        return cls(side, prefix, encoding, counts, bool(metadata.storage_transformers))

    @property
    def most(self) -> int:
        """Maximum number of stored chunks."""
        return prod(self.counts)

    def key(self, chunk: Coordinates) -> str:
        """Return the key of a chunk."""
        return self.prefix + self.encoding.encode(chunk)

    def chunk_of(self, key: str) -> Coordinates | None:
        """Return the coordinates of a key, also outside the array; None if it is not a chunk key."""
        return self.encoding.decode(key[len(self.prefix) :], len(self.counts))

    def stored(self) -> Iterator[tuple[Coordinates, str]]:
        """Iterate over coordinates and keys of stored chunks; of all chunks without listing."""
        if not self.side.store.supports_listing:
            for chunk in product(*map(range, self.counts)):
                yield chunk, self.key(chunk)
            return
        for key in self.side.store.list_prefix(self.prefix):
            chunk_coords = self.chunk_of(key)
            if chunk_coords is not None and self.holds(chunk_coords):
                yield chunk_coords, key

    def holds(self, chunk: Coordinates) -> bool:
        """Whether a chunk is within the array."""
        return all(number < count for number, count in zip(chunk, self.counts, strict=True))


def key_pairs(old: ChunkKeys, new: ChunkKeys) -> Iterator[tuple[str, str]]:
    """Iterate over pairs of the old and the new key of chunks."""
    if old.verbatim:
        documents = set(old.side.format_.documents(old.prefix.rstrip("/")))
        for key in old.side.store.list_prefix(old.prefix):
            if key not in documents:
                yield key, new.prefix + key[len(old.prefix) :]
        return
    for chunk, key in old.stored():
        yield key, new.key(chunk)


def keys_unchanged(old: ChunkKeys, new: ChunkKeys) -> bool:
    """Whether all chunks keep their keys."""
    return (
        bool(old.side.store == new.side.store)
        and old.prefix == new.prefix
        and same_keys(old.encoding, new.encoding, len(old.counts))
    )


def same_keys(one: ChunkKeyEncoding, other: ChunkKeyEncoding, ndim: int) -> bool:
    """Whether two encodings give every chunk the same key."""
    if one == other:
        return True
    # With at most one coordinate, separators do not matter.
    return ndim < 2 and all(
        one.encode((number,) * ndim) == other.encode((number,) * ndim) for number in (0, 1, 12)
    )


def array_keys(spec: CopySpec, step: CopyStep) -> tuple[ChunkKeys, ChunkKeys]:
    """Return the old and the new keys of an array."""
    assert isinstance(step.source_metadata, ArrayMetadata)
    assert isinstance(step.metadata, ArrayMetadata)
    return (
        ChunkKeys.of(spec.source, step.path, step.source_metadata),
        ChunkKeys.of(spec.dest, step.path, step.metadata),
    )


def extra_keys(old: ChunkKeys, new: ChunkKeys) -> Iterator[str]:
    """Iterate over chunk keys at the destination that the source does not have."""
    store = new.side.store
    for key in store.list_prefix(new.prefix) if store.supports_listing else ():
        chunk = new.chunk_of(key)
        if chunk is not None and not (old.holds(chunk) and old.side.store.exists(old.key(chunk))):
            yield key


def nodes_of(
    side: NodeLocation,
    root: NodeMetadata,
    *,
    max_depth: int | None = None,
    children: Children | None = None,
) -> Iterator[tuple[str, NodeMetadata | ZarrError]]:
    """Iterate over relative paths and metadata of a node and those below it, parents first.

    ``children`` returns the children of a path; those of :func:`readable_children` may be errors.
    """
    yield "", root
    if isinstance(root, GroupMetadata):
        for path, node in walk(side.format_, side.store, side.path, max_depth, children):
            yield side.below(path), node


def readable_children(side: NodeLocation, root: NodeMetadata) -> Children:
    """Return a function for the children of a group: names, and metadata or the error of reading.

    In a store that cannot list its keys, consolidated metadata lists the members.
    """
    store, format_ = side.store, side.format_
    names: Callable[[str], Iterator[str]] = partial(format_.child_names, store)
    read: Callable[[str], NodeMetadata | None] = partial(format_.read, store)
    if isinstance(root, GroupMetadata) and root.consolidated and not store.supports_listing:
        view = optional_function("use_consolidated=")
        consolidated = view(store, side.path, format_, root.consolidated, True)
        names, read = consolidated.child_names, consolidated.node

    def read_node(path: str) -> NodeMetadata | ZarrError | None:
        try:
            return read(path)
        except (MetadataError, ExtensionError) as error:
            return error

    def children(path: str) -> Iterator[tuple[str, NodeMetadata | ZarrError]]:
        paths = {join(path, name): name for name in names(path)}
        for child, node in concurrent_map(paths, read_node, store.max_concurrency):
            if node is not None:
                yield paths[child], node

    return children


def chosen(
    nodes: list[tuple[str, NodeMetadata | ZarrError]], only: Callable[[str], bool]
) -> list[tuple[str, NodeMetadata | ZarrError]]:
    """Return the nodes whose path a function selects, with their parents."""
    if not callable(only):
        raise TypeError(
            f"only must be a function that takes the path of a node and returns whether to copy it, "
            f"not {only!r}"
        )
    kept: set[str] = set()
    for path, _ in reversed(nodes):
        if path in kept or only(path):
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
    spec: CopySpec, nodes: Iterable[tuple[str, NodeMetadata | ZarrError | None]], tops: list[str]
) -> list[tuple[str, str]]:
    """Return all keys except metadata, also unmanaged ones, with the keys of their copies.

    Raises StoreCapabilityError if the store cannot list its keys and they cannot be computed.
    """
    if not spec.source.store.supports_listing:
        return [pair for path, metadata in nodes for pair in _possible_keys(spec, path, metadata)]
    of_path = spec.source.format_.documents
    documents = {key for path, _ in nodes for key in of_path(spec.source.at(path))}
    return [
        (key, new + key[len(old) :])
        for path in tops
        for old, new in spec.prefixes(path)
        for key in spec.source.store.list_prefix(old)
        if key not in documents
    ]


def _possible_keys(spec: CopySpec, path: str, metadata: object) -> Iterator[tuple[str, str]]:
    """Iterate over the keys of all possible chunks of an array."""
    if not isinstance(metadata, ArrayMetadata):
        return
    if metadata.storage_transformers:
        raise StoreCapabilityError(
            f"{'/' + spec.source.at(path)!r} has storage transformers, so its keys are known only by listing, which "
            "the store does not support; read the array and write it to another",
            spec.source.store,
        )
    yield from key_pairs(
        ChunkKeys.of(spec.source, path, metadata), ChunkKeys.of(spec.dest, path, metadata)
    )


def largest_value(metadata: object) -> int:
    """Return the decoded size of a chunk or shard in bytes; 0 if the metadata does not contain it."""
    if not isinstance(metadata, ArrayMetadata):
        return 0
    shape: Any = metadata.chunk_grid.configuration.get("chunk_shape")
    try:
        return int(prod(shape) * np.dtype(metadata.data_type.name).itemsize)
    except (TypeError, ValueError, OverflowError, SyntaxError):
        # Not a shape, since lengths differ or the grid is unknown; or NumPy has no such dtype.
        return 0


def top_level(paths: Iterable[str]) -> list[str]:
    """Return the top-level paths of nodes in order, parents first."""
    tops: list[str] = []
    for path in paths:
        if not tops or not is_within(path, tops[-1]):
            tops.append(path)
    return tops


def present_keys(store: Store, keys: Iterable[str]) -> set[str]:
    """Return the existing keys, with one request for each."""
    return {
        key
        for key, is_there in concurrent_map(keys, store.exists, store.max_concurrency)
        if is_there
    }
