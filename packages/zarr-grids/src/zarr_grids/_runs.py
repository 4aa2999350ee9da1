"""Chunks along a dimension as runs of chunks of equal length."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ChunkAxis

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LARGEST = 2**63 - 1  # largest index


class RunAxis(ChunkAxis):
    """Chunks of different lengths along a dimension; chunks beyond the array are omitted.

    Memory grows with the number of runs, not of chunks: a million chunks of one length are
    one run.

    Parameters
    ----------
    size : int
        Length of the dimension, in elements.
    lengths, counts : sequence of int
        Length of the chunks of each run, in elements, and number of chunks of each run.
        Their total length must be at least ``size``.

    Raises
    ------
    ValueError
        If the chunks do not cover the dimension.
    """

    def __init__(self, size: int, lengths: Sequence[int], counts: Sequence[int]) -> None:
        if size > _LARGEST:
            raise ValueError(f"a dimension has at most 2^63 - 1 elements, not {size}")
        # Python integers, because the sums can exceed the range of int64.
        ends = list(accumulate(map(mul, lengths, counts)))
        if size > (ends[-1] if ends else 0):
            raise ValueError(
                f"the chunks cover {ends[-1] if ends else 0} of {size} elements; "
                f"the sum of their lengths must be at least {size}"
            )
        used = bisect_left(ends, size) + 1 if size else min(1, len(ends))
        self.size = size
        self._lengths: array[int] = array("q", lengths[:used])
        self._starts: array[int] = array("q", [0, *ends[: used - 1]] if used else [])
        last = -(-(size - self._starts[-1]) // self._lengths[-1]) if used else 0
        inside = array("q", [*counts[: used - 1], last] if used else [])
        # None if every run is one chunk: then indices of chunks are indices of runs.
        self._numbers: array[int] | None = None
        self.count = last + used - 1 if used else 0
        if max(inside[:-1], default=1) > 1:
            firsts = [0, *accumulate(inside)]
            self.count = firsts.pop()
            self._numbers = array("q", firsts)
        self.uniform = lengths[0] if used and self._are_equal() else None

    def _are_equal(self) -> bool:
        return bool((np.frombuffer(self._lengths, np.int64) == self._lengths[0]).all())

    def _run(self, chunk: int) -> tuple[int, int]:
        """Return the run of a chunk, and the position of the chunk in the run."""
        if self._numbers is None:
            run = min(chunk, len(self._lengths) - 1)
            return run, chunk - run
        run = bisect_right(self._numbers, chunk) - 1
        return run, chunk - self._numbers[run]

    def start(self, chunk: int) -> int:
        run, position = self._run(chunk)
        return self._starts[run] + position * self._lengths[run]

    def length(self, chunk: int) -> int:
        return self._lengths[self._run(chunk)[0]] if self._lengths else 0

    def chunk_of(self, element: int) -> int:
        run = bisect_right(self._starts, element) - 1
        first = run if self._numbers is None else self._numbers[run]
        return first + (element - self._starts[run]) // self._lengths[run]

    def chunks_of(self, elements: np.ndarray[Any, np.dtype[np.intp]]) -> np.ndarray[Any, Any]:
        starts = np.frombuffer(self._starts, np.int64)
        lengths = np.frombuffer(self._lengths, np.int64)
        runs = np.searchsorted(starts, elements, "right") - 1
        firsts = runs if self._numbers is None else np.frombuffer(self._numbers, np.int64)[runs]
        return np.asarray(firsts + (elements - starts[runs]) // lengths[runs])

    def runs(self) -> Iterator[tuple[int, int]]:
        numbers = range(len(self._lengths)) if self._numbers is None else self._numbers
        edges = pairwise((*numbers, self.count))
        return zip(self._lengths, (end - first for first, end in edges), strict=True)
