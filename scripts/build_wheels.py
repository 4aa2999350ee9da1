"""Build the wheels and source distributions of all packages.

``python scripts/build_wheels.py [FOLDER]``; the default folder is ``dist``. Needs hatchling and setuptools, and
twine for the check. With auditwheel, wheels with compiled code get the tag of the systems that they work on. Uses no
network, and writes only into the folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

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
            "_, folder, built = sys.argv\n"  # setuptools changes the arguments
            "back_end.build_sdist(folder); back_end.build_wheel(built)"
        )
        run("-c", program, str(folder), str(copy / "built"), cwd=copy)
        [wheel] = copy.glob("built/*.whl")
        if "linux" in wheel.name and find_spec("auditwheel"):
            run("auditwheel", "repair", "--wheel-dir", str(folder), str(wheel), cwd=copy)
        else:
            shutil.copy(wheel, folder)


def check(folder: Path) -> None:
    """Raise if an index would refuse a file in the folder, or compiled code is missing."""
    files = sorted(map(str, [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]))
    run("twine", "check", "--strict", *files)
    for file in folder.glob("*.whl"):
        if file.stem.rpartition("-")[2].startswith("linux_"):
            raise SystemExit(f"{file.name}: an index refuses this tag; install auditwheel")
    for package in PACKAGES:
        if not (package / "setup.py").exists():
            continue
        for file in folder.glob(f"{package.name.replace('-', '_')}-*.whl"):
            if not compiled_modules(file):
                raise SystemExit(
                    f"{file.name}: no compiled module; install a C compiler and Python.h"
                )


def compiled_modules(wheel: Path) -> list[str]:
    """Return the compiled modules in a wheel, without the libraries that auditwheel adds."""
    with ZipFile(wheel) as archive:
        return [it for it in archive.namelist() if it.endswith(".so") and ".libs/" not in it]


def run(module: str, *arguments: str, cwd: Path = ROOT) -> None:
    """Run a module, or a program after ``-c``, and show its output only if it fails."""
    how = [module] if module == "-c" else ["-m", module]
    tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    done = subprocess.run(
        [sys.executable, *how, *arguments],
        cwd=cwd,
        env={**os.environ, "PATH": tools},  # auditwheel calls patchelf
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{cwd}: {module} {' '.join(arguments[:1])} failed:\n{done.stdout}")


if __name__ == "__main__":
    raise SystemExit(main())
