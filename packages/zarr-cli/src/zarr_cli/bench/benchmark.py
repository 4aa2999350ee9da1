"""Benchmark of codecs on an array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ZarrError
from zarr_core.formats.detect import read_node

from zarr_cli.bench.candidates import Candidate, candidates
from zarr_cli.bench.measure import measure, prepare_trial
from zarr_cli.bench.recommend import best, recommend
from zarr_cli.bench.sample import chunk_shape, sample
from zarr_cli.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from zarr_core import Array

    from zarr_cli.bench.measure import Trial

_SAMPLE = 64 << 20  # bytes of elements


@dataclass(frozen=True)
class BenchmarkResult:
    """The result of a benchmark.

    ``chunks`` were encoded.  ``trials`` are smallest first; one of them has the present codecs.
    ``excluded`` are candidates, with the reason.
    """

    chunks: Sequence[np.ndarray[Any, Any]]
    trials: list[Trial]
    excluded: list[tuple[Candidate, str]]

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements that were encoded."""
        return sum(chunk.nbytes for chunk in self.chunks)

    @property
    def present(self) -> Trial:
        """The trial of the present codecs."""
        return next(each for each in self.trials if each.candidate.present)

    @cached_property
    def best(self) -> set[int]:
        """The indices of the trials that no other trial beats in size and both speeds."""
        return best(self.trials)

    @cached_property
    def recommended(self) -> dict[str, int]:
        """The indices of the recommended trials by purpose."""
        return recommend(self.trials)


def benchmark_codecs(
    array: Array,
    also: Sequence[Candidate],
    seconds: float,
    report: Callable[[int, int], object],
    *,
    only_also: bool = False,
    most: int = 16,
) -> BenchmarkResult:
    """Measure codecs on a sample of the chunks of an array."""
    format_, _ = read_node(array.store, array.path)
    wanted = [Candidate(present=True), *also]
    if not only_also:
        # New arrays of version 3 have Zstandard frames with a checksum.
        usual = candidates(array.dtype, checksum=format_.name == "v3")
        wanted += (candidate for candidate in usual if candidate not in also)
    chunks = sample(array, most, _SAMPLE, seconds / 4)
    trials: list[Trial] = []
    excluded: list[tuple[Candidate, str]] = []
    for candidate in wanted:
        try:
            trials.append(prepare_trial(array, chunk_shape(array), format_.name, candidate))
        except (ZarrError, ValueError, TypeError) as error:
            excluded.append((candidate, str(error)))
    tried = measure(trials, chunks, seconds * 3 / 4, report)
    excluded += [(each.candidate, each.problem) for each in trials if each.problem]
    for candidate, reason in excluded:
        if candidate.present:
            raise Failure(f"{array.store} {array.name!r}: its present codecs fail: {reason}")
    good = [each for each in trials if not each.problem]
    return BenchmarkResult(tried, sorted(good, key=lambda each: each.nbytes), excluded)
