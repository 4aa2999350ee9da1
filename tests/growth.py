"""The growth of processor time with the size of the input."""

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
    """Ratio of the processor times for an input of 8 times the size and for an input of the size.

    The result is the ratio of the fastest of three runs, which does not depend on the speed
    and the load of the machine.
    """
    small, large = make(size), make(FACTOR * size)
    work(small)  # import and compile what the first call needs
    return min(_seconds(work, large) for _ in range(3)) / min(
        _seconds(work, small) for _ in range(5)
    )


def _seconds(work: Callable[[T], object], given: T) -> float:
    start = time.process_time()
    work(given)
    return time.process_time() - start
