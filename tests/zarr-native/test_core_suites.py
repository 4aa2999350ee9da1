"""The tests of arrays in the core and of shards, with compiled code and without, and counted."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = {
    ("zarr-core/test_array_selections.py", "memory"): (2000, 80),
    ("zarr-core/test_engine_read.py", "memory"): (40, 40),
    ("zarr-core/test_engine_write.py", "memory"): (5000, 0),
    ("zarr-transfer/test_same_location.py", "memory"): (0, 8),
    ("zarr-core/test_resize.py", "memory"): (1000, 500),
    ("zarr-sharding/test_codec.py", "memory"): (8, 0),
    ("zarr-sharding/test_writer.py", "memory"): (8, 1),
    ("zarr-core/test_array.py", "directories"): (5000, 20),
    ("zarr-core/test_engine_write.py", "directories"): (3000, 1),
    ("zarr-sharding/test_codec.py", "directories"): (8, 0),
}
"""Files, where arrays without a store are, and the least numbers of stored objects that are read and
written natively.  The tests of zarr-codecs call codecs without arrays; test_codecs.py compares these."""
ONLY_IN_MEMORY = "test_memory_that_can_be_written_to_does_not_pickle"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "place", "native"),
    [
        *((*which, "auto") for which in SUITES),
        *((*which, "off") for which in SUITES if which[1] == "directories"),
    ],
)
def test_a_suite(suite, place, native):
    program = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*program, "-p", "native_counter", "-k", f"not {ONLY_IN_MEMORY}", str(HERE.parent / suite)],
        cwd=HERE.parents[1],
        env={
            **{name: value for name, value in os.environ.items() if name != "ZARR_CORE_SHARE"},
            "ZARR_CORE_NATIVE": native,
            "ZARR_NATIVE_DIRECTORIES": "1" if place == "directories" else "",
            "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    read, written = map(int, re.search(r"native: (\d+) read, (\d+) written", done.stdout).groups())
    if native == "off":
        assert (read, written) == (0, 0)
    else:  # otherwise it silently did nothing
        assert read >= SUITES[suite, place][0], done.stdout[-300:]
        assert written >= SUITES[suite, place][1], done.stdout[-300:]
