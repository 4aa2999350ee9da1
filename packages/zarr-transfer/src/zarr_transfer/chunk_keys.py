"""The chunk keys of an array at the source and at the destination of a copy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from zarr_core.extension import ArrayMetadata
from zarr_core.tools import create_extension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ChunkKeyEncoding

    from zarr_transfer.plan import CopyStep
    from zarr_transfer.spec import CopySpec, NodeLocation

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
        """Return the keys of an array.

        Raises ExtensionError if its chunk grid or chunk key encoding is unknown, and ValueError if
        the grid does not fit the shape.
        """
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

    def others(self) -> Iterator[str]:
        """Iterate over existing keys that are chunk keys."""
        if self.side.store.supports_listing:
            keys = list(self.side.store.list_prefix(self.prefix))
            yield from (key for key in keys if self.chunk_of(key) is not None)


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
    for key in new.others():
        chunk = new.chunk_of(key)
        assert chunk is not None, "others() returns only chunk keys"
        if not old.holds(chunk) or not old.side.store.exists(old.key(chunk)):
            yield key


def may_collide(spec: CopySpec, step: CopyStep) -> bool:
    """Whether the new key of one chunk may be the old key of another."""
    old, new = array_keys(spec, step)
    corners = {(0,) * len(new.counts), tuple(max(0, count - 1) for count in new.counts)}
    keys = [new.key(corner) for corner in corners]
    return any(key.startswith(old.prefix) and old.chunk_of(key) is not None for key in keys)
