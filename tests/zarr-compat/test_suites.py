"""The Zarr tests of xarray and Dask, run with this library as ``zarr``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXPECTED_FAILURES = json.loads((HERE / "expected_failures.json").read_text())

# One of n tests of xarray is run; all tests with WHOLE=1 in the environment.
SAMPLE = 6
WHOLE = "ZARR_CORE_WHOLE_SUITES"

DASK = ["dask.array.tests.test_array_core"]
MORE_OF_DASK = ["dask.tests.test_distributed", "dask.tests.test_order"]
XARRAY = ["xarray.tests.test_backends", "xarray.tests.test_backends_datatree"]


def run(modules, chosen, one_of, cwd):
    run = subprocess.run(
        [
            sys.executable, "-m", "zarr_compat", "-m", "pytest", "-q", "-p", "run_suites_with_zarr_core",
            "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", cwd, "--tb=short",
            "--disable-warnings", "--pyargs", *modules, "-k", chosen,
        ],
        env=os.environ | {"PYTHONPATH": str(HERE), "ONE_OF": str(one_of)},
        cwd=cwd, capture_output=True, text=True, timeout=1500, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-1000:]
    counts = dict(reversed(word.split()[:2]) for word in run.stdout.splitlines()[-1].split(", "))
    return int(counts["passed"])


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_dask_suite_passes_except_expected_failures(tmp_path):
    pytest.importorskip("dask")
    whole = bool(os.environ.get(WHOLE))
    assert run([*DASK, *MORE_OF_DASK * whole], "zarr", 1, tmp_path) >= 30


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_xarray_suite_passes_except_expected_failures(tmp_path):
    pytest.importorskip("xarray")
    one_of = 1 if os.environ.get(WHOLE) else SAMPLE
    assert run(XARRAY, "Zarr or zarr", one_of, tmp_path) >= 1500 // one_of * 0.9


def test_reasons_are_sentences():
    for reasons in EXPECTED_FAILURES.values():
        assert all(reason.endswith(".") for reason in reasons.values())
