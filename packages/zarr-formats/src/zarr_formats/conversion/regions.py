"""In which boxes an array is read to be written in other chunks.

A box consists of whole stored objects of the target, which are written once each.  It is
made to contain whole chunks of the source as far as memory allows, as a chunk is decoded
again for every box that it reaches into.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import product
from math import lcm, log, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import ChunkAxis

Box = tuple[slice, ...]


@dataclass(frozen=True, slots=True)
class Intervals:
    """One dimension cut at edges of the target's stored objects.

    Parameters
    ----------
    size : int
        Length of the dimension, in elements.
    length : int
        Length of every interval but the last, where that is uniform.
    starts : tuple of int or None
        First element of each interval, where it is not.
    """

    size: int
    length: int
    starts: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """Number of intervals."""
        return -(-self.size // self.length) if self.starts is None else len(self.starts)

    def of(self, element: int) -> int:
        """The interval that an element lies in."""
        if self.starts is None:
            return element // self.length
        return bisect_right(self.starts, element) - 1

    def __getitem__(self, number: int) -> slice:
        if self.starts is None:
            start = number * self.length
            return slice(start, min(self.size, start + self.length))
        start = self.starts[number]
        last = number + 1 == len(self.starts)
        return slice(start, self.size if last else self.starts[number + 1])


def all_boxes(intervals: Sequence[Intervals]) -> Iterator[Box]:
    """Every box, the last dimension changing fastest."""
    for numbers in product(*(range(axis.count) for axis in intervals)):
        yield tuple(axis[number] for axis, number in zip(intervals, numbers, strict=True))


def boxes_of(
    chunks: Iterator[tuple[int, ...]], axes: Sequence[ChunkAxis], intervals: Sequence[Intervals]
) -> list[Box]:
    """The boxes into which some of the source's stored objects reach.

    Parameters
    ----------
    chunks : iterator of tuple of int
        Grid coordinates of the stored objects.
    axes : sequence of ChunkAxis
        The source's grid.
    intervals : sequence of Intervals
        The boxes.
    """
    found: set[tuple[int, ...]] = set()
    for chunk in chunks:
        touched = []
        for axis, number, cut in zip(axes, chunk, intervals, strict=True):
            start = axis.start(number)
            last = min(axis.size, start + axis.length(number)) - 1
            touched.append(range(cut.of(start), cut.of(last) + 1))
        found.update(product(*touched))
    return [
        tuple(axis[number] for axis, number in zip(intervals, numbers, strict=True))
        for numbers in sorted(found)
    ]


def cut(target: Sequence[ChunkAxis], source: Sequence[int], budget: int) -> tuple[Intervals, ...]:
    """Choose the boxes.

    Parameters
    ----------
    target : sequence of ChunkAxis
        Stored objects of the target, along each dimension.
    source : sequence of int
        Shape of a chunk that is decoded at once.
    budget : int
        Elements that a box may have, if a stored object of the target has no more.

    Returns
    -------
    tuple of Intervals

    Notes
    -----
    Starts with one stored object and lets one dimension grow after the other, as long as
    that spares decoding: where it spares most for the memory that it takes.  What is left
    of the memory is used up in halves, so that threads have work.
    """
    lengths = [_longest(axis) for axis in target]
    grown = list(lengths)
    while True:
        steps = [
            (_gain(axis.size, grown[d], more, source[d], grown, budget), d, more)
            for d, axis in enumerate(target)
            for more in _larger(axis.size, lengths[d], grown[d], source[d])
        ]
        gain, dimension, more = max(steps, default=(0.0, 0, 0))
        if gain <= 0:
            break
        grown[dimension] = more
    for dimension in reversed(range(len(grown))):
        size = target[dimension].size
        while grown[dimension] < size and 2 * prod(grown) <= budget // 2:
            grown[dimension] *= 2
    return tuple(_intervals(axis, length) for axis, length in zip(target, grown, strict=True))


def decodings(size: int, length: int, chunk: int) -> int:
    """How often chunks along a dimension are decoded, if it is read in intervals.

    Parameters
    ----------
    size : int
        Length of the dimension.
    length : int
        Length of an interval.
    chunk : int
        Length of a chunk.
    """
    # A chunk is decoded once, and once more for every edge of an interval within it.
    return -(-size // length) + -(-size // chunk) - -(-size // lcm(length, chunk))


def _larger(size: int, unit: int, length: int, chunk: int) -> Iterator[int]:
    """Lengths to which an interval may grow: whole stored objects."""
    if length >= size:
        return
    yield 2 * length
    whole = lcm(unit, chunk)
    if whole > length:
        yield whole
    yield -(-size // unit) * unit


def _gain(
    size: int, length: int, more: int, chunk: int, grown: Sequence[int], budget: int
) -> float:
    """What growing spares, for the memory that it takes; none if there is not so much."""
    if prod(grown) // length * more > budget:
        return 0.0
    before, after = (decodings(size, some, chunk) for some in (length, more))
    return log(before / after) / log(more / length)


def _longest(axis: ChunkAxis) -> int:
    """The length of a stored object; the longest where they differ."""
    if axis.uniform is not None:
        return min(axis.uniform, max(1, axis.size))
    return max((axis.length(number) for number in range(axis.count)), default=1)


def _intervals(axis: ChunkAxis, length: int) -> Intervals:
    """Whole stored objects together, as long as they are no longer than asked for."""
    if axis.uniform is not None:
        return Intervals(axis.size, length)
    starts: list[int] = []
    for number in range(axis.count):
        start = axis.start(number)
        if not starts or start + axis.length(number) - starts[-1] > length:
            starts.append(start)
    return Intervals(axis.size, length, tuple(starts))
