"""xarray's own tests of Zarr, run with zarr-core."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zarr", "3.1")

# One test in SAMPLE is run; all of them with WHOLE=1 in the environment.
SAMPLE = 6
WHOLE = "ZARR_CORE_WHOLE_XARRAY_SUITE"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_xarray_suite_passes_except_expected_failures(tmp_path):
    one_of = 1 if os.environ.get(WHOLE) else SAMPLE
    run = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "redirect_to_zarr_core", "-p", "no:cacheprovider",
            "-c", os.devnull, "--rootdir", tmp_path, "--tb=short", "--disable-warnings", "--pyargs",
            "xarray.tests.test_backends", "xarray.tests.test_backends_datatree", "-k", "Zarr",
        ],
        env={
            **os.environ, "PYTHONPATH": str(Path(__file__).parent), "ONE_OF": str(one_of)
        },
        cwd=tmp_path, capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-1000:]
    counts = dict(reversed(word.split()[:2]) for word in run.stdout.splitlines()[-1].split(", "))
    assert int(counts["passed"]) >= 1200 // one_of
