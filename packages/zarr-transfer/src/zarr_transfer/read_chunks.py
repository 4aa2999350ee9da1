"""Region shapes for which chunks are decoded rarely, within a memory limit."""

from __future__ import annotations

from math import ceil, lcm, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def decodings(size: int, length: int, chunk: int) -> int:
    """Return the number of decoded chunks along a dimension that is read in parts of a length.

    Each chunk is decoded once, and once more for every edge of a part within it.
    """
    return ceil(size / length) + ceil(size / chunk) - ceil(size / lcm(length, chunk))


def grow(
    unit: Sequence[int],
    sizes: Sequence[int],
    aims: Sequence[int],
    fits: Callable[[Sequence[int]], bool],
    cost: Callable[[int, int], float],
) -> tuple[int, ...]:
    """Return a larger region: extend it where this saves most for the memory that it needs.

    Parameters
    ----------
    unit : sequence of int
        The initial shape; the result is a multiple of it, or extends to the end.
    sizes : sequence of int
        Shape of the array.
    aims : sequence of int
        Chunk shape of the source; multiples of it are tried.
    fits : callable
        Whether a shape fits into memory.
    cost : callable
        Cost of a dimension for a length; the total is the product.
    """
    box = [min(n, max(1, size)) for n, size in zip(unit, sizes, strict=True)]
    while True:
        best: tuple[float, int, int] = (0.0, 0, 0)
        for d, length in enumerate(box):
            for more in _longer(unit[d], length, sizes[d], aims[d], _as_long(box, d, fits)):
                spared = log(cost(d, length) / cost(d, more)) / log(more / length)
                # Prefer the longest of equally good steps.
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
    """Return a region that grows while it fits and there are more than ``few`` regions."""
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
    """Return a function that tells whether a length along one dimension fits."""

    def try_(length: int) -> bool:
        return fits([*box[:d], length, *box[d + 1 :]])

    return try_


def _longer(
    unit: int, length: int, size: int, aim: int, fits: Callable[[int], bool]
) -> Iterator[int]:
    """Iterate over lengths to which a region can grow."""
    if length >= size:
        return
    whole = ceil(size / unit)
    tried = {2 * ceil(length / unit), ceil(aim / unit), lcm(unit, aim) // unit, whole}
    low, high = length // unit, whole  # the first fits; the second may not
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
