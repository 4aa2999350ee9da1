"""Edges of chunks along a dimension, and regions of an array."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class ChunkEdges:
    """Edges of consecutive parts along a dimension.

    Parameters
    ----------
    size : int
        Length of the dimension, in elements.
    length : int
        Length of every part except the last; of the longest if lengths differ.
    starts : tuple of int or None
        First element of each part if lengths differ.

    Examples
    --------
    >>> cuts = ChunkEdges(10, 4)
    >>> list(cuts)
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    >>> cuts.joined(9).count, list(cuts.reached(slice(3, 8)))
    (2, [0, 1])
    """

    size: int
    length: int
    starts: tuple[int, ...] | None = None

    @classmethod
    def at_edges(cls, size: int, lengths: int | tuple[int, ...]) -> ChunkEdges:
        """Return the edges of chunks or shards, of one length or of those in ``Array.chunks``."""
        if isinstance(lengths, int):
            return cls(size, max(1, min(lengths, size)))
        starts = tuple(accumulate(lengths[:-1], initial=0)) if size else ()
        return cls(size, max(lengths, default=1) or 1, starts)

    @property
    def count(self) -> int:
        """Number of parts."""
        return -(-self.size // self.length) if self.starts is None else len(self.starts)

    def part_of(self, element: int) -> int:
        """Return the number of the part that contains an element."""
        if self.starts is None:
            return element // self.length
        return bisect_right(self.starts, element) - 1

    def reached(self, elements: slice) -> range:
        """Return the numbers of the parts that overlap a nonempty slice."""
        return range(self.part_of(elements.start), self.part_of(elements.stop - 1) + 1)

    def __getitem__(self, number: int) -> slice:
        if self.starts is None:
            start = number * self.length
            return slice(start, min(self.size, start + self.length))
        last = number + 1 == len(self.starts)
        return slice(self.starts[number], self.size if last else self.starts[number + 1])

    def __iter__(self) -> Iterator[slice]:
        return map(self.__getitem__, range(self.count))

    def joined(self, most: int) -> ChunkEdges:
        """Return edges with neighbouring parts merged up to a maximum length."""
        if most >= self.size:
            return ChunkEdges(self.size, max(1, self.size))
        if self.starts is None:
            return ChunkEdges(self.size, max(1, most // self.length) * self.length)
        starts: list[int] = []
        longest = 1
        for part in self:
            if not starts or part.stop - starts[-1] > most:
                starts.append(part.start)
            longest = max(longest, part.stop - starts[-1])
        return ChunkEdges(self.size, longest, tuple(starts))


Box = tuple[slice, ...]
Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A region whose elements are copied."""

    box: Box  # whole chunks or shards of the destination
    stored: tuple[Coordinates, ...] | None = None
    """Coordinates of the stored source chunks that overlap it; None if unknown, or if nearly all are
    stored."""

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
    # The coordinates one after the other, since there may be millions of chunks.
    regions: dict[Coordinates, array[int]] = {}
    for chunk in stored:
        for numbers in product(*reached(cuts, box_at(source, chunk))):
            regions.setdefault(numbers, array("Q")).extend(chunk)
    for numbers in sorted(regions):
        box, inside = box_at(cuts, numbers), regions.pop(numbers)
        most = prod(map(len, reached(source, box)))
        # If nearly all are stored, reading all is faster.
        if len(inside) >= (most - most // 8) * len(source):
            yield Region(box)
        else:
            coordinates = zip(*[iter(inside)] * len(source), strict=True)
            yield Region(box, tuple(sorted(coordinates)))


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
