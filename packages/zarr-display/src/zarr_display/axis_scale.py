"""One dimension of a drawing: the positions of chunk edges in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import ChunkAxis

CLOSEST = 3.5
"""The minimum distance of two lines in pixels; closer lines are omitted."""

_MOST_RUNS = 100_000  # maximum number of runs of lengths to inspect


@dataclass(frozen=True, slots=True)
class AxisScale:
    """A dimension in the scale of a drawing.

    ``size`` is in elements, other lengths and positions are in pixels.  ``chunk`` and ``shard``
    are the ends of the first chunk and shard, 0 if there is none; ``chunks`` and ``shards`` the
    edges between them.  ``is_thinned`` tells whether edges were omitted.
    """

    name: str
    size: int
    pixels: float
    chunk: float
    shard: float
    chunks: tuple[float, ...]
    shards: tuple[float, ...]
    count: int
    is_thinned: bool

    @property
    def label(self) -> str:
        """The name and the length."""
        name = self.name if len(self.name) <= 16 else f"{self.name[:15]}…"
        return f"{name} {self.size:,}".strip()


def axis_scale(name: str, axis: ChunkAxis, inner: int | None, pixels: float) -> AxisScale:
    """Return the scale of a dimension; ``inner`` is the length of inner chunks with sharding."""
    size = axis.size
    if not size:
        return AxisScale(name, 0, pixels, 0, 0, (), (), 0, False)
    scale = pixels / size
    first = min(axis.length(0), size) * scale
    outer, thinned = edges(axis.runs(), size, pixels)
    if inner is None:
        return AxisScale(name, size, pixels, first, 0, outer, (), axis.count, thinned)
    count = -(-size // inner)
    within, inner_thinned = edges([(inner, count)], size, pixels)
    chunk, is_thinned = min(inner, size) * scale, thinned or inner_thinned
    return AxisScale(name, size, pixels, chunk, first, within, outer, count, is_thinned)


def edges(
    runs: Iterable[tuple[int, int]], size: int, pixels: float
) -> tuple[tuple[float, ...], bool]:
    """Return the edges between chunks in pixels, and whether edges were omitted as too close.

    ``runs`` are chunk lengths in elements, each with the number of consecutive chunks; ``size`` is
    the length of the dimension in elements.
    """
    positions: list[float] = []
    scale, start, last, thinned = pixels / size, 0, 0.0, False
    for length, count in islice(runs, _MOST_RUNS):
        within = min(count, -(-(size - start) // length) - 1) if length else 0
        if within > 0:
            apart = length * scale
            first = max(1, ceil((last + CLOSEST - start * scale) / apart))
            numbers = range(first, within + 1, max(1, ceil(CLOSEST / apart)))
            positions += [(start + number * length) * scale for number in numbers]
            last = positions[-1] if numbers else last
            thinned = thinned or len(numbers) < within
        start += length * count
        if start >= size:
            break
    return tuple(positions), thinned
