"""zarr-compat issues the warnings of zarr-python; ``test_warnings.py`` tests them."""

import sys
from pathlib import Path

import pytest

# pytest's importlib mode does not extend sys.path.
sys.path.insert(0, str(Path(__file__).parent))

CLASSES = ("ZarrDeprecationWarning", "ZarrRuntimeWarning", "ZarrUserWarning")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "zarr-compat" and item.path.name != "test_warnings.py":
            for name in CLASSES:
                mark = pytest.mark.filterwarnings(f"ignore::zarr_compat.errors.{name}")
                item.add_marker(mark, append=False)
