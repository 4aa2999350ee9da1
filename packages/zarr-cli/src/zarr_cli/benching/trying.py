"""All candidates tried on an array: what they make of it, what is out of the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ZarrError, read_node

from zarr_cli.benching.candidates import Candidate, candidates
from zarr_cli.benching.measuring import measure, trial
from zarr_cli.benching.sampling import chunk_shape, sample
from zarr_cli.failing import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from zarr_core import Array

    from zarr_cli.benching.measuring import Trial

_SAMPLE = 64 << 20  # bytes of elements


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found out.

    Parameters
    ----------
    chunks : sequence of ndarray
        The chunks that were encoded.
    trials : list of Trial
        What works, the smallest first; one of them is what the array has.
    left_out : list of (Candidate, str)
        What does not, with the reason.
    """

    chunks: Sequence[np.ndarray[Any, Any]]
    trials: list[Trial]
    left_out: list[tuple[Candidate, str]]

    @property
    def nbytes(self) -> int:
        """Bytes of the elements that were encoded."""
        return sum(chunk.nbytes for chunk in self.chunks)

    @property
    def present(self) -> Trial:
        """What the array has."""
        return next(each for each in self.trials if each.candidate.present)


def try_codecs(
    array: Array,
    also: Sequence[Candidate],
    seconds: float,
    report: Callable[[int, int], object],
    *,
    only_also: bool = False,
    most: int = 16,
) -> Tried:
    """Try codecs on a sample of an array's chunks.

    Parameters
    ----------
    array : Array
        The array.
    also : sequence of Candidate
        What to try besides.
    seconds : float
        How long it may take, about.
    report : callable
        Is told how much is done, of how much.
    only_also : bool
        Whether to try nothing else.
    most : int
        How many chunks to try with, at most.

    Raises
    ------
    Failure
        If the array holds nothing to try with, or its own codecs do not work.
    """
    format_, _ = read_node(array.store, array.path)
    wanted = [Candidate(present=True), *also]
    if not only_also:
        # Frames with a checksum are what new arrays of version 3 get.
        usual = candidates(array.dtype, checksum=format_.name == "v3")
        wanted += (candidate for candidate in usual if candidate not in also)
    chunks = sample(array, most, _SAMPLE, seconds / 4)
    trials: list[Trial] = []
    left_out: list[tuple[Candidate, str]] = []
    for candidate in wanted:
        try:
            trials.append(trial(array, chunk_shape(array), format_.name, candidate))
        except (ZarrError, ValueError, TypeError) as error:
            left_out.append((candidate, str(error)))
    tried = measure(trials, chunks, seconds * 3 / 4, report)
    left_out += [(each.candidate, each.problem) for each in trials if each.problem]
    for candidate, reason in left_out:
        if candidate.present:
            raise Failure(f"{array.store} {array.name!r}: its codecs cannot be tried: {reason}")
    good = [each for each in trials if not each.problem]
    return Tried(tried, sorted(good, key=lambda each: each.nbytes), left_out)
