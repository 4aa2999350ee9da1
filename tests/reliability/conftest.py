"""Makes the modules beside the tests importable, and leaves out what takes long."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

SWITCH = "ZARR_CORE_SLOW_TESTS"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is marked as slow here, unless an environment variable asks for it."""
    if os.environ.get(SWITCH):
        return
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason=f"slow; runs if {SWITCH}=1"))
