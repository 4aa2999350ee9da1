"""How large a box becomes in memory that is limited, to have chunks decoded few times."""

from __future__ import annotations

from math import ceil, lcm, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def decodings(size: int, length: int, chunk: int) -> int:
    """How many chunks are decoded along a dimension, if it is read in boxes of a length.

    Parameters
    ----------
    size : int
        Length of the dimension.
    length : int
        Length of a box.
    chunk : int
        Length of a chunk.

    Notes
    -----
    Each once, and once more for every edge of a box within it.
    """
    return ceil(size / length) + ceil(size / chunk) - ceil(size / lcm(length, chunk))


def grown(
    unit: Sequence[int],
    sizes: Sequence[int],
    aims: Sequence[int],
    fits: Callable[[Sequence[int]], bool],
    cost: Callable[[int, int], float],
) -> tuple[int, ...]:
    """Let a box grow, as long as it fits, where that spares most for the memory it takes.

    Parameters
    ----------
    unit : sequence of int
        The box at first, of which it stays a multiple, or reaches to the end.
    sizes : sequence of int
        Lengths of the array.
    aims : sequence of int
        Lengths of what is read: to be as long, or a multiple, is worth being tried.
    fits : callable
        Whether there is memory for a box.
    cost : callable
        What a dimension costs, if the box has a length along it; that of the box is their
        product.
    """
    box = [min(n, max(1, size)) for n, size in zip(unit, sizes, strict=True)]
    while True:
        best: tuple[float, int, int] = (0.0, 0, 0)
        for d, length in enumerate(box):
            for more in _longer(unit[d], length, sizes[d], aims[d], _as_long(box, d, fits)):
                spared = log(cost(d, length) / cost(d, more)) / log(more / length)
                # Of steps that are as good, the longest.
                best = max(best, (round(spared, 6), more, d))
        spared, more, d = best
        if spared <= 0:
            return tuple(box)
        box[d] = more


def filled(
    box: Sequence[int],
    sizes: Sequence[int],
    fits: Callable[[Sequence[int]], bool],
    few: int,
) -> tuple[int, ...]:
    """Let a box grow that need not be larger, while it fits and there are more than a few."""
    large = list(box)
    for d in reversed(range(len(large))):
        while large[d] < sizes[d]:
            count = 1
            for size, length in zip(sizes, large, strict=True):
                count *= ceil(size / length)
            more = [*large]
            more[d] = min(sizes[d], 2 * large[d])
            if count <= few or not fits(more):
                break
            large = more
    return tuple(large)


def _as_long(
    box: Sequence[int], d: int, fits: Callable[[Sequence[int]], bool]
) -> Callable[[int], bool]:
    """Whether a box fits that is longer along one dimension."""

    def try_(length: int) -> bool:
        return fits([*box[:d], length, *box[d + 1 :]])

    return try_


def _longer(
    unit: int, length: int, size: int, aim: int, fits: Callable[[int], bool]
) -> Iterator[int]:
    """Lengths that a box may grow to, multiples of a unit."""
    if length >= size:
        return
    whole = ceil(size / unit)
    tried = {2 * ceil(length / unit), ceil(aim / unit), lcm(unit, aim) // unit, whole}
    low, high = length // unit, whole  # the first fits; of the second it is not known
    while low < high:
        middle = (low + high + 1) // 2
        if fits(min(size, middle * unit)):
            low = middle
        else:
            high = middle - 1
    tried.add(low)
    for number in tried:
        more = min(size, number * unit)
        if length < more and number <= low:
            yield more
