"""In which boxes an array is rechunked, at once or by way of an array in between.

A task reads a box and writes it, and a box consists of whole stored objects of what is
written: so no two tasks meet, and each is written once.  A chunk of the source is decoded for
every box that it reaches into; so boxes hold whole chunks of the source where memory allows.
From rows to columns it does not.  Then it is cheaper to cut boxes of whole chunks of the
source into pieces, which are stored, and to put boxes of the result together of these: each
piece is as long as the shorter of both boxes.  That is the idea of Rechunker (Abernathey
and White, 2020, https://rechunker.readthedocs.io/en/latest/algorithm.html).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod
from typing import TYPE_CHECKING, Any

from zarr_core.rechunking.boxes import every_task, reached
from zarr_core.rechunking.cuts import Cuts
from zarr_core.rechunking.growing import decodings, filled, grown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.hierarchy.array import Array
    from zarr_core.rechunking.boxes import Task

_VARIABLE = 256  # bytes that an element of variable size is taken to need
_BESIDES = 1 << 17  # bytes of what is no element
_EACH = 1 << 16  # bytes that are decoded in the time that a stored object takes by itself
_WRITING = 2  # times that encoding takes the time of decoding


@dataclass(frozen=True, slots=True)
class Chunking:
    """What is read, or what is written.

    Parameters
    ----------
    stored : tuple of Cuts
        The stored objects, shards or chunks, along each dimension.
    chunk : tuple of int
        Shape of what is decoded at once; the longest where lengths differ.
    item_size : int
        Bytes of an element.
    at_once : int
        How many chunks, or stored objects, a task has in hand at a time.
    """

    stored: tuple[Cuts, ...]
    chunk: tuple[int, ...]
    item_size: int
    at_once: int = 1

    @classmethod
    def of(cls, array: Array, threads: int = 1) -> Chunking:
        """That of an array, for tasks of so many threads."""
        longest = (max(n, default=1) if isinstance(n, tuple) else n for n in array.chunks)
        chunk = tuple(min(n, max(1, size)) for n, size in zip(longest, array.shape, strict=True))
        return cls(cuts_of(array), chunk, item_size(array.dtype), array.store.requests or threads)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple(along.size for along in self.stored)

    @property
    def longest(self) -> tuple[int, ...]:
        """Shape of the largest stored object."""
        return tuple(along.length for along in self.stored)

    def decoding(self, chunks: int) -> int:
        """Bytes that so many chunks take to be read, as stored and decoded; as many as are in hand."""
        return min(chunks, self.at_once) * 2 * prod(self.chunk) * self.item_size

    def encoding(self, objects: int) -> int:
        """Bytes that so many stored objects take to be written; as many as are in hand."""
        return min(objects, self.at_once) * 2 * prod(self.longest) * self.item_size


@dataclass(frozen=True, slots=True)
class Budget:
    """What there is to do it with.

    Parameters
    ----------
    memory : int
        Bytes that a task may take.
    copies : int
        How many arrays of a box's elements there are at a time.
    tasks : int
        How many tasks keep everybody busy; more of them may be larger than they need be.
    box : int or None
        Bytes of elements up to which they may; by default half of the memory.
    between : bool
        Whether an array in between can be stored.
    firm : bool
        Whether it is refused where one stored object takes more memory.  Else that is what it
        gets, and the memory is for elements alone, without chunks that are in hand.
    """

    memory: int
    copies: int = 1
    tasks: int = 1
    box: int | None = None
    between: bool = True
    firm: bool = True


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass over an array.

    Parameters
    ----------
    cuts : tuple of Cuts
        The boxes.
    stored : tuple of Cuts
        The stored objects that are written, whole ones in each box.
    memory : int
        Bytes that a task takes at most.
    decodings : float
        How often a chunk is decoded, in the middle.
    """

    cuts: tuple[Cuts, ...]
    stored: tuple[Cuts, ...]
    memory: int
    decodings: float

    @property
    def count(self) -> int:
        """How many tasks there are, if all that can be stored is."""
        return prod(along.count for along in self.cuts)

    def tasks(self) -> Iterator[Task]:
        """Every box."""
        return every_task(self.cuts)

    def objects_in(self, task: Task) -> list[range]:
        """Numbers of the stored objects that a task writes, along each dimension."""
        return reached(self.stored, task.box)


@dataclass(frozen=True, slots=True)
class Plan:
    """How an array is rechunked; ``print`` it to read it.

    Parameters
    ----------
    stages : tuple of Stage
        One, or two.
    between : tuple of int or None
        Shape of the chunks of the array in between, if there is one.
    """

    stages: tuple[Stage, ...]
    between: tuple[int, ...] | None = None

    def __str__(self) -> str:
        lines = [
            f"stage {number}: {stage.count} tasks of {stage.memory / 2**20:.1f} MiB at most, "
            f"each chunk decoded {stage.decodings:.3g} times"
            for number, stage in enumerate(self.stages, 1)
        ]
        if self.between is not None:
            lines.insert(1, f"  an intermediate array with chunks {self.between}")
        return "\n".join(lines)


def plan_stages(source: Chunking, dest: Chunking, budget: Budget) -> Plan:
    """Choose the boxes.

    Parameters
    ----------
    source, dest : Chunking
        From where, where to.
    budget : Budget
        What there is to do it with.

    Raises
    ------
    ValueError
        If a stored object of the destination, with chunks of the source, takes more memory.

    Notes
    -----
    Two stages are chosen where they take less time than one, as far as that follows from the
    bytes that are decoded and encoded, and from the numbers of stored objects.
    """
    least = memory_of(dest.longest, source, dest, budget.copies)
    if not budget.firm:
        besides = max(source.decoding(source.at_once), dest.encoding(dest.at_once)) + _BESIDES
        budget = replace(budget, memory=max(least, budget.memory + besides))
    if least > budget.memory:
        raise ValueError(
            f"a task takes {_amount(least)} of memory at least, as stored objects are decoded and "
            f"written whole, and {_amount(budget.memory)} are allowed: allow more, choose "
            "smaller chunks or shards, or fewer threads"
        )
    sizes = dest.sizes

    def fits(box: Sequence[int]) -> bool:
        return memory_of(box, source, dest, budget.copies) <= budget.memory

    def worth_filling(box: Sequence[int]) -> bool:
        most = budget.memory // 2 if budget.box is None else budget.box
        return budget.copies * prod(box) * source.item_size <= most and fits(box)

    box = _written(source, dest, fits)
    direct = _stage(filled(box, sizes, worth_filling, budget.tasks), source, dest, budget)
    best, shortest = Plan((direct,)), _time(direct, source, dest)
    if direct.decodings > 1 and budget.between:
        # What boxes of the second stage leave is for the pieces that they are made of.
        for share in (0.5, 0.75):
            found = _by_way_of_pieces(source, dest, budget, int(share * budget.memory))
            if found is not None:
                pieces, (first, last) = found
                time = _time(first, source, pieces) + _time(last, pieces, dest)
                if time < shortest:
                    best, shortest = Plan((first, last), pieces.chunk), time
    return best


def memory_of(box: Sequence[int], source: Chunking, dest: Chunking, copies: int = 1) -> int:
    """Bytes that a task takes for a box.

    Notes
    -----
    Those of its elements, and the more of two: what reading as many chunks takes as are in
    hand at a time, as stored and decoded, or what writing stored objects takes.
    """
    chunks = prod(ceil(n / k) + 1 for n, k in zip(box, source.chunk, strict=True))
    objects = prod(ceil(n / k) for n, k in zip(box, dest.longest, strict=True))
    elements = copies * prod(box) * max(source.item_size, dest.item_size)
    return elements + max(source.decoding(chunks), dest.encoding(objects)) + _BESIDES


def item_size(dtype: Any) -> int:
    """Bytes that an element takes in memory, about."""
    return _VARIABLE if dtype.kind in "OT" else max(1, int(dtype.itemsize))


def cuts_of(array: Array) -> tuple[Cuts, ...]:
    """The stored objects of an array along each dimension."""
    lengths = array.shards or array.chunks
    return tuple(map(Cuts.at_edges, array.shape, lengths))


def _written(
    source: Chunking, dest: Chunking, fits: Callable[[Sequence[int]], bool]
) -> tuple[int, ...]:
    """A box of what is written that has chunks of the source decoded as rarely as can be."""
    sizes = dest.sizes

    def cost(d: int, length: int) -> float:
        return decodings(sizes[d], length, source.chunk[d])

    return grown(dest.longest, sizes, source.chunk, fits, cost)


def _by_way_of_pieces(
    source: Chunking, dest: Chunking, budget: Budget, most: int
) -> tuple[Chunking, tuple[Stage, Stage]] | None:
    """The pieces with both stages; None if a chunk of the source with them does not fit."""
    sizes = dest.sizes
    write = _written(source, dest, lambda box: memory_of(box, dest, dest, budget.copies) <= most)

    def middle(read: Sequence[int]) -> Chunking:
        piece = tuple(map(min, read, write))
        stored = tuple(map(Cuts, sizes, piece))
        return Chunking(stored, piece, source.item_size, dest.at_once)

    def fits(read: Sequence[int]) -> bool:
        pieces = middle(read)
        first = memory_of(read, source, pieces, budget.copies)
        last = memory_of(write, pieces, dest, budget.copies)
        return max(first, last) <= budget.memory

    unit = tuple(
        max(1, min(length, size)) for length, size in zip(source.chunk, sizes, strict=True)
    )
    if not fits(unit):
        return None
    read = grown(unit, sizes, write, fits, lambda d, length: 1 / min(length, write[d]))
    pieces = middle(read)
    # Boxes of the first stage are whole pieces.
    read = tuple(
        size if length >= size else length // piece * piece
        for length, piece, size in zip(read, pieces.chunk, sizes, strict=True)
    )
    return pieces, (_stage(read, source, pieces, budget), _stage(write, pieces, dest, budget))


def _stage(box: Sequence[int], source: Chunking, dest: Chunking, budget: Budget) -> Stage:
    cuts = tuple(along.joined(length) for along, length in zip(dest.stored, box, strict=True))
    longest = tuple(along.length for along in cuts)
    often = prod(
        decodings(size, length, chunk) / ceil(size / chunk)
        for size, length, chunk in zip(dest.sizes, longest, source.chunk, strict=True)
        if size
    )
    return Stage(cuts, dest.stored, memory_of(longest, source, dest, budget.copies), often)


def _time(stage: Stage, source: Chunking, dest: Chunking) -> float:
    """How long a stage takes about, in bytes that are decoded."""
    size = prod(dest.sizes)
    chunks = prod(ceil(size / chunk) for size, chunk in zip(dest.sizes, source.chunk, strict=True))
    objects = prod(along.count for along in dest.stored)
    reading = stage.decodings * (size * source.item_size + chunks * _EACH)
    return reading + _WRITING * (size * dest.item_size + objects * _EACH)


def _amount(nbytes: int) -> str:
    for unit in ("GiB", "MiB"):
        size = 1 << (30 if unit == "GiB" else 20)
        if nbytes >= size:
            return f"{nbytes / size:.1f} {unit}"
    return f"{nbytes / 1024:.1f} KiB"
