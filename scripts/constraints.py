"""Constraints for pip: tested versions of all dependencies, or the lowest that are declared.

``python scripts/constraints.py tested`` writes ``constraints.txt``, which ``make`` uses, with the
newest releases for all supported versions of Python; it requires uv.
``python scripts/constraints.py lowest`` prints the lowest versions that the packages declare.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTED = ROOT / "constraints.txt"
NAME = re.compile(r"[\w.-]+")
LOWER_LIMIT = re.compile(r">=\s*([\d.]+)")


def of_packages() -> list[str]:
    """Return what the packages require of others, with all extras."""
    files = sorted(ROOT.glob("packages/*/pyproject.toml"))
    projects = [tomllib.loads(file.read_text("utf-8"))["project"] for file in files]
    own = {project["name"] for project in projects}
    found: list[str] = []
    for project in projects:
        found += project.get("dependencies", [])
        for extra in project.get("optional-dependencies", {}).values():
            found += extra
    return [line for line in found if _name(line) not in own]


def of_groups() -> list[str]:
    """Return what the development of the packages requires."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    return [line for group in groups.values() for line in group if isinstance(line, str)]


def lowest(requirements: list[str]) -> list[str]:
    """Return one constraint for each distribution: the highest of its lower limits."""
    limits: dict[str, tuple[int, ...]] = {}
    for line in requirements:
        if found := LOWER_LIMIT.search(line.partition(";")[0]):
            limit = tuple(map(int, found[1].split(".")))
            limits[_name(line)] = max(limit, limits.get(_name(line), limit))
    return [f"{name}=={'.'.join(map(str, limit))}" for name, limit in sorted(limits.items())]


def write_tested() -> int:
    """Write the newest releases that can be installed together; return the exit status of uv."""
    options = ["--universal", "--python-version", "3.11", "--upgrade", "--quiet", "--strip-extras"]
    options += ["--no-annotate", "--custom-compile-command", "make constraints"]
    return subprocess.run(
        [sys.executable, "-m", "uv", "pip", "compile", *options, "--output-file", str(TESTED), "-"],
        input="\n".join(sorted({*of_packages(), *of_groups()})),
        text=True,
        check=False,
    ).returncode


def _name(requirement: str) -> str:
    found = NAME.match(requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


if __name__ == "__main__":
    if sys.argv[1:] == ["tested"]:
        sys.exit(write_tested())
    print("\n".join(lowest(of_packages())))
