"""Constraints for pip: the stored ones, and the lowest versions."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
script = runpy.run_path(str(ROOT / "scripts" / "constraints.py"))
REQUIREMENTS = [Requirement(line) for line in (*script["of_packages"](), *script["of_groups"]())]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_every_dependency_has_one_version(python):
    """``make constraints`` repairs this."""
    environment = {"python_version": python, "python_full_version": f"{python}.4"}
    lines = [line for line in script["TESTED"].read_text().splitlines() if line[0] != "#"]
    pins = [pin for line in lines if applies(pin := Requirement(line), environment)]
    versions = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    assert len(versions) == len(pins)
    unmet = [
        str(it)
        for it in REQUIREMENTS
        if applies(it, environment)
        and not it.specifier.contains(versions.get(canonicalize_name(it.name), "0"), True)
    ]
    assert not unmet


def applies(requirement, environment):
    return requirement.marker is None or requirement.marker.evaluate(environment)


def test_the_lowest_version_is_that_which_all_accept():
    lines = [
        "Some_Lib[fast]>=3.9,!=3.11",
        "some-lib>=3.10; python_version>='3.12'",
        "other",
        "b>=1",
    ]
    assert script["lowest"](lines) == ["b==1", "some-lib==3.10"]


def test_packages_declare_the_same_lowest_version():
    """Otherwise ``make lowest`` would not test the lower one."""
    limits = {}
    for requirement in map(Requirement, script["of_packages"]()):
        lower = {it.version for it in requirement.specifier if it.operator == ">="}
        assert lower, f"{requirement} has no lower limit"
        limits.setdefault(requirement.name, set()).update(lower)
    assert not {name: found for name, found in limits.items() if len(found) > 1}


def test_lowest_versions_need_no_packages():
    """Before the first installation."""
    command = [sys.executable, "-I", "-S", ROOT / "scripts" / "constraints.py", "lowest"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "numpy==2.0\n" in printed
    assert "zarr-" not in printed
