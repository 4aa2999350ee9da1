"""Lengths of Dask blocks that consist of whole stored objects."""

from __future__ import annotations

from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING

from zarr_transfer import ChunkEdges, Chunking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core import Array

Lengths = tuple[int, ...]
"""The lengths of blocks along one dimension."""

MAX_BLOCKS = 10**7
"""The maximum number of blocks along all dimensions, whose lengths Dask keeps in tuples."""


def stored_edges(array: Array) -> tuple[ChunkEdges, ...]:
    """Return the edges of the stored objects: shards, or chunks without sharding."""
    return Chunking.of(array).stored


def block_lengths(edges: Sequence[ChunkEdges], array: Array) -> tuple[Lengths, ...]:
    """Return the lengths of blocks as Dask requires them.

    Raises ValueError if there are more than :data:`MAX_BLOCKS` along the dimensions.
    """
    counts = [along.count for along in edges]
    if sum(counts) > MAX_BLOCKS:
        raise ValueError(
            f"{array!r} would have {prod(counts):,} blocks, {' x '.join(map('{:,}'.format, counts))}; "
            f"Dask keeps the length of each along a dimension, and at most {MAX_BLOCKS:,} are "
            "supported: pass chunks= with larger blocks"
        )
    return tuple(map(part_lengths, edges))


def part_lengths(edges: ChunkEdges) -> Lengths:
    """Return the length of each part; ``(0,)`` without parts, as in Dask."""
    if edges.starts is not None:
        return lengths_of([*edges.starts, edges.size]) or (0,)
    whole, rest = divmod(edges.size, edges.length)
    return (edges.length,) * whole + ((rest,) if rest or not whole else ())


def is_edge(edges: ChunkEdges, at: int) -> bool:
    """Whether a part starts or ends at an element."""
    return at in (0, edges.size) or edges[edges.part_of(at)].start == at


def edges_of(lengths: Lengths, start: int = 0) -> list[int]:
    """Return the edges of consecutive lengths, beginning at ``start``."""
    return list(accumulate(lengths, initial=start))


def lengths_of(edges: Sequence[int]) -> Lengths:
    """Return the lengths between consecutive edges."""
    return tuple(after - before for before, after in pairwise(edges))


def gather(stored: Sequence[ChunkEdges], elements: int) -> tuple[ChunkEdges, ...]:
    """Combine stored objects into blocks.

    A block has at most ``elements`` elements, unless a stored object has more.  Blocks are
    doubled along the dimension with the most remaining blocks.

    Examples
    --------
    >>> edges = gather([ChunkEdges(35, 10), ChunkEdges(32, 4)], 320)
    >>> [part_lengths(along) for along in edges]
    [(20, 15), (16, 16)]
    """
    sizes = [along.size for along in stored]
    block = [along.length for along in stored]
    while True:
        left = [-(-size // length) for size, length in zip(sizes, block, strict=True)]
        for dimension in sorted(range(len(block)), key=lambda d: -left[d]):
            if left[dimension] > 1 and 2 * prod(block) <= elements:
                block[dimension] *= 2
                break
        else:
            return tuple(along.joined(most) for along, most in zip(stored, block, strict=True))


def snap(blocks: Lengths, start: int, stored: ChunkEdges) -> Lengths:
    """Move the edges of blocks to the nearest edges of stored objects.

    The first block begins at ``start`` in the stored array.  The new blocks have the same
    elements, and no two share a stored object.

    Examples
    --------
    >>> snap((3, 3, 3, 3), 0, ChunkEdges(12, 4))
    (4, 4, 4)
    >>> snap((5, 5, 2), 2, ChunkEdges(16, 4))
    (6, 4, 2)
    >>> snap((6, 6, 6), 0, ChunkEdges(18, 4))
    (8, 8, 2)
    """
    size, one, whole = sum(blocks), regular(blocks), regular_edges(stored)
    if one and whole and start % whole == 0:  # the new blocks can have one length too
        length = max(1, (2 * one + whole) // (2 * whole)) * whole
        return lengths_of([*range(start, start + size, length), start + size])
    edges = edges_of(blocks, start)
    first, last = edges[0], edges[-1]
    chosen = {first, last}
    for edge in edges[1:-1]:
        part = stored[stored.part_of(edge)]
        near = [other for other in (part.start, part.stop) if first < other < last]
        if near:
            chosen.add(min(near, key=lambda other: (abs(other - edge), -other)))
    return lengths_of(sorted(chosen)) or blocks


def regular_edges(edges: ChunkEdges) -> int | None:
    """Return the common length of parts, like :func:`regular`."""
    return edges.length if edges.starts is None else regular(part_lengths(edges))


def regular(lengths: Lengths) -> int | None:
    """Return the common length, ignoring a shorter last one; None if lengths differ."""
    if not lengths:
        return None
    first, *_ = lengths
    same = all(length == first for length in lengths[:-1]) and lengths[-1] <= first
    return first if same else None
