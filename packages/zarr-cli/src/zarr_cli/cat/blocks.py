"""Division of a selection into blocks of limited size in C order."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_cli.cat.selection import Part, as_index, lengths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from zarr_core import Array

BUDGET = 1 << 25
"""The default size of a block in bytes."""


def read_blocks(
    array: Array, parts: Sequence[Part], budget: int = BUDGET
) -> Iterator[np.ndarray[Any, Any]]:
    """Read a selection block by block, in C order."""
    import numpy as np

    for block in blocks(parts, array.chunks, array.dtype.itemsize, budget):
        yield np.asarray(array[as_index(block)])


def blocks(
    parts: Sequence[Part], chunks: Sequence[Any], itemsize: int, budget: int = BUDGET
) -> Iterator[tuple[Part, ...]]:
    """Divide a selection into blocks, at chunk boundaries if possible."""
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
                yield from blocks(one, chunks, itemsize, budget)
        else:
            for some in _split(part, chunks[axis], max(1, budget // max(1, row))):
                yield (*before, some, *after)
        return
    yield parts


def _split(part: range, chunks: Any, most: int) -> Iterator[range]:
    """Yield parts of a range with at most ``most`` indices, ending at chunks if possible."""
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
