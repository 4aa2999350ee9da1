"""Regions of an array: all, or those that overlap stored chunks."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_transfer.chunk_edges import ChunkEdges

Box = tuple[slice, ...]
Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A region whose elements are copied.

    Parameters
    ----------
    box : tuple of slice
        Its slices; whole chunks or shards of the destination.
    stored : tuple of tuple of int, optional
        Coordinates of the stored source chunks that overlap it; None if unknown, or if nearly all
        are stored.
    """

    box: Box
    stored: tuple[Coordinates, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the region."""
        return tuple(part.stop - part.start for part in self.box)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


def box_at(cuts: Sequence[ChunkEdges], numbers: Coordinates) -> Box:
    """Return the region with a number along each dimension."""
    return tuple(along[number] for along, number in zip(cuts, numbers, strict=True))


def every_region(cuts: Sequence[ChunkEdges]) -> Iterator[Region]:
    """Iterate over all regions; the last dimension varies fastest."""
    for numbers in product(*(range(along.count) for along in cuts)):
        yield Region(box_at(cuts, numbers))


def regions_with(
    stored: Iterable[Coordinates], source: Sequence[ChunkEdges], cuts: Sequence[ChunkEdges]
) -> Iterator[Region]:
    """Iterate over the regions that overlap stored source chunks; the last dimension is fastest."""
    counts = [along.count for along in source]
    # One number each, since there may be millions.
    regions: dict[Coordinates, array[int]] = {}
    for chunk in stored:
        number = 0
        for at, count in zip(chunk, counts, strict=True):
            number = number * count + at
        for numbers in product(*reached(cuts, box_at(source, chunk))):
            regions.setdefault(numbers, array("Q")).append(number)
    for numbers in sorted(regions):
        box, inside = box_at(cuts, numbers), regions.pop(numbers)
        most = prod(map(len, reached(source, box)))
        # If nearly all are stored, reading all is faster.
        if len(inside) >= most - most // 8:
            yield Region(box)
        else:
            yield Region(box, tuple(_coordinates(number, counts) for number in sorted(inside)))


def _coordinates(number: int, counts: Sequence[int]) -> Coordinates:
    at = []
    for count in reversed(counts):
        number, rest = divmod(number, count)
        at.append(rest)
    return tuple(reversed(at))


def reached(cuts: Sequence[ChunkEdges], box: Box) -> list[range]:
    """Return the numbers of the parts that a box overlaps along each dimension."""
    return [along.reached(part) for along, part in zip(cuts, box, strict=True)]


def common(one: Box, other: Box) -> Box:
    """Return the intersection of two boxes."""
    return tuple(
        slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(one, other, strict=True)
    )


def within(inner: Box, outer: Box) -> Box:
    """Return a box relative to one that contains it."""
    return tuple(
        slice(a.start - b.start, a.stop - b.start) for a, b in zip(inner, outer, strict=True)
    )
