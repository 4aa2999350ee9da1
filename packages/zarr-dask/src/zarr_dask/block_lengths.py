"""Lengths of Dask blocks that consist of whole stored objects."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Lengths = tuple[int, ...]
"""The lengths of blocks or stored objects along one dimension."""


def edges_of(lengths: Lengths, start: int = 0) -> list[int]:
    """Return the edges of consecutive lengths, beginning at ``start``."""
    return list(accumulate(lengths, initial=start))


def lengths_of(edges: Sequence[int]) -> Lengths:
    """Return the lengths between consecutive edges."""
    return tuple(after - before for before, after in pairwise(edges))


def gather(stored: Sequence[Lengths], elements: int) -> tuple[Lengths, ...]:
    """Combine stored objects into blocks.

    Parameters
    ----------
    stored : sequence of tuple of int
        Lengths of the stored objects along each dimension.
    elements : int
        The maximum number of elements per block, unless a stored object has more.

    Returns
    -------
    tuple of tuple of int
        Lengths of the blocks.

    Notes
    -----
    Blocks are doubled along the dimension with the most remaining blocks.

    Examples
    --------
    >>> gather([(10, 10, 10, 5), (4,) * 8], 320)
    ((20, 15), (16, 16))
    """
    sizes = [sum(lengths) for lengths in stored]
    block = [max(lengths, default=1) for lengths in stored]
    while True:
        left = [-(-size // max(1, length)) for size, length in zip(sizes, block, strict=True)]
        for dimension in sorted(range(len(block)), key=lambda d: -left[d]):
            if left[dimension] > 1 and 2 * prod(block) <= elements:
                block[dimension] *= 2
                break
        else:
            return tuple(map(join, stored, block))


def join(lengths: Lengths, most: int) -> Lengths:
    """Combine adjacent lengths up to a maximum length."""
    joined: list[int] = []
    for length in lengths:
        if joined and joined[-1] + length <= most:
            joined[-1] += length
        else:
            joined.append(length)
    return tuple(joined)


def snap(blocks: Lengths, start: int, stored: Lengths) -> Lengths:
    """Move the edges of blocks to the nearest edges of stored objects.

    Parameters
    ----------
    blocks : tuple of int
        Lengths of the blocks.
    start : int
        The start of the first block in the stored array.
    stored : tuple of int
        Lengths of the stored objects.

    Returns
    -------
    tuple of int
        Lengths of new blocks over the same elements; no two share a stored object.

    Examples
    --------
    >>> snap((3, 3, 3, 3), 0, (4, 4, 4))
    (4, 4, 4)
    >>> snap((5, 5, 2), 2, (4, 4, 4, 4))
    (6, 4, 2)
    >>> snap((6, 6, 6), 0, (4, 4, 4, 4, 2))
    (8, 8, 2)
    """
    size, one, whole = sum(blocks), regular(blocks), regular(stored)
    if one and whole and start % whole == 0:  # the new blocks can have one length too
        length = max(1, (2 * one + whole) // (2 * whole)) * whole
        return lengths_of([*range(start, start + size, length), start + size])
    edges = edges_of(blocks, start)
    first, last = edges[0], edges[-1]
    candidates = [edge for edge in edges_of(stored) if first < edge < last]
    chosen = {first, last}
    for edge in edges[1:-1]:
        if candidates:
            at = bisect_left(candidates, edge)
            near = candidates[max(0, at - 1) : at + 1]
            chosen.add(min(near, key=lambda other: (abs(other - edge), -other)))
    return lengths_of(sorted(chosen)) or blocks


def regular(lengths: Lengths) -> int | None:
    """Return the common length, ignoring a shorter last one; None if lengths differ."""
    if not lengths:
        return None
    first, *_ = lengths
    same = all(length == first for length in lengths[:-1]) and lengths[-1] <= first
    return first if same else None
