"""The tests of arrays in the core and of shards, with compiled code and without, and counted."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = {
    "zarr-core/test_array_selections.py": (1000, 0),
    "zarr-core/test_engine_read.py": (40, 4),
    "zarr-core/test_engine_write.py": (1000, 0),
    "zarr-sharding/test_codec.py": (8, 0),
}
"""Files, and the least numbers of stored objects that are read and written natively."""


@pytest.mark.slow
@pytest.mark.parametrize("native", ["auto", "off"])
@pytest.mark.parametrize("suite", SUITES)
def test_a_suite(suite, native):
    program = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*program, "-p", "native_counter", str(HERE.parent / suite)],
        cwd=HERE.parents[1],
        env={
            **{name: value for name, value in os.environ.items() if name != "ZARR_CORE_SHARE"},
            "ZARR_CORE_NATIVE": native,
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
        assert read >= SUITES[suite][0], done.stdout[-300:]
        assert written >= SUITES[suite][1], done.stdout[-300:]
