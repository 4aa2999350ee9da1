"""Which of the measured codecs suits which purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_cli.benching.measuring import Trial

LOCAL = 5e8
"""Bytes a second of a local disk."""

REMOTE = 1e8
"""Bytes a second of an object store or a disk in a network."""


_ENOUGH = 1.05  # times the least time


def best(trials: Sequence[Trial]) -> set[int]:
    """Numbers of those than which no other is smaller and faster in both directions."""
    measures = [(each.nbytes, each.encode_seconds, each.decode_seconds) for each in trials]
    return {
        number
        for number, mine in enumerate(measures)
        if not any(
            other != mine and all(a <= b for a, b in zip(other, mine, strict=True))
            for other in measures
        )
    }


def recommended(trials: Sequence[Trial]) -> dict[str, int]:
    """Numbers of the trials for three purposes.

    ``size``: the fewest bytes.  ``speed`` and ``balance``: the least time to encode and
    store, then read and decode everything once, where storage gives 500 or 100 MB a second.
    What the array has already is preferred where it is nearly as good.
    """

    def least(cost: Callable[[Trial], float], enough: float) -> int:
        costs = [cost(each) for each in trials]
        for number, each in enumerate(trials):
            if each.candidate.present and costs[number] <= enough * min(costs):
                return number  # to change it is not worth the while
        return costs.index(min(costs))

    def time(each: Trial, speed: float) -> float:
        return each.encode_seconds + each.decode_seconds + 2 * each.nbytes / speed

    return {
        "size": least(lambda each: each.nbytes, 1.0),
        "speed": least(lambda each: time(each, LOCAL), _ENOUGH),
        "balance": least(lambda each: time(each, REMOTE), _ENOUGH),
    }
