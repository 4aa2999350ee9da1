"""Where the programs of servers are: on the system's paths, or where the script put them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALL = "python scripts/install_servers.py"
# Debian keeps daemons where only root looks for programs.
DAEMONS = ("/usr/sbin", "/usr/local/sbin", "/sbin")


def servers() -> Path:
    """The directory of what ``scripts/install_servers.py`` has installed."""
    return Path(os.environ.get("ZARR_CORE_SERVERS") or ROOT / ".servers")


def system(*names: str) -> Path | None:
    """The first of some programs that the system has."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *DAEMONS])
    found = (shutil.which(name, path=path) for name in names)
    return next((Path(place) for place in found if place), None)


def python() -> Path:
    """The interpreter that the servers written in Python run with; it need not exist."""
    return servers() / "python" / "bin" / "python"


def from_pip(name: str) -> Path | None:
    """A program that pip has installed, by its name."""
    return _program(servers() / "python" / "bin" / name)


def within_pip(pattern: str) -> Path | None:
    """A program inside a package that pip has installed, by a pattern below site-packages."""
    found = sorted((servers() / "python").glob(f"lib/python3*/site-packages/{pattern}"))
    return next((place for place in found if _program(place)), None)


def from_npm(name: str) -> Path | None:
    """A program that npm has installed."""
    return _program(servers() / "node" / "node_modules" / ".bin" / name)


def _program(place: Path) -> Path | None:
    return place if place.is_file() and os.access(place, os.X_OK) else None


def how_to_get(what: str, *commands: str) -> str:
    """Say that a server is missing, with what would bring it."""
    return f"no {what} here: {INSTALL} gets it ({', or '.join(commands)})"
