"""Runs the test kit on an extension with a planted mistake, in this process."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

import hypothesis

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

# pytester removes the modules that a run imported. The next run would import them again and get
# other classes than the existing ones, so all modules are imported before.
for _package in (
    "zarr_core",
    "zarr_codecs",
    "zarr_conformance.kit",
    "zarr_dtypes",
    "zarr_formats",
    "zarr_grids",
    "zarr_sharding",
):
    for _module in walk_packages(import_module(_package).__path__, f"{_package}."):
        import_module(_module.name)


def failed_tests(pytester: pytest.Pytester, test: Path, package: str, only: str) -> set[str]:
    """Names of the selected tests in a file that fail.

    Parameters
    ----------
    test, package
        The file, and the package that it tests, whose modules are removed afterwards.
    only : str
        Part of the names of tests; empty for all.
    """
    before = hypothesis.settings.default
    # The first failing example is sufficient, and must be the same one in every run.
    quick = hypothesis.settings(before, phases=[hypothesis.Phase.generate], derandomize=True)
    hypothesis.settings.register_profile("quick", quick)
    hypothesis.settings.register_profile("before", before)
    hypothesis.settings.load_profile("quick")
    try:
        run = pytester.inline_run(str(test), "-q", "-p", "no:cacheprovider", "-k", only)
    finally:
        hypothesis.settings.load_profile("before")
        for loaded in [key for key in sys.modules if key.startswith(package)]:
            del sys.modules[loaded]
    return {
        report.nodeid.rpartition("::")[2].partition("[")[0].removeprefix("test_")
        for report in run.getreports("pytest_runtest_logreport")
        if report.failed
    }
