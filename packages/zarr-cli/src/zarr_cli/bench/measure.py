"""Measurement of the size and speed of codecs in one thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.engine.chain import CodecChain
from zarr_core.extension import ArrayRepresentation, ZarrError, create_extension

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core import Array
    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import ExtensionDefinition

    from zarr_cli.bench.candidates import Candidate

    NDArray = np.ndarray[Any, Any]

ROUNDS = 9
"""The maximum number of rounds."""

_FIRST = 0.4  # maximum fraction of the time for the first round
_SLOWEST = 0.15  # maximum fraction of the time for one chunk


@dataclass(slots=True)
class Trial:
    """One candidate and its measurements; ``chain`` encodes a chunk."""

    candidate: Candidate
    definitions: tuple[ExtensionDefinition, ...]
    chain: PreparedCodecChain
    nbytes: int = 0
    """The number of bytes of the encoded chunks."""
    encoding: list[float] = field(default_factory=list)
    decoding: list[float] = field(default_factory=list)
    """Seconds of processor time for all chunks, per round."""
    elapsed: float = 0.0
    """Seconds of wall time of the last round."""
    problem: str = ""
    """Why the candidate is excluded; empty if it is not."""

    @property
    def encode_seconds(self) -> float:
        """The median time to encode."""
        return median(self.encoding)

    @property
    def decode_seconds(self) -> float:
        """The median time to decode."""
        return median(self.decoding)


def prepare_trial(
    array: Array, shape: tuple[int, ...], format_: str, candidate: Candidate
) -> Trial:
    """Prepare codecs for the chunks of an array."""
    layout: dict[str, Any] = {"shape": shape, "chunks": shape, "shards": None}
    store = zarr_core.MemoryStore()
    if candidate.present:
        target = zarr_core.empty_like(array, store=store, **layout, zarr_format=format_)
    else:
        target = zarr_core.create_array(
            store, **layout, dtype=array.metadata.data_type, fill_value=array.fill_value,
            zarr_format=format_, **candidate.options(),
        )  # fmt: skip
    data_type = create_extension("data_type", target.metadata.data_type)
    assert data_type is not None, "data types are never ignored"
    representation = ArrayRepresentation(
        shape, data_type, data_type.default_fill_value(), write_empty_chunks=True
    )
    codecs = target.metadata.codecs
    return Trial(candidate, codecs, CodecChain.from_definitions(codecs).prepare(representation))


def measure(
    trials: list[Trial],
    chunks: Sequence[NDArray],
    seconds: float,
    report: Callable[[int, int], object],
) -> Sequence[NDArray]:
    """Measure all candidates on the same chunks, in several rounds; return the chunks that were used.

    Each candidate is measured at least once; ``problem`` is set if it fails, is lossy or too slow.
    """
    until = monotonic() + seconds
    total = len(trials) * (1 + ROUNDS)
    for number, each in enumerate(trials):  # warm up and estimate the time
        _measure_once(each, chunks[:1])
        if each.elapsed > _SLOWEST * seconds:
            _measure_once(each, chunks[:1])  # the first time may include loading a library
        if each.elapsed > _SLOWEST * seconds and not each.candidate.present:
            each.problem = "takes too long for the time limit; increase --seconds"
        report(number + 1, total)
    usable = [each for each in trials if not each.problem]
    cost = sum(each.elapsed for each in usable)
    left = until - monotonic()
    if left < cost:
        return chunks[:1]  # no time for more rounds
    tried = chunks[: max(1, min(len(chunks), int(_FIRST * left / max(cost, 1e-9))))]
    for each in usable:
        each.encoding.clear()
        each.decoding.clear()
    for number, each in enumerate(usable * ROUNDS):
        if number >= len(usable) and monotonic() > until:
            break
        _measure_once(each, tried)
        report(len(trials) + number + 1, total)
    return tried


def _measure_once(trial: Trial, chunks: Sequence[NDArray]) -> None:
    """Encode and decode chunks; record the time or the problem."""
    memory = memoryview(bytearray(chunks[0].nbytes)) if chunks[0].dtype.kind not in "OT" else None
    out = np.empty(chunks[0].shape, chunks[0].dtype)
    encoding = decoding = 0.0
    nbytes, started = 0, monotonic()
    try:
        for chunk in chunks:
            start = thread_time()
            buffers = trial.chain.encode(chunk, memory)
            encoding += thread_time() - start
            assert buffers is not None, "empty chunks are encoded"
            stored = _join(buffers)
            nbytes += len(stored)
            start = thread_time()
            trial.chain.decode_into(stored, out)
            decoding += thread_time() - start
            if not (trial.encoding or trial.candidate.present or _same(chunk, out)):
                trial.problem = "is lossy for these elements"
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
    trial.elapsed = monotonic() - started
    trial.nbytes = nbytes
    trial.encoding.append(encoding)
    trial.decoding.append(decoding)


def _join(buffers: Any) -> bytes:
    if isinstance(buffers, bytes | bytearray | memoryview):
        return bytes(buffers)
    return b"".join(buffers)


def _same(one: NDArray, other: NDArray) -> bool:
    if one.dtype.kind in "OT":
        return bool(np.all(one == other))
    return one.tobytes() == other.tobytes()
