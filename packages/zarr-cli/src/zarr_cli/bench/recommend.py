"""Recommendation of codecs from measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_cli.bench.measure import Trial

LOCAL = 5e8
"""Bytes per second of a local disk."""

REMOTE = 1e8
"""Bytes per second of an object store or a network disk."""


_ENOUGH = 1.05  # factor of the best time up to which the present codecs are recommended


def best(trials: Sequence[Trial]) -> set[int]:
    """Return the indices of the trials that no other trial beats in size and both speeds."""
    measures = [(each.nbytes, each.encode_seconds, each.decode_seconds) for each in trials]
    return {
        number
        for number, mine in enumerate(measures)
        if not any(
            other != mine and all(a <= b for a, b in zip(other, mine, strict=True))
            for other in measures
        )
    }


def recommend(trials: Sequence[Trial]) -> dict[str, int]:
    """Return the indices of the recommended trials for three purposes.

    ``size`` minimizes the number of bytes.  ``speed`` and ``balance`` minimize the time to
    encode and store, then read and decode everything once, with storage of 500 or 100 MB per
    second.  The present codecs are preferred if they are nearly as good.
    """

    def least(cost: Callable[[Trial], float], enough: float) -> int:
        costs = [cost(each) for each in trials]
        for number, each in enumerate(trials):
            if each.candidate.present and costs[number] <= enough * min(costs):
                return number
        return costs.index(min(costs))

    def time(each: Trial, speed: float) -> float:
        return each.encode_seconds + each.decode_seconds + 2 * each.nbytes / speed

    return {
        "size": least(lambda each: each.nbytes, 1.0),
        "speed": least(lambda each: time(each, LOCAL), _ENOUGH),
        "balance": least(lambda each: time(each, REMOTE), _ENOUGH),
    }
