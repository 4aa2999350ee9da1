"""In which boxes an array is rechunked, in one stage or by way of an intermediate array.

A task reads a box and writes it, and a box consists of whole stored objects of what is
written, so that no two tasks meet.  In one stage, a chunk of the source is decoded once for
every box that it reaches into; from rows to columns, that is as often as memory holds
columns.  Then it is cheaper to write chunks of a shape in between, and to read those.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from math import ceil, lcm, prod
from typing import TYPE_CHECKING

from zarr_dask.alignment import stored_lengths
from zarr_dask.chunking import edges_of, item_size, join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core import Array

    from zarr_dask.chunking import Lengths

Box = tuple[slice, ...]
Coordinates = tuple[int, ...]

_SMALL = 1 << 24  # bytes of a box below which a task costs more than what it does
_BESIDES = 1 << 17  # bytes of what is no element
_FEW = 64  # tasks that give many workers something to do


@dataclass(frozen=True, slots=True)
class Side:
    """What is read, or what is written.

    Parameters
    ----------
    stored : tuple of tuple of int
        Lengths of the stored objects along each dimension.
    chunk : tuple of int
        Shape of what is decoded at once; the longest where lengths differ.
    item_size : int
        Bytes of an element.
    requests : int
        How many values one task has in flight.
    """

    stored: tuple[Lengths, ...]
    chunk: tuple[int, ...]
    item_size: int
    requests: int = 1

    @classmethod
    def of(cls, array: Array) -> Side:
        """That of an array."""
        longest = (max(n, default=1) if isinstance(n, tuple) else n for n in array.chunks)
        chunk = tuple(min(n, max(1, size)) for n, size in zip(longest, array.shape, strict=True))
        requests = array.store.requests or 1
        return cls(stored_lengths(array), chunk, item_size(array.dtype), requests)

    @property
    def longest(self) -> tuple[int, ...]:
        """Shape of the largest stored object."""
        return tuple(max(1, *lengths) for lengths in self.stored)


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass over an array.

    Parameters
    ----------
    cuts : tuple of tuple of int
        Lengths of the boxes along each dimension.
    stored : tuple of tuple of int
        Lengths of the stored objects that are written.
    memory : int
        Bytes that a task takes at most.
    decodings : float
        How often a chunk is decoded, in the middle.
    """

    cuts: tuple[Lengths, ...]
    stored: tuple[Lengths, ...]
    memory: int
    decodings: float

    @property
    def tasks(self) -> int:
        """How many boxes there are."""
        return prod(map(len, self.cuts))

    def boxes(self) -> Iterator[tuple[Box, list[range]]]:
        """Every box, with the numbers of the stored objects in it along each dimension."""
        along = []
        for cuts, stored in zip(self.cuts, self.stored, strict=True):
            numbers = {edge: number for number, edge in enumerate(edges_of(stored))}
            edges = edges_of(cuts)
            along.append(
                [
                    (slice(start, stop), range(numbers[start], numbers[stop]))
                    for start, stop in pairwise(edges)
                ]
            )
        for parts in product(*along):
            yield tuple(part for part, _ in parts), [numbers for _, numbers in parts]


@dataclass(frozen=True, slots=True)
class Plan:
    """How an array is rechunked; ``print`` it to read it.

    Parameters
    ----------
    stages : tuple of Stage
        One, or two.
    between : tuple of int or None
        Shape of the chunks of the intermediate array, if there is one.
    """

    stages: tuple[Stage, ...]
    between: tuple[int, ...] | None = None

    def __str__(self) -> str:
        lines = [
            f"stage {number}: {stage.tasks} tasks of {stage.memory / 2**20:.1f} MiB at most, "
            f"each chunk decoded {stage.decodings:.3g} times"
            for number, stage in enumerate(self.stages, 1)
        ]
        if self.between is not None:
            lines.insert(1, f"  an intermediate array with chunks {self.between}")
        return "\n".join(lines)


def plan_stages(source: Side, dest: Side, max_memory: int) -> Plan:
    """Choose the boxes.

    Parameters
    ----------
    source, dest : Side
        From where, where to.
    max_memory : int
        Bytes that a task may take.

    Raises
    ------
    ValueError
        If a chunk of the source with a stored object of the destination takes more.

    Notes
    -----
    Two stages are chosen where they read and write less than one does.  What a task takes
    is the elements of its box, and the more of two: what reading one chunk takes (or as many
    as are in flight), as stored and decoded, or what writing one stored object takes.
    """
    sizes = tuple(map(sum, dest.stored))
    unit = dest.longest
    least = memory_of(unit, source, dest)
    if least > max_memory:
        raise ValueError(
            f"a task takes {least / 2**20:.1f} MiB at least, as stored objects are written whole, "
            f"and max_memory is {max_memory / 2**20:.1f} MiB: allow more, or choose smaller chunks "
            "or shards"
        )

    def fits(box: Sequence[int]) -> bool:
        return memory_of(box, source, dest) <= max_memory

    write = grown(unit, source.chunk, sizes, fits)
    direct = _stage(write, source, dest)
    two = _two_stages(source, dest, sizes, max_memory)
    # Writing costs about as much as reading.
    if two is not None and sum(stage.decodings for stage in two.stages) + 1 < direct.decodings:
        return two
    while direct.tasks > _FEW and prod(write) * source.item_size < _SMALL:
        more = grown(write, tuple(2 * n for n in write), sizes, fits)
        if more == write:
            break
        write = more
        direct = _stage(write, source, dest)
    return Plan((direct,))


def _two_stages(source: Side, dest: Side, sizes: tuple[int, ...], max_memory: int) -> Plan | None:
    """By way of chunks that both boxes, of what is read and of what is written, consist of."""
    # A quarter is left for reading these: there are the fewer the larger they are.
    most = max_memory * 3 // 4
    write = grown(
        dest.longest, source.chunk, sizes, lambda box: memory_of(box, source, dest) <= most
    )

    def middle(read: Sequence[int]) -> Side:
        between = tuple(map(min, read, write))
        stored = tuple(map(_regular, sizes, between))
        return Side(stored, between, source.item_size, dest.requests)

    def fits(read: Sequence[int]) -> bool:
        between = middle(read)
        return max(memory_of(read, source, between), memory_of(write, between, dest)) <= max_memory

    if not fits(source.chunk):
        return None
    read = grown(source.chunk, dest.longest, sizes, fits)
    between = middle(read)
    # Boxes of the first stage are whole chunks of the intermediate array.
    read = tuple(
        size if length >= size else length // chunk * chunk
        for length, chunk, size in zip(read, between.chunk, sizes, strict=True)
    )
    stages = (_stage(read, source, between), _stage(write, between, dest))
    return Plan(stages, between.chunk)


def memory_of(box: Sequence[int], source: Side, dest: Side) -> int:
    """Bytes that a task takes for a box."""
    chunks = prod(ceil(n / k) + 1 for n, k in zip(box, source.chunk, strict=True))
    reading = min(chunks, source.requests) * 2 * prod(source.chunk) * source.item_size
    several = prod(max(1, n // k) for n, k in zip(box, dest.longest, strict=True))
    writing = min(several, dest.requests) * 2 * prod(dest.longest) * dest.item_size
    return prod(box) * source.item_size + max(reading, writing) + _BESIDES


def grown(
    unit: Sequence[int],
    goal: Sequence[int],
    sizes: Sequence[int],
    fits: Callable[[Sequence[int]], bool],
) -> tuple[int, ...]:
    """Let a box grow, as long as it fits.

    Parameters
    ----------
    unit : sequence of int
        The box at first, of which it stays a multiple, or reaches to the end.
    goal : sequence of int
        Up to which length there is a use in it.
    sizes : sequence of int
        Lengths of the array.
    fits : callable
        Whether a box may be so large.
    """
    counts = [1] * len(unit)
    most = [
        max(1, ceil(min(wanted, size) / n))
        for n, wanted, size in zip(unit, goal, sizes, strict=True)
    ]

    def box(numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(
            min(max(1, size), n * number)
            for n, number, size in zip(unit, numbers, sizes, strict=True)
        )

    # The one that is farthest from its goal first; by halves, as it comes nearer.
    steps = [1 << max(0, limit.bit_length() - 1) for limit in most]
    while True:
        order = sorted(range(len(counts)), key=lambda d: counts[d] / most[d])
        for d in order:
            step = min(counts[d], most[d] - counts[d], steps[d])
            more = [*counts]
            more[d] += step
            if step and fits(box(more)):
                counts = more
                break
            steps[d] = step // 2
        else:
            if not any(steps):
                return box(counts)


def decodings(size: int, length: int, chunk: int) -> float:
    """How often a chunk along a dimension is decoded, if it is read in boxes of a length."""
    if not size:
        return 1.0
    pieces = ceil(size / length) + ceil(size / chunk) - ceil(size / lcm(length, chunk))
    return pieces / ceil(size / chunk)


def _stage(box: Sequence[int], source: Side, dest: Side) -> Stage:
    sizes = map(sum, dest.stored)
    often = prod(map(decodings, sizes, box, source.chunk))
    cuts = tuple(map(join, dest.stored, box))
    return Stage(cuts, dest.stored, memory_of(box, source, dest), often)


def _regular(size: int, length: int) -> Lengths:
    if not size:
        return (0,)
    last = size % length
    return (length,) * (size // length) + ((last,) if last else ())
