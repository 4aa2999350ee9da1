"""How the processor time of some work grows with the size of its input."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

FACTOR = 8
LIMIT = 3 * FACTOR
"""Between linear work, which takes 8 times as long, and quadratic work, which takes 64 times."""


def growth(make: Callable[[int], T], work: Callable[[T], object], size: int) -> float:
    """Processor time for an input 8 times as large, in relation to that for an input of a size.

    Only a ratio is returned, and the fastest of three runs counts, so that the speed and
    the load of the machine do not matter.
    """
    small, large = make(size), make(FACTOR * size)
    work(small)  # what is imported or compiled at first use
    return min(_seconds(work, large) for _ in range(3)) / min(
        _seconds(work, small) for _ in range(5)
    )


def _seconds(work: Callable[[T], object], given: T) -> float:
    start = time.process_time()
    work(given)
    return time.process_time() - start
