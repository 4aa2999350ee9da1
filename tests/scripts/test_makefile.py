"""The commands of each target of the Makefile, as printed by ``make -n``."""

import os
import re
import runpy
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVERS = "scripts/install_servers.py"
OLD_WRITERS = "scripts/old_writers.py"


@cache
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
def test_the_tests_install_only_old_libraries_with_wheels(target):
    (line,) = [line for line in commands(target).splitlines() if OLD_WRITERS in line]
    assert line.endswith(f"{OLD_WRITERS} --optional .venv-zarr2")
    old_writers = runpy.run_path(str(ROOT / OLD_WRITERS))["ENVIRONMENTS"]
    assert all("--only-binary" in step for step in old_writers[".venv-zarr2"].steps)
    assert commands("old-writers").endswith(f"{OLD_WRITERS}\n")


@pytest.mark.parametrize("given", ["constraints.txt", ""])
def test_versions_are_constrained_unless_the_newest_are_asked_for(given):
    printed = commands("test", f"CONSTRAINTS={given}")
    installing = [
        line for line in printed.splitlines() if "--group" in line and "build" not in line
    ]
    assert len(installing) >= 1
    assert all((f"--constraint {given} " in line) == bool(given) for line in installing)


def test_a_check_that_fails_before_a_release_hides_no_other():
    lines = commands("release-check").splitlines()
    checks = [number for number, line in enumerate(lines) if "check_release.py" in line]
    assert len(checks) == 2
    between = "\n".join(lines[checks[0] : checks[1]])
    assert all(step in between for step in ("build_wheels.py", "sphinx", "tests/packaging"))
    text = (ROOT / "Makefile").read_text()
    assert text.count("\t-@") == 1, "the first one is ignored"


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
