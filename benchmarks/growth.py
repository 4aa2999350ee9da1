"""How costs grow: ``python -m benchmarks.growth [--only PATTERN] [--markdown FILE]``.

Every axis covers about three decades.  The processor time of all threads is measured, so that
other processes do not matter much; the libraries take turns, and the least time counts.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import re
import shutil
import sys
import tempfile
import time
import tracemalloc
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.growth_cases import AXES, OURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.growth_cases import Axis, Operation

EXPONENT = 1.15
"""Largest exponent of our time."""
RATIO = 1.5
"""Largest ratio of our time to that of the fastest peer, for the largest size."""
_ROUNDS = 3
_ENOUGH = 0.02
"""Seconds of one sample; faster operations are repeated."""
_SLOW = 0.2
"""Seconds of one sample above which there are fewer rounds."""
_LONGEST = 1.5
"""Expected seconds of one sample above which a library does not get a size."""


@dataclass(slots=True)
class Growth:
    """Measurements along one axis."""

    axis: Axis
    seconds: dict[str, dict[int, float]] = field(default_factory=dict)
    """Library -> size -> processor time."""
    peaks: dict[int, int] = field(default_factory=dict)
    """Size -> bytes that our operation allocates at most, with its result."""

    def exponent(self) -> float:
        """Return the slope of log time over log size, of the largest three sizes."""
        used = sorted(self.seconds[OURS].items())[-3:]
        x = [math.log(n) for n, _ in used]
        y = [math.log(t) for _, t in used]
        mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
        above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        return above / sum((a - mean_x) ** 2 for a in x)

    def best_peer(self) -> tuple[str, float, int] | None:
        """Return the fastest peer at the largest common size, our ratio to it, and that size."""
        ours = self.seconds[OURS]
        peers = {name: found for name, found in self.seconds.items() if name != OURS}
        common = [size for size in ours if any(size in found for found in peers.values())]
        if not common:
            return None
        size = max(common)
        name = min((n for n in peers if size in peers[n]), key=lambda n: peers[n][size])
        return name, ours[size] / peers[name][size], size

    def bytes_per_unit(self) -> float:
        """Return the additional bytes for each additional unit."""
        (small, less), (large, more) = sorted(self.peaks.items())[-2:]
        return (more - less) / (large - small)


def _clock(child: bool) -> float:
    if not child:
        return time.process_time()
    times = os.times()
    return times.children_user + times.children_system


def _sample(operation: Operation) -> float:
    """Return the processor seconds of one call."""
    calls, spent = 0, 0.0
    until = time.perf_counter() + _ENOUGH * 5  # preparing may take longer than what is measured
    while not calls or (spent < _ENOUGH and time.perf_counter() < until):
        if operation.prepare is not None:
            operation.prepare()
        start = _clock(operation.child)
        result = operation.run()
        spent += _clock(operation.child) - start
        calls += 1
        del result
    return spent / calls


def _peak(operation: Operation) -> int:
    if operation.prepare is not None:
        operation.prepare()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = operation.run()
        peak = tracemalloc.get_traced_memory()[1] - before
        del result
        return peak
    finally:
        tracemalloc.stop()


def _expected(found: dict[int, float], size: int) -> float:
    """Return the expected seconds for a size, from those of smaller sizes."""
    known = sorted(found.items())[-2:]
    if not known:
        return 0.0
    (last, seconds), slope = known[-1], 1.0
    if len(known) > 1:
        (less, before), _ = known
        slope = max(0.0, math.log(seconds / before) / math.log(last / less))
    growth: float = (size / last) ** slope
    return seconds * growth


def measure(axis: Axis, directory: Path) -> Growth:
    """Measure one axis.

    Parameters
    ----------
    axis : Axis
        The axis.
    directory : Path
        An empty directory.
    """
    growth = Growth(axis)
    for size in axis.sizes:
        place = directory / str(size)
        place.mkdir()
        operations = axis.make(size, place)
        names = [
            name
            for name in operations
            if name == OURS
            or operations[name].child  # mostly the time of its start
            or _expected(growth.seconds.get(name, {}), size) < _LONGEST
        ]
        found: dict[str, list[float]] = {name: [] for name in names}
        # The first samples include imports and the start of threads; they count if they are slow.
        for name in names:
            found[name].append(_sample(operations[name]))
        for turn in range(_ROUNDS if max(map(min, found.values())) < _SLOW else 1):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                found[name].append(_sample(operations[name]))
        for name in names:
            growth.seconds.setdefault(name, {})[size] = min(found[name])
        if OURS in names and not operations[OURS].child:
            growth.peaks[size] = _peak(operations[OURS])
        shutil.rmtree(place, ignore_errors=True)
    return growth


HEADING = ["operation", "grows", "sizes", "ours", "exponent", "best peer", "to it", "bytes a unit"]


def row(growth: Growth) -> list[str]:
    """Return one row of the table."""
    ours = growth.seconds[OURS]
    sizes = [f"{size:.0e}".replace("e+0", "e") for size in (min(ours), max(ours))]
    exponent = growth.exponent()
    peer = growth.best_peer()
    cells = [
        growth.axis.name,
        growth.axis.unit,
        " to ".join(sizes),
        _time(ours[max(ours)]),
        f"{exponent:.2f}{'!' * (exponent > EXPONENT)}",
    ]
    if peer is None:
        cells += ["", ""]
    else:
        name, ratio, size = peer
        at = "" if size == max(ours) else f" at {size:.0e}".replace("e+0", "e")
        cells += [name, f"{ratio:.2f}{'!' * (ratio > RATIO)}{at}"]
    cells.append(f"{growth.bytes_per_unit():.0f}" if len(growth.peaks) > 1 else "")
    return cells


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.1f} us"


def _as_text(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in rows
    )


def _as_markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ["| " + " | ".join(cells) + " |" for cells in rows]
    rule = "|" + "---|" * 3 + "---:|" * 2 + "---|" + "---:|" * 2
    return "\n".join([head, rule, *body, ""])


def main() -> None:
    """Measure all axes and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", help="axes whose name matches")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table there")
    parser.add_argument("--directory", type=Path, help="directory for arrays (temporary)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of zarr-python, about consolidated metadata
    rows = [HEADING]
    start = time.perf_counter()
    for axis in AXES:
        if options.only and not re.search(options.only, f"{axis.name}, {axis.unit}"):
            continue
        with tempfile.TemporaryDirectory(prefix="growth-", dir=options.directory) as place:
            rows.append(row(measure(axis, Path(place))))
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    print(_as_text(rows))
    print(f"{time.perf_counter() - start:.0f} s")
    if options.markdown:
        options.markdown.write_text(_as_markdown(rows))


if __name__ == "__main__":
    main()
