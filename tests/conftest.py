"""What all tests share: modules beside the tests, no stopwatch, slow tests only on request."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

# pytest's importlib mode makes nothing importable.
sys.path.insert(0, str(Path(__file__).parent))

# How long one example takes says more about the machine than about the code.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

SLOW_TESTS = "ZARR_CORE_SLOW_TESTS"


def pytest_collection_modifyitems(items):
    """Leave out what is marked as slow, unless an environment variable asks for it."""
    if not os.environ.get(SLOW_TESTS):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason=f"slow; runs if {SLOW_TESTS}=1"))
