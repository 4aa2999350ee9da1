"""What the tests of the codecs share: stored chunks of other writers, and a limit on memory."""

import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

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
