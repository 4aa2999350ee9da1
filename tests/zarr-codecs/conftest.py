"""Fixtures of the tests of codecs: chunks of other writers, optional libraries, limited memory."""

import sys
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import zarr_codecs
from zarr_codecs import _deflate, _zstandard

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def content():
    """What every file in ``data`` decodes to."""
    return (np.arange(600, dtype="<i4") ** 2 % 1009).tobytes()


@pytest.fixture(scope="session")
def golden():
    """Read a file of ``data``."""
    return lambda name: (DATA / f"{name}.bin").read_bytes()


@pytest.fixture
def without_optional_libraries(monkeypatch):
    """As if deflate and zstandard were not installed."""
    for name in ("deflate", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "zarr_codecs._libdeflate", raising=False)
    monkeypatch.delattr(zarr_codecs, "_libdeflate", raising=False)
    _deflate.libdeflate.cache_clear()
    _zstandard._library.cache_clear()
    assert _deflate.libdeflate() is None
    yield
    _deflate.libdeflate.cache_clear()
    _zstandard._library.cache_clear()


@pytest.fixture(params=["with optional libraries", "without them"])
def library(request):
    """With deflate and zstandard, and as if they were not installed."""
    if request.param == "without them":
        request.getfixturevalue("without_optional_libraries")
    else:
        pytest.importorskip("deflate")


@pytest.fixture
def at_most():
    """Fail if a block allocates more than this number of bytes at once."""

    @contextmanager
    def limit(nbytes):
        tracemalloc.start()
        try:
            yield
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= nbytes, f"{peak} bytes allocated, {nbytes} allowed"

    return limit
