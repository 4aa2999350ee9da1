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
NO_SERVERS = "ZARR_CORE_NO_SERVERS"
SERVERS = ("_server", "s3_durable")  # how the names of their fixtures end


def pytest_collection_modifyitems(items):
    """Leave out what is slow unless an environment variable asks for it, servers if one says so."""
    if os.environ.get(NO_SERVERS):
        for item in items:
            if any(name.endswith(SERVERS) for name in getattr(item, "fixturenames", ())):
                item.add_marker(
                    pytest.mark.skip(reason=f"takes a server; left out by {NO_SERVERS}=1")
                )
    if not os.environ.get(SLOW_TESTS):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason=f"slow; runs if {SLOW_TESTS}=1"))
