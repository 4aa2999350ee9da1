"""Compiled code, given to each test, whether or not zarr-native has an entry point here."""

import numpy as np
import pytest
import zarr_core as zarr
from servers.requirement import unavailable

try:
    import zarr_native._native as compiled
except ImportError as error:
    compiled, problem = None, error


class LeftOut(pytest.Module):
    """A test file, which cannot be imported without the compiled module."""

    def collect(self):
        reason = f"{self.path.name} needs the compiled module of zarr-native: {problem}"
        unavailable(reason, allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    return LeftOut.from_parent(parent, path=module_path) if compiled is None else None


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
