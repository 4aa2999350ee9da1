"""The bundled adapters: how to start them, and how to install their implementations."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from zarr_conformance.errors import UsageError

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class BundledAdapter:
    """An adapter in this folder.

    Parameters
    ----------
    name : str
        The name of the implementation.
    file : str
        A module of this folder, or a program for Node.js.
    package : str
        The distribution of the implementation.
    install : str
        How to install it.
    versions : tuple of int
        The supported major versions; any if empty.
    """

    name: str
    file: str
    package: str
    install: str
    versions: tuple[int, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable with another interpreter for the adapter."""
        return f"ZARR_CONFORMANCE_{self.name.upper().replace('-', '_').replace('.', '_')}"

    def command(self) -> list[str]:
        """Return the command."""
        program = os.environ.get(self.variable)
        if self.file.endswith(".mjs"):
            return [program or "node", str(FOLDER / self.file)]
        if program is None:
            return [sys.executable, "-m", f"{__package__}.{self.file}"]
        return [program, str(FOLDER), self.file]

    def missing(self) -> str:
        """Return why it cannot be started, and how to install it; empty if it can."""
        program = os.environ.get(self.variable)
        if program is not None and shutil.which(program) is None:
            return f"{self.variable} is {program}, which is not a program"
        if self.file.endswith(".mjs"):
            return self._node()
        reason = "" if program else self._python()
        return reason and f"{reason}: {self.install}, or set {self.variable} to an interpreter"

    def _node(self) -> str:
        if shutil.which(self.command()[0]) is None:
            return "node is not installed: install Node.js"
        folders = [*os.environ.get("NODE_PATH", "").split(os.pathsep), "node_modules"]
        if any(
            (Path(folder) / self.package / "package.json").exists() for folder in folders if folder
        ):
            return ""
        return f"{self.package} is not installed: {self.install}, or set NODE_PATH to its folder"

    def _python(self) -> str:
        try:
            installed = version(self.package)
        except PackageNotFoundError:
            return f"{self.package} is not installed"
        if self.versions and int(installed.split(".")[0]) not in self.versions:
            return f"{self.package} is {installed}"
        return ""


_ALL = (
    BundledAdapter("zarr-core", "zarr_core", "zarr-core", "pip install zarr-core"),
    BundledAdapter("zarr-python", "zarr_python_3", "zarr", "pip install 'zarr>=3'", (3,)),
    BundledAdapter(
        "zarr-python-2", "zarr_python_2", "zarr", "create an environment with 'zarr<3'", (2,)
    ),
    BundledAdapter("tensorstore", "tensorstore_", "tensorstore", "pip install tensorstore"),
    BundledAdapter("zarrs-python", "zarrs_", "zarrs", "pip install zarrs"),
    BundledAdapter(
        "zarrista", "zarrista_", "zarrista", "pip install zarrista (Python 3.12 or newer)"
    ),
    BundledAdapter(
        "simplezarr", "simplezarr_", "simplezarr", "pip install simplezarr (Python 3.12 or newer)"
    ),
    BundledAdapter("zarrita.js", "zarrita.mjs", "zarrita", "npm install zarrita"),
    BundledAdapter("zarr-metadata", "zarr_metadata_", "zarr-metadata", "pip install zarr-metadata"),
    BundledAdapter("z5py", "z5py_", "z5py", "pip install z5py"),
)

BUNDLED_ADAPTERS = {item.name: item for item in _ALL}
"""The adapters by name."""


def bundled_command(name: str) -> list[str]:
    """Return the command of a bundled adapter.

    Raises
    ------
    UsageError
        If no adapter has this name, or its implementation is not installed.
    """
    if name not in BUNDLED_ADAPTERS:
        raise UsageError(f"no adapter for {name!r}; available: {', '.join(BUNDLED_ADAPTERS)}")
    if reason := BUNDLED_ADAPTERS[name].missing():
        raise UsageError(f"{name} is not available: {reason}")
    return BUNDLED_ADAPTERS[name].command()
