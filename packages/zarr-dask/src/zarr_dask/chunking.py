"""Blocks of Dask arrays made of whole stored objects."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Lengths = tuple[int, ...]
"""Lengths of all parts along one dimension."""


def edges_of(lengths: Lengths, start: int = 0) -> list[int]:
    """Where parts begin and end, the first at ``start``."""
    return list(accumulate(lengths, initial=start))


def lengths_of(edges: Sequence[int]) -> Lengths:
    """Lengths of the parts between edges."""
    return tuple(after - before for before, after in pairwise(edges))


def gather(stored: Sequence[Lengths], elements: int) -> tuple[Lengths, ...]:
    """Put stored objects together to blocks.

    Parameters
    ----------
    stored : sequence of tuple of int
        Lengths of the stored objects along each dimension.
    elements : int
        How many elements a block may have, if a stored object has no more.

    Returns
    -------
    tuple of tuple of int
        Lengths of the blocks.

    Notes
    -----
    A block is doubled along the dimension in which most are left.

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
    """Neighbours put together, as long as they are no longer than allowed."""
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
        Where the first begins, in elements of the stored array.
    stored : tuple of int
        Lengths of the stored objects.

    Returns
    -------
    tuple of int
        Lengths of new blocks, over the same elements; no two of them are in one stored
        object.

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
    if one and whole and start % whole == 0:  # then the new ones can have one length, too
        length = max(1, (2 * one + whole) // (2 * whole)) * whole
        return lengths_of([*range(start, start + size, length), start + size])
    edges = edges_of(blocks, start)
    first, last = edges[0], edges[-1]
    places = [edge for edge in edges_of(stored) if first < edge < last]
    chosen = {first, last}
    for edge in edges[1:-1]:
        if places:
            at = bisect_left(places, edge)
            near = places[max(0, at - 1) : at + 1]
            chosen.add(min(near, key=lambda place: (abs(place - edge), -place)))
    return lengths_of(sorted(chosen)) or blocks


def regular(lengths: Lengths) -> int | None:
    """The one length that parts have, but for a shorter last; None if there is no such."""
    if not lengths:
        return None
    first, *_ = lengths
    same = all(length == first for length in lengths[:-1]) and lengths[-1] <= first
    return first if same else None
