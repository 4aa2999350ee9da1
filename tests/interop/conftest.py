"""Fixtures of several files, and the modules of the tests on sys.path, which importlib mode does not extend."""

import itertools
import shutil
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "fixtures" / "writers"))

import interop_peers

NUMBERS = itertools.count()


@pytest.fixture(scope="module", params=interop_peers.INSTALLED)
def peer(request):
    """Each of the other libraries that are installed."""
    return interop_peers.PEERS[request.param]()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("interop")


@pytest.fixture
def place(scratch):
    """A directory; creating pytest's for each of thousands of tests takes most of their time."""
    place = scratch / str(next(NUMBERS))
    place.mkdir()
    yield place
    shutil.rmtree(place)


@pytest.fixture
def silent():
    """Ignores the warnings of other libraries, for example about consolidated metadata."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
