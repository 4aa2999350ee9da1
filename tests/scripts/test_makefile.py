"""The commands of each target of the Makefile, as printed by ``make -n``."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVERS = "scripts/install_servers.py"
OLD_WRITERS = "scripts/old_writers.py"


def commands(target, *variables):
    """The commands of a target in a fresh clone."""
    # Remove the variables of an outer make.
    outer = ("MAKE", "MFLAGS", "PYTEST", "JOBS", "VENV")
    environment = {name: it for name, it in os.environ.items() if not name.startswith(outer)}
    done = subprocess.run(
        ["make", "-n", target, "VENV=.venv-of-no-test", *variables],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("target", ["demo", "test", "test-long", "pytest", "docs", "bench"])
def test_only_one_target_installs_servers(target):
    printed = commands(target)
    assert SERVERS not in printed
    assert "pip" in printed
    assert SERVERS in commands("servers")


@pytest.mark.parametrize("target", ["test", "test-long", "pytest"])
def test_the_tests_have_the_libraries_that_wrote_older_formats(target):
    assert OLD_WRITERS in commands(target)


@pytest.mark.parametrize(
    "tests",
    [
        "tests/zarr-core",
        "tests/zarr-core -x -q",
        "-k 'a or b' tests/zarr-core/test_open.py::test_x tests/zarr-core/test_threads.py",
    ],
)
def test_the_tests_of_the_core_need_few_packages(tests):
    printed = commands("pytest", f"PYTEST={tests}")
    assert OLD_WRITERS not in printed
    assert set(re.findall(r"--group ([\w-]+)", printed)) == {"build", "test-core"}
    assert "--editable packages/zarr-core" in printed
    assert "zarr-dask" not in printed


@pytest.mark.parametrize("tests", ["-x", "tests/zarr-core tests/zarr-codecs", "tests/docs"])
def test_other_tests_need_everything(tests):
    printed = commands("pytest", f"PYTEST={tests}")
    assert "--group test\n" in printed
    assert "--editable packages/zarr-dask" in printed


def test_slow_tests_run_on_request():
    printed = subprocess.run(
        ["make", "-p", "-n", "test-long"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "ZARR_CORE_SLOW_TESTS = 1" in printed


def test_every_target_is_described():
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)", text, re.M)[1].replace("\\\n", " ").split()
    described = set(re.findall(r"make ([\w-]+)  ", commands("help")))
    assert set(phony) - {"help", "packages"} == described
