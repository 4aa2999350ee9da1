"""Build the wheels and source distributions of all packages.

``python scripts/build_wheels.py [FOLDER]``; the default folder is ``dist``. Needs hatchling and setuptools, and
twine for the check. Uses no network, and writes only into the folder.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PACKAGES = sorted(file.parent for file in (ROOT / "packages").glob("*/pyproject.toml"))


def main(arguments: list[str] | None = None) -> int:
    """Build and check the packages; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-check", dest="check", action="store_false", help="skip twine")
    options = parser.parse_args(arguments)
    build(options.folder.absolute())
    if options.check:
        check(options.folder)
    print(f"{options.folder}: wheels and source distributions of {len(PACKAGES)} packages")
    return 0


def build(folder: Path) -> None:
    """Build all packages into the folder, and remove older builds of them there."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        name = package.name.replace("-", "_")
        for old in folder.glob(f"{name}-*"):
            if old.suffix in (".whl", ".gz"):
                old.unlink()
        if (package / "setup.py").exists():  # has compiled code, and another build back end
            build_compiled(package, folder)
        else:
            run("hatchling", "build", "-d", str(folder), "-t", "sdist", "-t", "wheel", cwd=package)


def build_compiled(package: Path, folder: Path) -> None:
    """Build a package with compiled code from a copy, as setuptools writes beside its sources."""
    with TemporaryDirectory() as place:
        copy = Path(place, package.name)
        shutil.copytree(package, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "*.so"))
        program = (
            "import sys; from setuptools import build_meta as back_end\n"
            "folder = sys.argv[1]\n"  # setuptools changes the arguments
            "back_end.build_sdist(folder); back_end.build_wheel(folder)"
        )
        run("-c", program, str(folder), cwd=copy)


def check(folder: Path) -> None:
    """Raise if the metadata of a file in the folder is invalid."""
    files = sorted(map(str, [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]))
    run("twine", "check", "--strict", *files)


def run(module: str, *arguments: str, cwd: Path = ROOT) -> None:
    """Run a module, or a program after ``-c``, and show its output only if it fails."""
    how = [module] if module == "-c" else ["-m", module]
    done = subprocess.run(
        [sys.executable, *how, *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{cwd}: {module} {' '.join(arguments[:1])} failed:\n{done.stdout}")


if __name__ == "__main__":
    raise SystemExit(main())
