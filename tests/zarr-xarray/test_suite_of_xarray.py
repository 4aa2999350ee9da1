"""xarray's own tests of Zarr, with everything read or written by zarr-core."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zarr", "3.1")

EXPLAINED = {
    # Version 3 reserves names that begin with "__"; xarray calls a variable "__values__".
    "test_roundtrip_None_variable",
    # Groups without consolidated metadata are no reason to warn.
    "test_read_non_consolidated_warning",
    "test_to_zarr_not_consolidated",
    # Codecs in encodings are definitions here, not objects of zarr-python.
    "test_compressor_encoding",
    "test_zarr_encoding",
    # The message names the variable, and where in its attributes the value is.
    "test_attributes",
    # Insides of xarray's own store, calls of zarr-python.
    "test_cache_members",
    "test_avoid_excess_metadata_calls",
    # Two of them take it for granted that use_zarr_fill_value_as_mask is ignored.
    "test_zarr_fill_value_setting",
    "test_zarr_fill_value_in_encoding_on_read",
    # Where version 2 gives no fill value, chunks of zeros are stored, as it wants.
    "test_to_zarr_compute_false",
    # These look for attributes that zarr-python does not have in all its releases.
    "test_hidden_zarr_keys",
    "test_dimension_names",
    # Coroutines, for which pytest needs a plugin.
    "test_load_async",
    "test_indexing",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "chosen", "at_least"),
    [
        ("test_backends", "TestZarrDirectoryStore", 300),
        ("test_backends_datatree", "TestZarrDatatreeIO", 20),
    ],
)
def test_all_failures_are_explained(tmp_path, module, chosen, at_least):
    run = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "redirected", "-p", "no:cacheprovider",
            "-c", os.devnull, "--rootdir", tmp_path, "--pyargs", f"xarray.tests.{module}",
            "-k", chosen,
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    failed = re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", run.stdout, re.MULTILINE)
    assert set(failed) <= EXPLAINED, run.stdout[-5000:]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed, run.stdout[-5000:] + run.stderr
    assert int(passed[1]) >= at_least
