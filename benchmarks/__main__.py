"""The command: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import gc
import json
import platform
import re
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.cases import QUICK, every_case, measures_memory
from benchmarks.measure import take_peaks, take_times
from benchmarks.peers import OURS, installed
from benchmarks.report import as_json, as_markdown, as_text, table, verdict

RESULTS = Path(__file__).parent / "results"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a selection of cases, in less than two minutes"
    )
    parser.add_argument(
        "--only", metavar="PATTERN", help="cases whose name matches this regular expression"
    )
    parser.add_argument("--rounds", type=int, default=5, help="samples of each library (5)")
    parser.add_argument(
        "--libraries", metavar="NAMES", help="a comma-separated selection of libraries"
    )
    parser.add_argument("--no-memory", action="store_true", help="do not measure the peak memory")
    parser.add_argument("--wide", action="store_true", help="also show the time of every library")
    parser.add_argument(
        "--markdown", metavar="FILE", type=Path, help="write the table as Markdown, too"
    )
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write all measurements to this file (results/)"
    )
    parser.add_argument(
        "--directory", type=Path, help="directory for arrays (a temporary directory)"
    )
    parser.add_argument("--list", action="store_true", help="only print the names of the cases")
    return parser.parse_args()


def main() -> None:
    options = _arguments()
    cases = [case for case in every_case() if not options.quick or case.name in QUICK]
    cases = [case for case in cases if not options.only or re.search(options.only, case.name)]
    if options.list:
        print("\n".join(case.name for case in cases))
        return
    libraries, absent = installed()
    if options.libraries:
        libraries = [
            library for library in libraries if library.name in options.libraries.split(",")
        ]
    for name, reason in absent.items():
        print(f"without {name}: {reason}", file=sys.stderr)
    names = [library.name for library in libraries]
    atomic = frozenset(library.name for library in libraries if library.atomic)
    rounds = options.rounds
    gc.freeze()
    results = []
    start = time.perf_counter()
    if options.directory is not None:
        options.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="zarr-benchmark-", dir=options.directory) as scratch:
        for number, case in enumerate(cases, 1):
            if sys.stderr.isatty():
                print(
                    f"{number}/{len(cases)} {case.name}",
                    end="\033[K\r",
                    file=sys.stderr,
                    flush=True,
                )
            result = take_times(case, libraries, Path(scratch), rounds, seconds=0.2)
            if measures_memory(case) and not options.no_memory:
                take_peaks(result, names, Path(scratch))
            results.append(result)
            gc.collect()
    rows = table(results, atomic, options.wide)
    print(as_text(rows))
    print()
    for line in verdict(results, atomic):
        print(line)
    print(f"{time.perf_counter() - start:.0f} s, {rounds} rounds; {_environment()}")
    report = {"environment": _environment(), "rounds": rounds, "cases": as_json(results)}
    target = options.json or RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=1))
    if options.markdown:
        lines = [as_markdown(rows), "", *verdict(results, atomic), "", _environment(), ""]
        options.markdown.write_text("\n".join(lines))


def _environment() -> str:
    parts = [f"Python {platform.python_version()}"]
    for name in (OURS, "zarr", "zarrs", "zarrista", "tensorstore", "numpy", "numcodecs"):
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            parts.append(f"no {name}")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
