"""A directory for the distributions of each test."""

import importlib
import sys
from pathlib import Path

import pytest
from zarr_core import messages
from zarr_core.registry import discovery

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode does not add it


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A function that builds and installs a wheel; arguments of ``wheels.wheel``."""
    from wheels import unpack, wheel

    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    before = set(sys.modules)

    def install(name, entry_points, files=(), version="1.0"):
        unpack(wheel(tmp_path / "wheels", name, entry_points, files, version), place)
        importlib.invalidate_caches()
        discovery.refresh()

    messages._issued.clear()
    yield install
    for module in set(sys.modules) - before:
        if (getattr(sys.modules[module], "__file__", None) or "").startswith(str(place)):
            del sys.modules[module]
    messages._issued.clear()
    monkeypatch.undo()
    discovery.refresh()
