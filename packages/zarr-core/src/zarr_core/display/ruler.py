"""One dimension of a drawing: where the edges of chunks lie, in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.interfaces.chunk_grid import ChunkAxis

CLOSEST = 3.5
"""Pixels between two lines; those that are closer are left out."""

_MOST_RUNS = 100_000  # of lengths that are looked at


@dataclass(frozen=True, slots=True)
class Ruler:
    """A dimension, drawn to scale.

    Parameters
    ----------
    name : str
        Name of the dimension; empty if it has none.
    size : int
        Its length in elements.
    pixels : float
        Its length in the drawing.
    chunk, shard : float
        Where the first chunk ends, where the first shard does; 0 without.
    chunks, shards : tuple of float
        Edges between chunks, edges between shards.
    count : int
        How many chunks there are.
    is_thinned : bool
        Whether edges were left out.
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
        """Name and length."""
        name = self.name if len(self.name) <= 16 else f"{self.name[:15]}…"
        return f"{name} {self.size:,}".strip()


def ruler(name: str, axis: ChunkAxis, inner: int | None, pixels: float) -> Ruler:
    """Measure a dimension.

    Parameters
    ----------
    name : str
        Of the dimension.
    axis : ChunkAxis
        What is stored along it.
    inner : int or None
        Length of the inner chunks if these are shards.
    pixels : float
        Length of the drawing.
    """
    size = axis.size
    if not size:
        return Ruler(name, 0, pixels, 0, 0, (), (), 0, False)
    scale = pixels / size
    first = min(axis.length(0), size) * scale
    outer, thinned = edges(axis.runs(), size, pixels)
    if inner is None:
        return Ruler(name, size, pixels, first, 0, outer, (), axis.count, thinned)
    count = -(-size // inner)
    within, inner_thinned = edges([(inner, count)], size, pixels)
    chunk, is_thinned = min(inner, size) * scale, thinned or inner_thinned
    return Ruler(name, size, pixels, chunk, first, within, outer, count, is_thinned)


def edges(
    runs: Iterable[tuple[int, int]], size: int, pixels: float
) -> tuple[tuple[float, ...], bool]:
    """Where one chunk ends and the next begins, as far as these lines can be told apart.

    Parameters
    ----------
    runs : iterable of (int, int)
        Lengths in elements, each with how many chunks in a row have it.
    size : int
        Length of the dimension in elements.
    pixels : float
        Its length in pixels.

    Returns
    -------
    tuple of float
        Pixels from the start.
    bool
        Whether some were left out.
    """
    found: list[float] = []
    scale, start, last, thinned = pixels / size, 0, 0.0, False
    for length, count in islice(runs, _MOST_RUNS):
        within = min(count, -(-(size - start) // length) - 1) if length else 0
        if within > 0:
            apart = length * scale
            first = max(1, ceil((last + CLOSEST - start * scale) / apart))
            numbers = range(first, within + 1, max(1, ceil(CLOSEST / apart)))
            found += [(start + number * length) * scale for number in numbers]
            last = found[-1] if numbers else last
            thinned = thinned or len(numbers) < within
        start += length * count
        if start >= size:
            break
    return tuple(found), thinned
