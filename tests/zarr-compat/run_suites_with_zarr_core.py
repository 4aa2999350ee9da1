"""A pytest plugin that runs the tests of xarray or Dask with this library as ``zarr``.

``python -m zarr_compat -m pytest -p run_suites_with_zarr_core --pyargs xarray.tests.test_backends -k Zarr``
with this directory on the path.  What is known to fail, and why, is in ``expected_failures.json``: it
must fail.  ``ONE_OF`` in the environment is a number: of so many tests one is run, always the
same.  What xarray's conftest.py does, which is not installed with its tests, is done here:
tests are left out for parameters that they are not meant for, coroutines are run.
"""

import asyncio
import inspect
import json
import os
import re
import zlib
from pathlib import Path

import pytest

SUITES = json.loads((Path(__file__).parent / "expected_failures.json").read_text())
EXPECTED_FAILURES = {
    pattern: reason for suite in SUITES.values() for pattern, reason in suite.items()
}


def pytest_configure(config):
    config.addinivalue_line("markers", "skip_if_param(reason, condition, **params): not for these")


def pytest_collection_modifyitems(items):
    one_of = int(os.environ.get("ONE_OF", "1"))
    items[:] = [item for item in items if zlib.crc32(item.name.encode()) % one_of == 0]
    for item in items:
        for mark in item.iter_markers("skip_if_param"):
            options = dict(mark.kwargs)
            reason, condition = options.pop("reason", ""), options.pop("condition", True)
            params = getattr(getattr(item, "callspec", None), "params", {})
            if condition and all(params.get(name) == value for name, value in options.items()):
                item.add_marker(pytest.mark.skip(reason=reason))
        for pattern, reason in EXPECTED_FAILURES.items():
            if re.search(pattern, item.nodeid):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, monkeypatch):
    """Some tests write to the current directory, where others would find it."""
    monkeypatch.chdir(tmp_path)


def pytest_pyfunc_call(pyfuncitem):
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
