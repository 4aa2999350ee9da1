"""Make the modules next to the tests importable; pytest's importlib mode does not."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=[3, 2], ids=["v3", "v2"])
def zarr_format(request):
    """The version of the format."""
    return request.param
