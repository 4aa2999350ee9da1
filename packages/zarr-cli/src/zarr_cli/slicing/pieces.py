"""A selection cut into pieces that follow each other in C order, none too large."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_cli.slicing.selection import Part, as_index, lengths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from zarr_core import Array

BUDGET = 1 << 25
"""Bytes of elements that are read at once."""


def read_pieces(
    array: Array, parts: Sequence[Part], budget: int = BUDGET
) -> Iterator[np.ndarray[Any, Any]]:
    """Read a selection piece by piece; one after the other they are the whole in C order.

    Parameters
    ----------
    array : Array
        The array.
    parts : sequence of int or range
        What to read of each dimension.
    budget : int
        Bytes of elements to read at once.
    """
    import numpy as np  # noqa: PLC0415 - lazy: selections are parsed without

    for piece in pieces(parts, array.chunks, array.dtype.itemsize, budget):
        yield np.asarray(array[as_index(piece)])


def pieces(
    parts: Sequence[Part], chunks: Sequence[Any], itemsize: int, budget: int = BUDGET
) -> Iterator[tuple[Part, ...]]:
    """Cut a selection, at the edges of chunks where that is possible.

    Parameters
    ----------
    parts : sequence of int or range
        What is wanted of each dimension.
    chunks : sequence of int or tuple of int
        The length of the chunks along each dimension, or all lengths where they differ.
    itemsize : int
        Bytes of an element.
    budget : int
        Bytes of a piece.

    Yields
    ------
    tuple of int or range
        With the same dimensions; the ranges are parts of those that were given.
    """
    parts = tuple(parts)
    if 0 in lengths(parts):
        return
    for axis, part in enumerate(parts):
        if isinstance(part, int) or len(part) == 1:
            continue
        row = itemsize * prod(lengths(parts[axis + 1 :]))
        before, after = parts[:axis], parts[axis + 1 :]
        if row > budget and max(lengths(after), default=1) > 1:
            for number in range(len(part)):
                one = (*before, part[number : number + 1], *after)
                yield from pieces(one, chunks, itemsize, budget)
        else:
            for some in _cut(part, chunks[axis], max(1, budget // max(1, row))):
                yield (*before, some, *after)
        return
    yield parts


def _cut(part: range, chunks: Any, most: int) -> Iterator[range]:
    """Parts of a range with so many indices at most, ending where chunks end if they can."""
    start = 0
    edges = [] if isinstance(chunks, int) else [*accumulate(chunks, initial=0)]
    while start < len(part):
        stop = min(start + most, len(part))
        if stop < len(part) and part.step > 0:
            index = part[stop]
            edge = index - index % chunks if not edges else edges[bisect_right(edges, index) - 1]
            aligned = -(-(edge - part.start) // part.step)
            stop = aligned if aligned > start else stop
        yield part[start:stop]
        start = stop
