"""Boxes of an array: all of them, or those that something stored reaches into."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.rechunking.cuts import Cuts

Box = tuple[slice, ...]
Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """A box whose elements are to be moved.

    Parameters
    ----------
    box : tuple of slice
        Where it lies; consists of whole stored objects of what is written.
    stored : tuple of tuple of int, optional
        Grid coordinates of the source's stored objects that reach into it; None where these
        are nearly all, or not known.
    """

    box: Box
    stored: tuple[Coordinates, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the box."""
        return tuple(part.stop - part.start for part in self.box)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.shape)


def box_at(cuts: Sequence[Cuts], numbers: Coordinates) -> Box:
    """A box by its numbers along each dimension."""
    return tuple(along[number] for along, number in zip(cuts, numbers, strict=True))


def every_task(cuts: Sequence[Cuts]) -> Iterator[Task]:
    """Every box, the last dimension changing fastest."""
    for numbers in product(*(range(along.count) for along in cuts)):
        yield Task(box_at(cuts, numbers))


def tasks_with(
    stored: Iterable[Coordinates], source: Sequence[Cuts], cuts: Sequence[Cuts]
) -> Iterator[Task]:
    """The boxes that some of the source's stored objects reach into, in the same order.

    Parameters
    ----------
    stored : iterable of tuple of int
        Grid coordinates of the stored objects.
    source : sequence of Cuts
        The source's grid.
    cuts : sequence of Cuts
        The boxes.
    """
    counts = [along.count for along in source]
    # A number each, as there may be millions.
    found: dict[Coordinates, array[int]] = {}
    for chunk in stored:
        number = 0
        for at, count in zip(chunk, counts, strict=True):
            number = number * count + at
        for numbers in product(*reached(cuts, box_at(source, chunk))):
            found.setdefault(numbers, array("Q")).append(number)
    for numbers in sorted(found):
        box, inside = box_at(cuts, numbers), found.pop(numbers)
        most = prod(map(len, reached(source, box)))
        # A few that are missing are asked for sooner than the others one by one.
        if len(inside) >= most - most // 8:
            yield Task(box)
        else:
            yield Task(box, tuple(_coordinates(number, counts) for number in sorted(inside)))


def _coordinates(number: int, counts: Sequence[int]) -> Coordinates:
    at = []
    for count in reversed(counts):
        number, rest = divmod(number, count)
        at.append(rest)
    return tuple(reversed(at))


def reached(cuts: Sequence[Cuts], box: Box) -> list[range]:
    """Numbers of the parts that a box reaches into, along each dimension."""
    return [along.reached(part) for along, part in zip(cuts, box, strict=True)]


def common(one: Box, other: Box) -> Box:
    """The elements of two boxes that overlap."""
    return tuple(
        slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(one, other, strict=True)
    )


def within(inner: Box, outer: Box) -> Box:
    """A box as a part of the elements of one around it."""
    return tuple(
        slice(a.start - b.start, a.stop - b.start) for a, b in zip(inner, outer, strict=True)
    )
