"""Under which keys the chunks of an array lie, before a conversion or after it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from zarr_core.extension import make_extension

from zarr_formats.conversion.sameness import same_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ArrayMetadata, ChunkKeyEncoding

    from zarr_formats.conversion.steps import Side, Step

Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChunkKeys:
    """The keys of the stored objects of one array.

    Parameters
    ----------
    side : Side
        Where the hierarchy is.
    prefix : str
        What stands before the keys.
    encoding : ChunkKeyEncoding
        How they are made.
    counts : tuple of int
        Number of stored objects along each dimension, if all were stored.
    verbatim : bool
        Whether storage transformers decide what else there is, so that every key below
        the prefix counts.
    """

    side: Side
    prefix: str
    encoding: ChunkKeyEncoding
    counts: tuple[int, ...]
    verbatim: bool

    @classmethod
    def of(cls, side: Side, path: str, metadata: ArrayMetadata) -> ChunkKeys:
        """The keys of an array.

        Raises
        ------
        ExtensionError
            If nobody knows its chunk grid or chunk key encoding.
        ValueError
            If the grid does not fit.
        """
        where = side.where(path)
        grid = make_extension("chunk_grid", metadata.chunk_grid, where, "/chunk_grid")
        encoding = make_extension(
            "chunk_key_encoding", metadata.chunk_key_encoding, where, "/chunk_key_encoding"
        )
        assert grid is not None, "a grid is never left out"
        assert encoding is not None, "an encoding of keys is never left out"
        counts = tuple(axis.count for axis in grid.axes(metadata.shape))
        prefix = side.format_.chunk_prefix(side.at(path))
        return cls(side, prefix, encoding, counts, bool(metadata.storage_transformers))

    @property
    def most(self) -> int:
        """How many stored objects there can be."""
        return prod(self.counts)

    def key(self, chunk: Coordinates) -> str:
        """The key of a stored object."""
        return self.prefix + self.encoding.encode(chunk)

    def chunk_of(self, key: str) -> Coordinates | None:
        """The coordinates that a key stands for, inside of the array or not."""
        return self.encoding.decode(key[len(self.prefix) :], len(self.counts))

    def stored(self) -> Iterator[tuple[Coordinates, str]]:
        """Coordinates and keys of what is stored, or may be if the store cannot list."""
        if not self.side.store.supports_listing:
            for chunk in product(*map(range, self.counts)):
                yield chunk, self.key(chunk)
            return
        for key in self.side.store.list_prefix(self.prefix):
            found = self.chunk_of(key)
            if found is not None and self.holds(found):
                yield found, key

    def holds(self, chunk: Coordinates) -> bool:
        """Whether a stored object has elements of the array."""
        return all(number < count for number, count in zip(chunk, self.counts, strict=True))

    def others(self) -> Iterator[str]:
        """Keys that would be taken for chunks, wherever they come from."""
        if self.side.store.supports_listing:
            keys = list(self.side.store.list_prefix(self.prefix))
            yield from (key for key in keys if self.chunk_of(key) is not None)


def moves(old: ChunkKeys, new: ChunkKeys) -> Iterator[tuple[str, str]]:
    """Pairs of the key that a stored object has and the key that it gets."""
    if old.verbatim:
        documents = set(old.side.format_.documents(old.prefix.rstrip("/")))
        for key in old.side.store.list_prefix(old.prefix):
            if key not in documents:
                yield key, new.prefix + key[len(old.prefix) :]
        return
    for chunk, key in old.stored():
        yield key, new.key(chunk)


def stay(old: ChunkKeys, new: ChunkKeys) -> bool:
    """Whether every stored object has the same key on both sides."""
    return (
        bool(old.side.store == new.side.store)
        and old.prefix == new.prefix
        and same_keys(old.encoding, new.encoding, len(old.counts))
    )


def may_collide(source: Side, dest: Side, step: Step) -> bool:
    """Whether the new key of one chunk may be the old key of another, in one store."""
    assert step.source_metadata is not None
    assert step.metadata is not None
    old = ChunkKeys.of(source, step.path, step.source_metadata)  # type: ignore[arg-type]  # arrays
    new = ChunkKeys.of(dest, step.path, step.metadata)  # type: ignore[arg-type]  # are copied
    corners = {(0,) * len(new.counts), tuple(max(0, count - 1) for count in new.counts)}
    keys = [new.key(corner) for corner in corners]
    return any(key.startswith(old.prefix) and old.chunk_of(key) is not None for key in keys)
