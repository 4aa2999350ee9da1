"""Compare version 2 with version 3: ``python -m benchmarks.formats``.

The same values with the same codecs in both formats, read by this library in both, and
in version 2 by the others.  zarr-python 2 cannot be installed beside zarr-python 3; it
works in a process of its own, whose interpreter ``ZARR_CORE_ZARR2_PYTHON`` names.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core

if TYPE_CHECKING:
    from collections.abc import Callable

    Action = Callable[[], object]

ROOT = Path(__file__).parents[1]
SHAPE = (2048, 2048)
CHUNKS = ((64, 64), (256, 256), (1024, 1024))
COMPRESSORS: dict[str, Any] = {
    "none": None,
    "lz4": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
    "zstd": {"id": "zstd", "level": 1},
    "gzip": {"id": "gzip", "level": 5},
}
OPERATIONS = ("open", "whole", "slab", "chunk")
SECONDS = 0.15

# Reads one operation per line from standard input, and prints the seconds of a repetition.
WORKER = """
import json, sys, time
import zarr
{timed}
for line in sys.stdin:
    order = json.loads(line)
    place, chunk = order["place"], order["chunk"]
    array = zarr.open_array(place, mode="r")
    action = {actions}[order["operation"]]
    print(timed(action), flush=True)
"""
TIMED = f"""
def timed(action):
    action()
    best, count, end = 1e9, 0, time.perf_counter() + {SECONDS}
    while count < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
        count += 1
    return best
"""
ACTIONS = """{
    "open": lambda: zarr.open_array(place, mode="r"),
    "whole": lambda: array[:],
    "slab": lambda: array[700:710, :],
    "chunk": lambda: array[chunk : 2 * chunk, chunk : 2 * chunk],
}"""


def timed(action: Action) -> float:
    """Return the seconds of the fastest repetition."""
    action()
    best, count, end = 1e9, 0, time.perf_counter() + SECONDS
    while count < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
        count += 1
    return best


def actions(opened: Callable[[], Any], read: Callable[[Any, Any], object], chunk: int) -> Any:
    """Return the operations of a library."""
    array = opened()
    return {
        "open": opened,
        "whole": lambda: read(array, (slice(None), slice(None))),
        "slab": lambda: read(array, (slice(700, 710), slice(None))),
        "chunk": lambda: read(array, (slice(chunk, 2 * chunk), slice(chunk, 2 * chunk))),
    }


def _timed_of(table: dict[str, Action], operation: str) -> float:
    return timed(table[operation])


class ZarrPython2:
    """zarr-python 2 in its own process."""

    def __init__(self, python: str) -> None:
        code = WORKER.format(timed=TIMED, actions=ACTIONS)
        self._process = subprocess.Popen(
            [python, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, operation: str, place: str, chunk: int) -> float:
        """Return the seconds of one repetition of an operation."""
        order = json.dumps({"operation": operation, "place": place, "chunk": chunk})
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(order, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def interpreter() -> str | None:
    """Return the Python interpreter with zarr-python 2, if there is one."""
    named = os.environ.get("ZARR_CORE_ZARR2_PYTHON")
    beside = ROOT / ".venv-zarr2" / "bin" / "python"
    return named or (str(beside) if beside.exists() else None)


def libraries(new: str, old: str, chunk: int, older: ZarrPython2 | None) -> dict[str, Any]:
    """Return, for each library, a function that measures an operation."""
    import tensorstore
    import zarr

    def with_tensorstore() -> Any:
        kvstore = {"driver": "file", "path": f"{old}/"}
        return tensorstore.open({"driver": "zarr", "kvstore": kvstore}, open=True).result()

    found: dict[str, Any] = {
        "v3": actions(lambda: zarr_core.open_array(new, mode="r"), lambda a, at: a[at], chunk),
        "v2": actions(lambda: zarr_core.open_array(old, mode="r"), lambda a, at: a[at], chunk),
        "zarr": actions(lambda: zarr.open_array(old, mode="r"), lambda a, at: a[at], chunk),
        "tensorstore": actions(with_tensorstore, lambda a, at: a[at].read().result(), chunk),
    }
    result: dict[str, Callable[[str], float]] = {
        name: partial(_timed_of, table) for name, table in found.items()
    }
    if older is not None:
        result["zarr 2"] = lambda operation: older.seconds(operation, old, chunk)
    return result


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown, too")
    options = parser.parse_args()
    python = interpreter()
    if python is None:
        print(
            "without zarr-python 2: ZARR_CORE_ZARR2_PYTHON is not an interpreter", file=sys.stderr
        )
    older = None if python is None else ZarrPython2(python)
    rng = np.random.default_rng(0)
    values = rng.integers(-3, 4, SHAPE).cumsum(axis=1).astype("int32")
    names = ["v2", "v3", "zarr", "tensorstore", *(["zarr 2"] if older else [])]
    rows = []
    with tempfile.TemporaryDirectory(prefix="zarr-benchmark-") as scratch:
        for label, compressor in COMPRESSORS.items():
            for chunks in CHUNKS:
                new, old = (f"{scratch}/{label}-{chunks[0]}.v{number}" for number in (3, 2))
                for place, number in ((new, 3), (old, 2)):
                    zarr_core.create_array(
                        place, data=values, chunks=chunks, compressors=compressor,
                        zarr_format=number,
                    )  # fmt: skip
                measures = libraries(new, old, chunks[0], older)
                for operation in OPERATIONS:
                    samples: dict[str, list[float]] = {name: [] for name in names}
                    for _ in range(options.rounds):
                        for name in names:
                            samples[name].append(measures[name](operation))
                    rows.append(
                        (
                            f"{operation} {label} {chunks[0]}",
                            {n: min(s) for n, s in samples.items()},
                        )
                    )
    if older is not None:
        older.close()
    text = report(rows, names)
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")


def report(rows: list[tuple[str, dict[str, float]]], names: list[str]) -> str:
    """Return the table as Markdown: times of version 2, and ratios to the others."""
    others = names[1:]
    lines = [
        "| case | v2, µs | " + " | ".join(f"/ {name}" for name in others) + " |",
        "|---|---:|" + "---:|" * len(others),
    ]
    for name, seconds in rows:
        ratios = " | ".join(f"{seconds['v2'] / seconds[other]:.2f}" for other in others)
        lines.append(f"| {name} | {1e6 * seconds['v2']:.0f} | {ratios} |")
    middle = " | ".join(
        f"{median(seconds['v2'] / seconds[other] for _, seconds in rows):.2f}" for other in others
    )
    lines.append(f"| *middle* | | {middle} |")
    versions = ", ".join(f"{name} {version(name)}" for name in ("zarr", "tensorstore", "numcodecs"))
    return "\n".join([*lines, "", versions])


if __name__ == "__main__":
    main()
