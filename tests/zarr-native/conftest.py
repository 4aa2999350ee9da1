"""Compiled code, given to each test, whether or not zarr-native has an entry point here."""

import numpy as np
import pytest
import zarr_core as zarr

try:
    import zarr_native._native as compiled
except ImportError:  # there is no compiler
    compiled = None
    collect_ignore_glob = ["test_*.py"]


def pytest_report_header():
    return None if compiled else "zarr-native was not compiled here; its tests are left out"


@pytest.fixture(autouse=True)
def executor():
    from zarr_native.executor import Executor

    with (
        zarr.config.set(native="auto"),  # also where the environment switches it off
        zarr.override_extensions({"native": {"default": Executor}}),
    ):
        yield


class Counter:
    """How many stored objects were read and written natively since the last question."""

    def __init__(self):
        self.last = compiled.counts()

    def __call__(self):
        before, self.last = self.last, compiled.counts()
        return tuple(now - then for now, then in zip(self.last, before, strict=True))


@pytest.fixture
def counted():
    return Counter()


@pytest.fixture
def rng():
    return np.random.default_rng(1)
