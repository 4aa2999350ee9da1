"""The tests that xarray and Dask have for Zarr, run with this library under the name zarr.

``ZARR_CORE_WHOLE_SUITES=1`` runs all of them, which takes some minutes, in place of a sample.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXPLAINED = json.loads((HERE / "explained.json").read_text())
WHOLE = "ZARR_CORE_WHOLE_SUITES"

SUITES = {
    "dask": (["dask.array.tests.test_array_core"], "zarr", 30),
    "xarray": (["xarray.tests.test_backends"], "TestZarrDictStore or TestNCZarr", 280),
}
WHOLES = {
    "dask": (
        [
            "dask.array.tests.test_array_core",
            "dask.tests.test_distributed",
            "dask.tests.test_graph_manipulation",
            "dask.tests.test_order",
        ],
        "zarr",
        34,
    ),
    "xarray": (
        ["xarray.tests.test_backends", "xarray.tests.test_backends_datatree"],
        "Zarr or zarr",
        1500,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SUITES)
def test_all_failures_are_explained(name, tmp_path):
    pytest.importorskip(name)
    modules, chosen, at_least = (WHOLES if os.environ.get(WHOLE) else SUITES)[name]
    run = subprocess.run(
        [
            sys.executable, "-m", "zarr_compat", "-m", "pytest", "-q", "-p", "as_xarray_runs_them",
            "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tmp_path, "--tb=line",
            "--pyargs", *modules, "-k", chosen,
        ],
        env=os.environ | {"PYTHONPATH": str(HERE)},
        cwd=tmp_path, capture_output=True, text=True, timeout=1500, check=False,
    )  # fmt: skip
    failed = re.findall(r"^(?:FAILED|ERROR) \S*::(\w+)", run.stdout, re.MULTILINE)
    assert set(failed) <= EXPLAINED[name].keys(), run.stdout[-5000:]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed, run.stdout[-5000:] + run.stderr
    assert int(passed[1]) >= at_least


def test_explanations_are_sentences():
    for reasons in EXPLAINED.values():
        assert all(reason.endswith(".") for reason in reasons.values())
