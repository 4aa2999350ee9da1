"""How small codecs make some chunks, how long they take, in one thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.extension import ArrayRepresentation, CodecChain, ZarrError, make_extension

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core import Array
    from zarr_core.extension import BoundChain, ExtensionDefinition

    from zarr_cli.benching.candidates import Candidate

    NDArray = np.ndarray[Any, Any]

ROUNDS = 9
"""How often everything is repeated at most."""

_FIRST = 0.4  # of the time may go into the first round
_SLOWEST = 0.15  # of the time may go into one chunk


@dataclass(slots=True)
class Trial:
    """One candidate and what was found out about it.

    Parameters
    ----------
    candidate : Candidate
        The codecs.
    definitions : tuple of ExtensionDefinition
        The same as metadata have them.
    chain : BoundChain
        What encodes a chunk.
    """

    candidate: Candidate
    definitions: tuple[ExtensionDefinition, ...]
    chain: BoundChain
    nbytes: int = 0
    """Bytes that the chunks take."""
    encoding: list[float] = field(default_factory=list)
    decoding: list[float] = field(default_factory=list)
    """Seconds of processor time for all chunks, each time."""
    lasted: float = 0.0
    """Seconds that the last time took, as clocks on walls have them."""
    problem: str = ""
    """Why it is out of the question."""

    @property
    def encode_seconds(self) -> float:
        """The middle of all times."""
        return median(self.encoding)

    @property
    def decode_seconds(self) -> float:
        """The middle of all times."""
        return median(self.decoding)


def trial(array: Array, shape: tuple[int, ...], format_: str, candidate: Candidate) -> Trial:
    """Bind codecs to the chunks of an array.

    Parameters
    ----------
    array : Array
        The array.
    shape : tuple of int
        Shape of its chunks.
    format_ : str
        Name of its format, which has to have words for the codecs.
    candidate : Candidate
        The codecs.

    Raises
    ------
    ZarrError
        If they are not installed, or not for such elements, or not of that format.
    """
    layout: dict[str, Any] = {"shape": shape, "chunks": shape, "shards": None}
    store = zarr_core.MemoryStore()
    if candidate.present:
        made = zarr_core.empty_like(array, store=store, **layout, zarr_format=format_)
    else:
        made = zarr_core.create_array(
            store, **layout, dtype=array.metadata.data_type, fill_value=array.fill_value,
            zarr_format=format_, **candidate.options(),
        )  # fmt: skip
    data_type = make_extension("data_type", made.metadata.data_type)
    assert data_type is not None, "a data type is never left out"
    representation = ArrayRepresentation(
        shape, data_type, data_type.default_fill_value(), keep_empty=True
    )
    codecs = made.metadata.codecs
    return Trial(candidate, codecs, CodecChain.from_definitions(codecs).bind(representation))


def measure(
    trials: list[Trial],
    chunks: Sequence[NDArray],
    seconds: float,
    report: Callable[[int, int], object],
) -> Sequence[NDArray]:
    """Try all candidates on the same chunks, round after round.

    Parameters
    ----------
    trials : list of Trial
        Gets the results; those that fail, lose something or are much too slow get a problem.
    chunks : sequence of ndarray
        What to encode.
    seconds : float
        How long all may take; each is tried once in any case.
    report : callable
        Is told how much is done, of how much.

    Returns
    -------
    sequence of ndarray
        The chunks that were tried: fewer where time is short.
    """
    until = monotonic() + seconds
    total = len(trials) * (1 + ROUNDS)
    for number, each in enumerate(trials):  # to become warm, to learn how long it takes
        _once(each, chunks[:1])
        if _SLOWEST * seconds < each.lasted < seconds:
            _once(each, chunks[:1])  # perhaps its library had to be loaded
        report(number + 1, total)
    good = _fast_enough(trials, seconds)
    cost = sum(each.lasted for each in good)
    left = until - monotonic()
    if left < cost:
        return chunks[:1]  # what was found out so far has to do
    tried = chunks[: max(1, min(len(chunks), int(_FIRST * left / max(cost, 1e-9))))]
    for each in good:
        each.encoding.clear()
        each.decoding.clear()
    for round_ in range(ROUNDS):
        # All once; then as many as there is time for, those that take least first.
        share = (until - monotonic()) / (ROUNDS - round_)
        for number, each in enumerate(
            sorted(good, key=lambda each: each.lasted) if round_ else good
        ):
            if round_ and (share := share - each.lasted) < 0:
                break
            _once(each, tried)
            report(len(trials) * (1 + round_) + number + 1, total)
    return tried


def _fast_enough(trials: list[Trial], seconds: float) -> list[Trial]:
    """Those that work, without any that would take most of the time by itself."""
    good = [each for each in trials if not each.problem]
    for each in good:
        if each.lasted > _SLOWEST * seconds and not each.candidate.present:
            each.problem = "takes too long for the time that was given; see --seconds"
    return [each for each in good if not each.problem]


def _once(trial: Trial, chunks: Sequence[NDArray]) -> None:
    """Encode and decode chunks; note the time, or what is wrong."""
    memory = memoryview(bytearray(chunks[0].nbytes)) if chunks[0].dtype.kind not in "OT" else None
    out = np.empty(chunks[0].shape, chunks[0].dtype)
    encoding = decoding = 0.0
    nbytes, started = 0, monotonic()
    try:
        for chunk in chunks:
            begun = thread_time()
            pieces = trial.chain.encode(chunk, memory)
            encoding += thread_time() - begun
            assert pieces is not None, "empty chunks are kept"
            stored = _joined(pieces)
            nbytes += len(stored)
            begun = thread_time()
            trial.chain.decode_into(stored, out)
            decoding += thread_time() - begun
            if not (trial.encoding or trial.candidate.present or _same(chunk, out)):
                trial.problem = "loses something of these elements"
                return
    except (
        ValueError,
        TypeError,
        ArithmeticError,
        MemoryError,
        ZarrError,
    ) as error:
        trial.problem = str(error)
        return
    trial.lasted = monotonic() - started
    trial.nbytes = nbytes
    trial.encoding.append(encoding)
    trial.decoding.append(decoding)


def _joined(pieces: Any) -> bytes:
    if isinstance(pieces, bytes | bytearray | memoryview):
        return bytes(pieces)
    return b"".join(pieces)


def _same(one: NDArray, other: NDArray) -> bool:
    if one.dtype.kind in "OT":
        return bool(np.all(one == other))
    return one.tobytes() == other.tobytes()
