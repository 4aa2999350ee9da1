"""Which chunks of an array are stored, what they take."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from zarr_core.threads import in_flight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.engine.chunks import Chunks
    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.store import Store


def stored_chunks(chunks: Chunks) -> Iterator[tuple[tuple[int, ...], str]]:
    """Grid coordinates and keys of the chunks that are stored, by listing them.

    Keys that are no chunk's, or of a chunk outside the array, are left out.
    """
    number_of = _numbering(chunks)
    for key in chunks.store.list_prefix(chunks.prefix):
        chunk = number_of(key)
        if chunk is not None:
            yield chunk, key


def stored_sizes(chunks: Chunks) -> Iterator[tuple[tuple[int, ...], int]]:
    """Grid coordinates and stored bytes of the chunks that are stored, by listing them."""
    number_of = _numbering(chunks)
    for key, size in chunks.store.list_sizes(chunks.prefix):
        chunk = number_of(key)
        if chunk is not None:
            yield chunk, size


def _numbering(chunks: Chunks) -> Callable[[str], tuple[int, ...] | None]:
    """What gives the grid coordinates for a key; None for one that is no chunk's."""
    skip = len(chunks.prefix)
    counts = [axis.count for axis in chunks.axes]
    decode = chunks.binding.key_encoding.decode

    def number_of(key: str) -> tuple[int, ...] | None:
        chunk = decode(key[skip:], len(counts))
        if chunk is None or any(it >= count for it, count in zip(chunk, counts, strict=True)):
            return None
        return chunk

    return number_of


def extent(chunks: Chunks, chunk: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the part of a chunk that lies inside the array."""
    return tuple(
        min(axis.length(number), axis.size - axis.start(number))
        for axis, number in zip(chunks.axes, chunk, strict=True)
    )


def sizes_along(axis: ChunkAxis) -> tuple[int, ...]:
    """Lengths of all chunks along a dimension, as far as they lie inside the array."""
    sizes: list[int] = []
    for length, count in axis.runs():
        sizes += [length] * count
    if sizes:
        sizes[-1] = axis.size - axis.start(axis.count - 1)
    return tuple(sizes)


def chunks_in(chunks: Chunks, chunk: tuple[int, ...], inner: tuple[int, ...] | None) -> int:
    """Count the inner chunks of a shard that hold elements of the array; 1 without shards."""
    if inner is None:
        return 1
    shape = extent(chunks, chunk)
    return prod(-(-length // part) for length, part in zip(shape, inner, strict=True))


def nbytes_of(store: Store, keys: Iterable[str]) -> int:
    """Bytes that the values of some keys take; a key that vanished counts nothing."""
    return sum(size or 0 for _, size in in_flight(keys, store.getsize, store.requests))
