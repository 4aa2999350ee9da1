"""Measure the time or the peak memory of one case."""

from __future__ import annotations

import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.peers import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.peers import Library


_LONGEST = 10.0
"""Maximum seconds for one case, except for the first three rounds."""


@dataclass(slots=True)
class Result:
    """Measurements of one case."""

    case: Case
    samples: dict[str, list[float]] = field(default_factory=dict)
    """Seconds of one operation, for each library and round."""
    peaks: dict[str, float] = field(default_factory=dict)
    """Additional bytes during the operation."""
    skipped: dict[str, str] = field(default_factory=dict)

    def seconds(self, name: str) -> float:
        return statistics.median(self.samples[name])

    def ratio(self, name: str, to: str) -> float:
        """Return the median of the ratios of each round."""
        pairs = zip(self.samples[name], self.samples[to], strict=True)
        return statistics.median(a / b for a, b in pairs)


@dataclass(slots=True)
class _Contender:
    """One library that runs one case."""

    library: Library
    once: Callable[[], object]
    """Does the operation ``count`` times."""
    count: int
    prepare: Callable[[], None] | None = None
    repeats: int = 1

    def sample(self) -> float:
        """Return the seconds of one operation, averaged over ``repeats`` calls of ``once``."""
        spent = 0.0
        with self.library.active():
            if self.prepare is None:
                start = time.perf_counter()
                for _ in range(self.repeats):
                    self.once()
                spent = time.perf_counter() - start
            else:
                for _ in range(self.repeats):
                    self.prepare()
                    start = time.perf_counter()
                    self.once()
                    spent += time.perf_counter() - start
        return spent / (self.repeats * self.count)


class WrongValuesError(Exception):
    """A library returned values that differ from the written ones."""


def take_times(
    case: Case, libraries: Sequence[Library], directory: Path, rounds: int, seconds: float
) -> Result:
    """Measure a case with every library in turn, the order rotated from round to round.

    Parameters
    ----------
    directory : Path
        Where arrays may be written; those that are read stay for further cases.
    rounds : int
        Number of rounds, each of which gives every library one sample.
    seconds : float
        Time that each library should get in all, where one operation is faster than that.
    """
    result = Result(case)
    stored = _store(case, directory, libraries)
    contenders = []
    once = 0.0
    for library in libraries:
        if reason := library.lacks(case):
            result.skipped[library.name] = reason
            continue
        with library.active():
            contender = _contender(case, library, stored, directory)
        contenders.append(contender)
        result.samples[library.name] = []
        spent = contender.sample()  # also starts threads, imports what is lazy, fills caches
        if spent < seconds:
            spent = contender.sample()
        spent *= contender.count
        contender.repeats = max(1, math.ceil(seconds / rounds / spent))
        once += spent * contender.repeats
    if once:  # cases that take seconds get fewer rounds
        rounds = max(3, min(rounds, int(_LONGEST / once)))
    for turn in range(rounds):
        start = turn % max(1, len(contenders))
        for contender in contenders[start:] + contenders[:start]:
            result.samples[contender.library.name].append(contender.sample())
    for contender in contenders:
        shutil.rmtree(directory / f"written-by-{contender.library.name}", ignore_errors=True)
    return result


def _store(case: Case, directory: Path, libraries: Sequence[Library]) -> Path:
    """Write the array that all libraries read, unless an earlier case wrote it."""
    layout = "shard" if case.sharded else "plain"
    place = directory / f"{case.ndim}d-{case.chunk}-{case.codec}-{layout}"
    if not place.exists():
        _empty(case, place)
        writer = next(library for library in libraries if library.atomic)
        writer.write(writer.open(place), case.data())
    return place


def _empty(case: Case, place: Path) -> None:
    place.mkdir()
    (place / "zarr.json").write_bytes(case.document)


def _contender(case: Case, library: Library, stored: Path, directory: Path) -> _Contender:
    if case.writes:
        return _writer(case, library, directory)
    place: Any = stored if case.place == "disk" else library.memory(_values(stored))
    if case.operation == "open":
        _check(case, library, library.read(library.open(place), ...), case.data())
        return _Contender(library, lambda: library.open(place), 1)
    array = library.open(place)
    selections = case.selections()
    read = library.points if case.operation == "points" else library.read
    for selection in selections:
        _check(case, library, read(array, selection), case.data()[selection])

    def once() -> None:
        for selection in selections:
            read(array, selection)

    return _Contender(library, once, len(selections))


def _writer(case: Case, library: Library, directory: Path) -> _Contender:
    """Return a function that writes to an empty array, or overwrites one for ``rewrite``."""
    value = case.data()
    current: list[Any] = [None]

    if case.place == "memory":

        def prepare() -> None:
            current[0] = library.open(library.memory({"zarr.json": case.document}))

    else:
        place = directory / f"written-by-{library.name}"
        shutil.rmtree(place, ignore_errors=True)
        _empty(case, place)
        current[0] = library.open(place)

        def prepare() -> None:
            shutil.rmtree(place / "c", ignore_errors=True)

    def once() -> None:
        library.write(current[0], value)

    prepare()
    once()
    array = current[0] if case.place == "memory" else library.open(place)
    _check(case, library, library.read(array, ...), value)
    return _Contender(library, once, 1, None if case.operation == "rewrite" else prepare)


def _values(directory: Path) -> Mapping[str, bytes]:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def _check(case: Case, library: Library, got: np.ndarray, expected: np.ndarray) -> None:
    if not np.array_equal(got, expected):
        raise WrongValuesError(f"{library.name} gives wrong values in {case.name!r}")


def take_peaks(result: Result, names: Sequence[str], directory: Path) -> None:
    """Measure the peak memory of a case, each library in a new process.

    The array must be in ``directory``, where :func:`take_times` leaves it.
    """
    case = result.case
    layout = "shard" if case.sharded else "plain"
    stored = directory / f"{case.ndim}d-{case.chunk}-{case.codec}-{layout}"
    for name in names:
        if name in result.samples:
            values = [
                name,
                case.operation,
                str(case.ndim),
                case.chunk,
                case.codec,
                layout,
                str(stored),
            ]
            command = [sys.executable, "-m", "benchmarks.measure", *values]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            result.peaks[name] = json.loads(answer.stdout)


def _peak(arguments: Sequence[str]) -> float:
    """Return the additional peak memory of this process during one operation."""
    name, operation, ndim, chunk, codec, layout, stored = arguments
    case = Case(operation, int(ndim), chunk, codec, layout == "shard", "disk")  # type: ignore[arg-type] # our own words
    library = LIBRARIES[name]()
    with library.active(), tempfile.TemporaryDirectory(dir=Path(stored).parent) as scratch:
        if case.writes:
            value = case.data().copy()
            _empty(case, place := Path(scratch) / "array")
        array = library.open(place if case.writes else Path(stored))
        before = _resident("VmRSS")
        # Reset the peak, which includes the preparation.
        Path("/proc/self/clear_refs").write_text("5")
        if case.writes:
            library.write(array, value)
        else:
            kept = library.read(array, ...)
            assert kept.shape == case.shape
        return _resident("VmHWM") - before


def _resident(which: str) -> float:
    """Return a line of ``/proc/self/status`` in bytes.

    ``ru_maxrss`` will not do: a child process inherits its parent's.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(which):
            return float(line.split()[1]) * 1024
    raise LookupError(which)


if __name__ == "__main__":
    print(json.dumps(_peak(sys.argv[1:])))
