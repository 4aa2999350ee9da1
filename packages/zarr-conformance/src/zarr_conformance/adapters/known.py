"""Implementations that there are adapters for: how each is started, what it takes to have it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Known:
    """An implementation with an adapter in this folder.

    Parameters
    ----------
    name : str
        What it is asked for by.
    file : str
        Its adapter: a module of this folder, or a program for Node.
    package : str
        Distribution that has to be there.
    install : str
        What has to be done to have it.
    versions : tuple of int
        Major versions that the adapter is for; any if empty.
    """

    name: str
    file: str
    package: str
    install: str
    versions: tuple[int, ...] = ()

    @property
    def variable(self) -> str:
        """Environment variable with an interpreter to start it by, another than this one."""
        return f"ZARR_CONFORMANCE_{self.name.upper().replace('-', '_').replace('.', '_')}"

    def command(self) -> list[str]:
        """The program with its arguments."""
        program = os.environ.get(self.variable)
        if self.file.endswith(".mjs"):
            return [program or "node", str(FOLDER / self.file)]
        if program is None:
            return [sys.executable, "-m", f"{__package__}.{self.file}"]
        return [program, str(FOLDER), self.file]

    def missing(self) -> str:
        """Why it cannot be started, with what to do about that; empty if it can."""
        program = os.environ.get(self.variable)
        if program is not None and shutil.which(program) is None:
            return f"{self.variable} is {program}, which is no program"
        if self.file.endswith(".mjs"):
            return self._node()
        reason = "" if program else self._python()
        return reason and f"{reason}: {self.install}, or set {self.variable} to an interpreter"

    def _node(self) -> str:
        if shutil.which(self.command()[0]) is None:
            return "there is no node: install Node.js"
        places = [*os.environ.get("NODE_PATH", "").split(os.pathsep), "node_modules"]
        if any((Path(it) / self.package / "package.json").exists() for it in places if it):
            return ""
        return f"{self.package} is not there: {self.install}, or set NODE_PATH to its folder"

    def _python(self) -> str:
        try:
            found = version(self.package)
        except PackageNotFoundError:
            return f"{self.package} is not installed"
        if self.versions and int(found.split(".")[0]) not in self.versions:
            return f"{self.package} is {found}"
        return ""


_ALL = (
    Known("zarr-core", "zarr_core", "zarr-core", "pip install zarr-core"),
    Known("zarr-python", "zarr_python_3", "zarr", "pip install 'zarr>=3'", (3,)),
    Known("zarr-python-2", "zarr_python_2", "zarr", "make an environment with 'zarr<3'", (2,)),
    Known("tensorstore", "tensorstore_", "tensorstore", "pip install tensorstore"),
    Known("zarrs-python", "zarrs_", "zarrs", "pip install zarrs"),
    Known("zarrista", "zarrista_", "zarrista", "pip install zarrista (Python 3.12 or newer)"),
    Known(
        "simplezarr", "simplezarr_", "simplezarr", "pip install simplezarr (Python 3.12 or newer)"
    ),
    Known("zarrita.js", "zarrita.mjs", "zarrita", "npm install zarrita"),
    Known("zarr-metadata", "zarr_metadata_", "zarr-metadata", "pip install zarr-metadata"),
    Known("z5py", "z5py_", "z5py", "pip install z5py"),
)

KNOWN = {it.name: it for it in _ALL}
"""By their names."""
