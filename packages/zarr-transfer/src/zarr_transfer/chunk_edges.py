"""Edges of chunks or regions along a dimension."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        """Return the edges of chunks or shards.

        Parameters
        ----------
        size : int
            Length of the dimension.
        lengths : int or tuple of int
            One length, or the length of each, as in ``Array.chunks``.
        """
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
