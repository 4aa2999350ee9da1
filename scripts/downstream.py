"""Run the tests of packages that use zarr-python with zarr-python and with zarr-compat.

``make downstream`` installs the packages below ``.venv-downstream``, runs their tests with both
libraries, and prints the numbers of passed tests and every test that passes with zarr-python only.
``DOWNSTREAM="kerchunk zarr"`` selects packages, ``DOWNSTREAM=small`` those that continuous integration
runs for each change.  Tests that a package does not install are taken from
its source distribution, or from a checkout of its repository in a directory of the name of the package
below ``DOWNSTREAM_TESTS``, which kerchunk, icechunk and bio2zarr require: their distributions contain no
tests.  Packages without tests are listed as such, and those that cannot be installed if
``DOWNSTREAM_OPTIONAL`` is set.  The exit status is 1 if a test that
``downstream_failures.json`` does not name passes with zarr-python only, if no test of a package passes
with zarr-python, or if zarr-python or TensorStore read other elements from files that the installed
packages write with zarr-compat.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
EXPECTED = ROOT / "tests" / "zarr-compat" / "downstream_failures.json"
SECONDS = 1800


@dataclass(frozen=True)
class Suite:
    """The tests of one package.

    Parameters
    ----------
    name : str
        The package, and the directory of its checkout.
    requires : tuple of str
        Requirements for pip, in the versions that were compared.
    tests : tuple of str
        Arguments of pytest: files in the checkout, or installed modules after ``--pyargs``.
    private_names : bool
        Whether the tests import private names of zarr-python.
    directory : str
        Where in the checkout the tests are run.
    zarr : str
        The version of zarr-python.  Each has its own environment.
    small : bool
        Whether the tests run for less than a minute, and are in the package or its source distribution.
    """

    name: str
    requires: tuple[str, ...]
    tests: tuple[str, ...]
    private_names: bool = False
    directory: str = "."
    zarr: str = "3.1.6"
    small: bool = False

    @property
    def venv(self) -> Path:
        """The environment."""
        return ROOT / ".venv-downstream" / self.zarr

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.venv / "bin" / "python"

    @property
    def requirement(self) -> str:
        """The requirement of the package itself."""
        return self.requires[0] if self.name != "zarr" else f"zarr=={self.zarr}"


_COMMON = (
    "pytest", "pytest-asyncio", "pytest-timeout", "pytest-mock", "hypothesis", "fsspec", "obstore",
    "universal-pathlib", "msgpack", "aiohttp", "requests", "dask", "h5py", "h5netcdf", "scipy",
    "jsonschema", "pluggy", "importlib-metadata", "ml_dtypes", "fasteners", "lmdb", "hatchling", "editables",
    "tensorstore",
)  # fmt: skip

# Versions that Python 3.11 supports.
SUITES = (
    Suite(
        "zarr", (),
        (
            "tests/test_indexing.py", "tests/test_api.py", "tests/test_array.py",
            "tests/test_group.py", "tests/test_codecs", "tests/test_properties.py",
        ),
        private_names=True,
    ),
    Suite(
        "xarray", ("xarray==2026.9.0",),
        ("--pyargs", "xarray.tests.test_backends", "xarray.tests.test_backends_datatree", "-k", "Zarr or zarr"),
    ),
    Suite("dask", (), ("--pyargs", "dask.array.tests.test_array_core", "-k", "zarr"), small=True),
    Suite(
        "anndata",
        ("anndata==0.12.19", "filelock", "pyarrow", "boltons", "joblib", "scikit-learn", "awkward"),
        ("--import-mode=importlib", "tests/test_readwrite.py", "tests/test_io_elementwise.py", "-k", "zarr"),
    ),
    Suite(
        "virtualizarr",
        ("virtualizarr==2.5.1", "netCDF4", "arro3-core", "kerchunk==0.2.10", "icechunk==1.1.21"),
        ("virtualizarr/tests/test_writers",), small=True,
    ),
    Suite(
        "kerchunk", ("kerchunk==0.2.10", "s3fs", "hdf5plugin", "netCDF4"),
        ("tests", "--ignore=tests/test_grib.py", "--ignore=tests/test__grib_idx.py"),
    ),
    Suite(
        "ome-zarr", ("ome-zarr==0.15.0", "ome-zarr-models"),
        ("tests/test_writer.py", "tests/test_io.py", "tests/test_reader.py", "tests/test_node.py"),
        small=True,
    ),
    Suite("tifffile", ("tifffile==2026.3.3", "kerchunk==0.2.10"), ("tests", "-k", "zarr"), small=True),
    Suite(
        "icechunk", ("icechunk==1.1.21", "boto3", "mypy-boto3-s3"),
        ("tests/test_xarray.py", "tests/test_store.py"), directory="icechunk-python",
    ),
    Suite(
        "pydantic-zarr", ("pydantic-zarr==0.9.2",),
        ("tests/test_pydantic_zarr/test_v2.py", "-k", "not test_array_spec"), small=True,
    ),
    Suite("cubed", ("cubed==0.27.0", "dill"), ("cubed/tests/test_core.py", "cubed/tests/storage", "cubed/tests/test_store.py")),
    Suite("spatialdata", ("spatialdata==0.7.3",), ("tests/io/test_readwrite.py",)),
    Suite("bio2zarr", ("bio2zarr==0.2.1",), ("tests/test_core.py", "tests/test_zarr_utils.py")),
)  # fmt: skip


def install(suite: Suite) -> None:
    """Install the packages of a suite, and the distributions of this repository."""
    pip = [str(suite.python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    required = [f"zarr=={suite.zarr}", *suite.requires]
    if not suite.python.exists():
        subprocess.run([sys.executable, "-m", "venv", suite.venv], check=True)
        subprocess.run([*pip, *_COMMON, *required], check=True)
        # zarr-native is optional, and requires a compiler.
        places = sorted({*(ROOT / "packages").glob("zarr-*")} - {ROOT / "packages" / "zarr-native"})
        ours = [f"--editable={place}" for place in places]
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", *ours], check=True)
    subprocess.run([*pip, *required], check=True)


def tests_of(suite: Suite) -> Path | None:
    """Return the directory with the tests of a suite that are not installed, or None."""
    checkouts = os.environ.get("DOWNSTREAM_TESTS")
    found = Path(checkouts, suite.name, suite.directory) if checkouts else None
    if found is None or not found.is_dir():
        found = source_of(suite)
    return found if found is not None and _has_tests(found, suite) else None


def source_of(suite: Suite) -> Path | None:
    """Return the directory of the source distribution of a package; it is downloaded once."""
    target = suite.venv / "sources" / suite.name
    target.mkdir(parents=True, exist_ok=True)
    if not any(target.iterdir()):  # the first time, or the download failed
        pip = [str(suite.python), "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        options = ["--no-deps", "--no-binary=:all:", f"--dest={target}", suite.requirement]
        subprocess.run([*pip, *options], check=False)
        for archive in target.glob("*.tar.gz"):
            shutil.unpack_archive(archive, target, filter="data")
    return next((path for path in sorted(target.iterdir()) if path.is_dir()), None)


def _has_tests(directory: Path, suite: Suite) -> bool:
    paths = [Path(word) for word in suite.tests if not word.startswith("-")]
    return any((directory / path).exists() for path in paths)


def run(suite: Suite, tests: Path | None, compat: bool) -> dict[str, str]:
    """Run the tests and return the outcome of each: passed, failed or skipped.

    They run in a new directory with a copy of ``tests``, because some write to the current one.  The
    result is empty if the tests cannot be collected, or do not end in time.
    """
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch, suite.name)
        if tests is None:
            directory.mkdir()
        else:
            shutil.copytree(tests, directory)
        report = Path(scratch, "report.xml")
        configuration = Path(scratch, "pytest.ini")
        configuration.write_text("[pytest]\nasyncio_mode = auto\n")
        environment = os.environ | {
            "PYTHONPATH": str(ROOT / "scripts"),
            "DOWNSTREAM_COMPAT": "1" * compat,
            "DOWNSTREAM_PRIVATE_NAMES": "1" * suite.private_names,
        }
        command = [
            str(suite.python), "-m", "pytest", "-q", "-p", "downstream_plugin", "-p", "no:cacheprovider",
            "-c", str(configuration), f"--rootdir={directory}", "--timeout=60", f"--junitxml={report}",
            "--tb=no", "--disable-warnings", *suite.tests,
        ]  # fmt: skip
        try:
            subprocess.run(
                command, cwd=directory, env=environment, check=False, timeout=SECONDS,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{suite.name}: not finished after {SECONDS} s", file=sys.stderr)
        return outcomes(ElementTree.parse(report).getroot()) if report.exists() else {}


def files_are_equal(suites: tuple[Suite, ...]) -> bool:
    """Whether files that programs write with both libraries are equal for zarr-python and TensorStore."""
    python = suites[0].python
    directory = ROOT / "tests" / "interop"
    with tempfile.TemporaryDirectory() as scratch:
        configuration = Path(scratch, "pytest.ini")
        configuration.write_text("[pytest]\n")
        command = [
            str(python), "-m", "pytest", "-q", "--noconftest", "-c", str(configuration),
            f"--rootdir={directory}", "-p", "no:cacheprovider", "-p", "no:asyncio", "--tb=short",
            "--disable-warnings", str(directory / "test_files_of_programs.py"),
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=scratch, env=os.environ | {"PYTHONPATH": ""}, check=False
        )
    return done.returncode == 0


def outcomes(report: ElementTree.Element) -> dict[str, str]:
    """Return the outcome of each test in a JUnit report."""
    found = {}
    for case in report.iter("testcase"):
        tags = {child.tag for child in case}
        outcome = (
            "failed"
            if tags & {"failure", "error"}
            else "skipped"
            if "skipped" in tags
            else "passed"
        )
        name = f"{case.get('classname')}::{case.get('name')}"
        # The report does not name the modules of installed tests, so that several have one name.
        number = next(number for number in count() if f"{number}:{name}" not in found)
        found[f"{number}:{name}"] = outcome
    return found


def main() -> None:
    """Print the table, and the tests that pass with zarr-python only."""
    names = os.environ.get("DOWNSTREAM", "").split()
    if unknown := {*names} - {"small", *(suite.name for suite in SUITES)}:
        raise SystemExit(f"DOWNSTREAM: unknown package {', '.join(sorted(unknown))}")
    suites = tuple(
        suite
        for suite in SUITES
        if not names or suite.name in names or (suite.small and "small" in names)
    )
    print("| package | passed here | passed with zarr-python | fail here only | seconds |")
    print("|---|---|---|---|---|")
    expected = json.loads(EXPECTED.read_text())
    differences, unexpected = [], []
    for suite in suites:
        start = time.monotonic()
        try:
            install(suite)
        except subprocess.CalledProcessError:
            if not os.environ.get("DOWNSTREAM_OPTIONAL"):
                raise
            print(f"| {suite.name} | not installed | | | |", flush=True)
            continue
        tests = None if "--pyargs" in suite.tests else tests_of(suite)
        if tests is None and "--pyargs" not in suite.tests:
            print(f"| {suite.name} | tests not found | | | |", flush=True)
            continue
        with ThreadPoolExecutor(2) as pool:  # each runs another process
            ours, theirs = pool.map(partial(run, suite, tests), (True, False))
        passed = [sum(item == "passed" for item in each.values()) for each in (ours, theirs)]
        worse = [test for test, item in theirs.items() if item == "passed" != ours.get(test)]
        seconds = time.monotonic() - start
        print(
            f"| {suite.name} | {passed[0]} | {passed[1]} | {len(worse)} | {seconds:.0f} |",
            flush=True,
        )
        differences += [f"{suite.name}: {test}" for test in worse]
        if not passed[1]:
            unexpected.append(
                f"{suite.name}: no test passed with zarr-python, so nothing was compared"
            )
        known = expected.get(suite.name, ())
        unexpected += [
            f"{suite.name}: {test}"
            for test in worse
            if test.rpartition("::")[2].partition("[")[0] not in known
        ]
    print("", *differences, sep="\n")
    if not files_are_equal(suites):
        unexpected.append("files of programs: other elements, or not written")
    if unexpected:
        raise SystemExit("\n".join(["", f"not in {EXPECTED.name}:", *unexpected]))


if __name__ == "__main__":
    main()
