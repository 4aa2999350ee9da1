"""Plans for rechunking, directly or with an intermediate array.

A task reads and writes one region.  A region consists of whole chunks or shards of the destination,
so tasks are independent and each chunk is written once.  A chunk of the source is decoded for every
region that overlaps it, so regions contain whole chunks of the source if memory suffices.  If it
does not, as from rows to columns, an intermediate array is faster: the first stage copies regions
of whole source chunks, the second stage regions of whole destination chunks, and each intermediate
chunk is as long as the shorter of both regions.  This is the algorithm of Rechunker (Abernathey and
White, 2020, https://rechunker.readthedocs.io/en/latest/algorithm.html).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, lcm, log, prod
from typing import TYPE_CHECKING, Any

from zarr_core.messages import format_bytes

from zarr_transfer.regions import ChunkEdges, every_region, reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core import Array

    from zarr_transfer.regions import Region

_VARIABLE = 256  # assumed bytes of an element of variable size
_OVERHEAD = 1 << 17  # bytes that are not elements
_PER_OBJECT = 1 << 16  # cost of a stored object, in decoded bytes
_ENCODING = 2  # cost of encoding relative to decoding


@dataclass(frozen=True, slots=True)
class Chunking:
    """The chunks of the source or the destination.

    Parameters
    ----------
    stored : tuple of ChunkEdges
        Edges of the stored objects (shards or chunks) along each dimension.
    chunk : tuple of int
        Shape of the unit of decoding; the largest if lengths differ.
    item_size : int
        Bytes per element.
    at_once : int
        Number of chunks, or stored objects, that a task processes concurrently.
    """

    stored: tuple[ChunkEdges, ...]
    chunk: tuple[int, ...]
    item_size: int
    at_once: int = 1

    @classmethod
    def of(cls, array: Array, threads: int = 1) -> Chunking:
        """Return the chunks of an array, for tasks with a number of threads."""
        longest = (max(n, default=1) if isinstance(n, tuple) else n for n in array.chunks)
        chunk = tuple(min(n, max(1, size)) for n, size in zip(longest, array.shape, strict=True))
        return cls(
            edges_of(array), chunk, item_size(array.dtype), array.store.max_concurrency or threads
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple(along.size for along in self.stored)

    @property
    def longest(self) -> tuple[int, ...]:
        """Shape of the largest stored object."""
        return tuple(along.length for along in self.stored)

    def decoding(self, chunks: int) -> int:
        """Return the memory for reading a number of chunks, in bytes."""
        return min(chunks, self.at_once) * 2 * prod(self.chunk) * self.item_size

    def encoding(self, objects: int) -> int:
        """Return the memory for writing a number of stored objects, in bytes."""
        return min(objects, self.at_once) * 2 * prod(self.longest) * self.item_size


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of memory and tasks.

    Parameters
    ----------
    memory : int
        Maximum memory of a task in bytes.
    copies : int
        Number of copies of the elements of a region in memory.
    tasks : int
        Number of tasks that suffice for all workers; regions do not grow to fewer than half of it.
    box : int or None
        Maximum size of growing regions in bytes; by default half of the memory.
    between : bool
        Whether an intermediate array can be stored.
    firm : bool
        Whether it is an error if one stored object needs more memory.  Otherwise the limit is
        raised, and applies only to elements, not to chunks that are being processed.
    """

    memory: int
    copies: int = 1
    tasks: int = 1
    box: int | None = None
    between: bool = True
    firm: bool = True


@dataclass(frozen=True, slots=True)
class RechunkStage:
    """One pass over all elements.

    Parameters
    ----------
    cuts : tuple of ChunkEdges
        Edges of the regions.
    stored : tuple of ChunkEdges
        Edges of the stored objects that are written.
    memory : int
        Maximum memory of a task in bytes.
    decodings : float
        How often a chunk is decoded, on average.
    """

    cuts: tuple[ChunkEdges, ...]
    stored: tuple[ChunkEdges, ...]
    memory: int
    decodings: float

    @property
    def count(self) -> int:
        """Number of tasks, if all chunks are stored."""
        return prod(along.count for along in self.cuts)

    def tasks(self) -> Iterator[Region]:
        """Iterate over all regions."""
        return every_region(self.cuts)

    def objects_in(self, task: Region) -> list[range]:
        """Return the numbers of the stored objects of a task along each dimension."""
        return reached(self.stored, task.box)


@dataclass(frozen=True, slots=True)
class RechunkPlan:
    """The plan for rechunking an array; ``print`` shows it as text.

    Parameters
    ----------
    stages : tuple of RechunkStage
        One stage, or two.
    between : tuple of int or None
        Chunk shape of the intermediate array, if any.
    """

    stages: tuple[RechunkStage, ...]
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


def plan_stages(source: Chunking, dest: Chunking, budget: Budget) -> RechunkPlan:
    """Return the stages of rechunking.

    Two stages are selected if they are estimated to be faster, from the numbers of decoded and
    encoded bytes and of stored objects.  Raises ValueError if a stored object of the destination
    needs more memory.
    """
    least = memory_of(dest.longest, source, dest, budget.copies)
    if not budget.firm:
        overhead = max(source.decoding(source.at_once), dest.encoding(dest.at_once)) + _OVERHEAD
        budget = replace(budget, memory=max(least, budget.memory + overhead))
    if least > budget.memory:
        raise ValueError(
            f"a task needs at least {format_bytes(least)} of memory, since whole chunks or shards are "
            f"decoded and written, but the limit is {format_bytes(budget.memory)}; pass a larger limit, "
            "smaller chunks or shards, or fewer threads"
        )
    sizes = dest.sizes

    def fits(box: Sequence[int]) -> bool:
        return memory_of(box, source, dest, budget.copies) <= budget.memory

    def worth_filling(box: Sequence[int]) -> bool:
        most = budget.memory // 2 if budget.box is None else budget.box
        tasks = prod(ceil(size / length) for size, length in zip(sizes, box, strict=True))
        nbytes = budget.copies * prod(box) * source.item_size
        return nbytes <= most and 2 * tasks >= budget.tasks and fits(box)

    box = _written(source, dest, fits)
    box = grow(box, sizes, box, worth_filling, lambda d, length: 1 / length)
    direct = _stage(box, source, dest, budget)
    best, shortest = RechunkPlan((direct,)), _time(direct, source, dest)
    if direct.decodings > 1 and budget.between:
        # The second stage needs memory for intermediate chunks, too.
        for share in (0.5, 0.75):
            stages = _two_stages(source, dest, budget, int(share * budget.memory))
            if stages is not None:
                middle, (first, last) = stages
                time = _time(first, source, middle) + _time(last, middle, dest)
                if time < shortest:
                    best, shortest = RechunkPlan((first, last), middle.chunk), time
    return best


def memory_of(box: Sequence[int], source: Chunking, dest: Chunking, copies: int = 1) -> int:
    """Return the memory of a task for a region, in bytes.

    The sum of its elements and the larger of two: the stored and decoded chunks that are read
    concurrently, or the stored objects that are written.
    """
    chunks = prod(ceil(n / k) + 1 for n, k in zip(box, source.chunk, strict=True))
    objects = prod(ceil(n / k) for n, k in zip(box, dest.longest, strict=True))
    elements = copies * prod(box) * max(source.item_size, dest.item_size)
    return elements + max(source.decoding(chunks), dest.encoding(objects)) + _OVERHEAD


def item_size(dtype: Any) -> int:
    """Return the approximate size of an element in memory, in bytes."""
    return _VARIABLE if dtype.kind in "OT" else max(1, int(dtype.itemsize))


def edges_of(array: Array) -> tuple[ChunkEdges, ...]:
    """Return the edges of the stored objects of an array along each dimension."""
    lengths = array.shards or array.chunks
    return tuple(map(ChunkEdges.at_edges, array.shape, lengths))


def _written(
    source: Chunking, dest: Chunking, fits: Callable[[Sequence[int]], bool]
) -> tuple[int, ...]:
    """Return the region shape for which source chunks are decoded least often."""
    sizes = dest.sizes

    def cost(d: int, length: int) -> float:
        return decodings(sizes[d], length, source.chunk[d])

    return grow(dest.longest, sizes, source.chunk, fits, cost)


def _two_stages(
    source: Chunking, dest: Chunking, budget: Budget, most: int
) -> tuple[Chunking, tuple[RechunkStage, RechunkStage]] | None:
    """Return the intermediate chunks and both stages; None if they need too much memory."""
    sizes = dest.sizes
    write = _written(source, dest, lambda box: memory_of(box, dest, dest, budget.copies) <= most)

    def middle(read: Sequence[int]) -> Chunking:
        piece = tuple(map(min, read, write))
        stored = tuple(map(ChunkEdges, sizes, piece))
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
    read = grow(unit, sizes, write, fits, lambda d, length: 1 / min(length, write[d]))
    pieces = middle(read)
    # Regions of the first stage are whole intermediate chunks.
    read = tuple(
        size if length >= size else length // piece * piece
        for length, piece, size in zip(read, pieces.chunk, sizes, strict=True)
    )
    return pieces, (_stage(read, source, pieces, budget), _stage(write, pieces, dest, budget))


def _stage(box: Sequence[int], source: Chunking, dest: Chunking, budget: Budget) -> RechunkStage:
    cuts = tuple(along.joined(length) for along, length in zip(dest.stored, box, strict=True))
    longest = tuple(along.length for along in cuts)
    often = prod(
        decodings(size, length, chunk) / ceil(size / chunk)
        for size, length, chunk in zip(dest.sizes, longest, source.chunk, strict=True)
        if size
    )
    return RechunkStage(cuts, dest.stored, memory_of(longest, source, dest, budget.copies), often)


def _time(stage: RechunkStage, source: Chunking, dest: Chunking) -> float:
    """Return the estimated duration of a stage, in decoded bytes."""
    size = prod(dest.sizes)
    chunks = prod(ceil(size / chunk) for size, chunk in zip(dest.sizes, source.chunk, strict=True))
    objects = prod(along.count for along in dest.stored)
    reading = stage.decodings * (size * source.item_size + chunks * _PER_OBJECT)
    return reading + _ENCODING * (size * dest.item_size + objects * _PER_OBJECT)


def decodings(size: int, length: int, chunk: int) -> int:
    """Return how many chunks are decoded along a dimension that is read in parts."""
    return ceil(size / length) + ceil(size / chunk) - ceil(size / lcm(length, chunk))


def grow(
    unit: Sequence[int],
    sizes: Sequence[int],
    aims: Sequence[int],
    fits: Callable[[Sequence[int]], bool],
    cost: Callable[[int, int], float],
) -> tuple[int, ...]:
    """Return a larger region: extend it where this saves most for the memory that it needs.

    The result is a multiple of ``unit``, or extends to the end; multiples of ``aims``, the chunk shape of
    the source, are tried.  ``fits`` tells whether a shape fits into memory, ``cost`` is the cost of a
    dimension for a length.  The total is the product.
    """
    box = [min(n, max(1, size)) for n, size in zip(unit, sizes, strict=True)]
    while True:
        best: tuple[float, int, int] = (0.0, 0, 0)
        for d, length in enumerate(box):
            fits_along = partial(_fits_along, fits, box, d)
            for more in _longer(unit[d], length, sizes[d], aims[d], fits_along):
                spared = log(cost(d, length) / cost(d, more)) / log(more / length)
                # Prefer the longest of equally good steps.
                best = max(best, (round(spared, 6), more, d))
        spared, more, d = best
        if spared <= 0:
            return tuple(box)
        box[d] = more


def _fits_along(
    fits: Callable[[Sequence[int]], bool], box: Sequence[int], d: int, length: int
) -> bool:
    """Whether a region fits with another length along one dimension."""
    return fits([*box[:d], length, *box[d + 1 :]])


def _longer(
    unit: int, length: int, size: int, aim: int, fits: Callable[[int], bool]
) -> Iterator[int]:
    """Iterate over lengths to which a region can grow."""
    if length >= size:
        return
    present, whole = length // unit, ceil(size / unit)
    larger = range(present + 1, whole + 1)
    most = present + bisect_left(larger, True, key=lambda n: not fits(min(size, n * unit)))
    for number in {2 * ceil(length / unit), ceil(aim / unit), lcm(unit, aim) // unit, whole, most}:
        more = min(size, number * unit)
        if length < more and number <= most:
            yield more
