"""Measure the packages, disk space, memory and time of selective installations.

Build the wheels of this workspace, install each set into an empty environment, and print a
table in Markdown.  ``python scripts/measure_installs.py [--python PYTHON] [--runs N] [FOLDER]``; the
folder keeps the environments.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from build_wheels import build

READS = {
    "zarr_core": "import zarr_core; zarr_core.open({path!r}, mode='r')[0]",
    "zarr": "import zarr; zarr.open({path!r}, mode='r')[0]",
    "tensorstore": "import tensorstore as ts; ts.open({{'driver': 'zarr3', 'kvstore': "
    "{{'driver': 'file', 'path': {path!r}}}}}).result()[0].read().result()",
}
"""A program for each library that reads one element of an uncompressed array."""
SETS = {
    "core only": ("zarr_core", ["zarr-core"]),
    "version 3 as written by other libraries": (
        "zarr_core",
        ["zarr-core", "zarr-codecs", "zarr-sharding"],
    ),
    "the same, and S3": (
        "zarr_core",
        ["zarr-core", "zarr-codecs", "zarr-sharding", "zarr-stores[object]"],
    ),
    "all formats and data types": (
        "zarr_core",
        ["zarr-core", "zarr-codecs", "zarr-sharding", "zarr-formats", "zarr-dtypes", "zarr-grids"],
    ),
    "everything in a directory": ("zarr_core", ["zarr-core[recommended]"]),
    "the command line": ("zarr_core", ["zarr-core[recommended]", "zarr-cli"]),
    "databases and archives": ("zarr_core", ["zarr-core[recommended]", "zarr-stores"]),
    "xarray": ("zarr_core", ["zarr-core[recommended]", "zarr-xarray"]),
    "Dask": ("zarr_core", ["zarr-core[recommended]", "zarr-dask"]),
    "HDF5": ("zarr_core", ["zarr-core[recommended]", "zarr-import[hdf5]"]),
    "all distributions": ("zarr_core", ["zarr-core[complete]"]),
    "zarr-python": ("zarr", ["zarr"]),
    "tensorstore": ("tensorstore", ["tensorstore"]),
}
MAKE = """
import numpy, zarr_core
zarr_core.create_array({path!r}, data=numpy.arange(1000.0), chunks=100, compressors=None)
"""
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet")

LOOK = """
import json, sys
from importlib.metadata import distributions
from pathlib import Path
names = sorted(each.name for each in distributions() if each.name not in ("pip", "setuptools"))
files = [
    Path(each.locate_file(file))
    for each in distributions() if each.name not in ("pip", "setuptools")
    for file in each.files or () if not str(file).endswith(".pyc")
]
print(json.dumps([names, sum(file.stat().st_size for file in files if file.is_file())]))
"""


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        wheels = folder / "wheels"
        build(wheels)
        print("| | packages | on disk | import | import and read an element | peak memory |")
        print("|---|---|---|---|---|---|")
        array = folder / "array.zarr"
        if not array.exists():
            run(sys.executable, "-c", MAKE.format(path=str(array)))
        for number, (what, (module, wanted)) in enumerate(SETS.items()):
            home = folder / f"set-{number}"
            python = home / "bin" / "python"
            if not python.exists():
                run(asked.python, "-m", "venv", home)
                run(python, *PIP, "install", "--find-links", wheels, *wanted)
            names, size = json.loads(run(python, "-c", LOOK))
            reads = READS[module].format(path=str(array))
            programs = ("pass", f"import {module}", reads)
            (bare, _), (imported, _), (read, memory) = usage(python, asked.runs, *programs)
            print(
                f"| {what}: {', '.join(f'`{each}`' for each in wanted)} | {len(names)} "
                f"| {size / 1e6:.0f} MB | {1e3 * (imported - bare):.0f} ms "
                f"| {1e3 * (read - bare):.0f} ms | {memory / 1e6:.0f} MB |",
                flush=True,
            )
    return 0


def usage(python: Path, runs: int, *programs: str) -> list[tuple[float, float]]:
    """Return the median processor time in seconds and peak memory in bytes of each program."""
    told = (
        "import resource, sys; use = resource.getrusage(resource.RUSAGE_SELF); "
        "print(use.ru_utime + use.ru_stime, use.ru_maxrss * (1 if sys.platform == 'darwin' else 1024))"
    )
    found: list[list[list[float]]] = [[] for _ in programs]
    for _ in range(runs):
        for program, results in zip(programs, found, strict=True):
            printed = run(python, "-c", f"{program}\n{told}")
            results.append([float(text) for text in printed.split()])
    medians = [[statistics.median(each) for each in zip(*it, strict=True)] for it in found]
    return [(seconds, memory) for seconds, memory in medians]


def run(*command: object) -> str:
    """Return the output of a command."""
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
