"""The regions of the stored objects of an array: its chunks, or its shards."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array


def regions(array: Array) -> Callable[[tuple[int, ...]], tuple[range, ...]]:
    """Return a function from grid coordinates to the region of the chunk or shard.

    Boundaries are listed only if lengths differ, because the chunks of a regular grid may
    not fit into memory.
    """
    along = [
        length if isinstance(length, int) else [*accumulate(length, initial=0)]
        for length in array.shards or array.chunks
    ]

    def region(at: tuple[int, ...]) -> tuple[range, ...]:
        parts = []
        for number, length, size in zip(at, along, array.shape, strict=True):
            if isinstance(length, int):
                start, stop = number * length, (number + 1) * length
            else:
                start, stop = length[number], length[number + 1]
            parts.append(range(start, min(stop, size)))
        return tuple(parts)

    return region
