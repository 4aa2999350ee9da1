"""Paths of server programs: from the system, or installed by the script."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALL = "make servers"
NO_SERVERS = "ZARR_CORE_NO_SERVERS"
"""Variable with which no server is found, as on a computer without servers."""
# Debian installs daemons in directories that only root has in PATH, and PostgreSQL in one by version.
DAEMONS = (
    "/usr/sbin", "/usr/local/sbin", "/sbin",
    *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)),
)  # fmt: skip


def servers() -> Path:
    """Return the directory into which ``scripts/install_servers.py`` installs."""
    if os.environ.get(NO_SERVERS):
        return Path(os.devnull)
    return Path(os.environ.get("ZARR_CORE_SERVERS") or ROOT / ".servers")


def system(*names: str) -> Path | None:
    """Return the path of the first of some programs that the system provides."""
    if os.environ.get(NO_SERVERS):
        return None
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *DAEMONS])
    found = (shutil.which(name, path=path) for name in names)
    return next((Path(place) for place in found if place), None)


def python() -> Path:
    """Return the interpreter of servers written in Python; it may not exist."""
    return servers() / "python" / "bin" / "python"


def from_pip(name: str) -> Path | None:
    """Return the path of a program installed by pip, by its name."""
    return _program(servers() / "python" / "bin" / name)


def within_pip(pattern: str) -> Path | None:
    """Return the path of a program in a package, by a pattern below site-packages."""
    found = sorted((servers() / "python").glob(f"lib/python3*/site-packages/{pattern}"))
    return next((place for place in found if _program(place)), None)


def from_npm(name: str) -> Path | None:
    """Return the path of a program installed by npm."""
    return _program(servers() / "node" / "node_modules" / ".bin" / name)


def _program(place: Path) -> Path | None:
    return place if place.is_file() and os.access(place, os.X_OK) else None


def how_to_get(what: str, *commands: str) -> str:
    """Return a message that a server is missing and how to install it."""
    return f"{what} is not installed: {INSTALL} installs it ({', or '.join(commands)})"
