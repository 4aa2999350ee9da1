"""Compiled code, given to each test, whether or not zarr-native has an entry point here."""

import numpy as np
import pytest
import zarr_core as zarr

pytest.importorskip("zarr_native._native", exc_type=ImportError, reason="it was not compiled here")

from zarr_native import processed_chunks
from zarr_native.executor import Executor


@pytest.fixture(autouse=True)
def executor():
    with (
        zarr.config.set(native="auto"),  # also where the environment switches it off
        zarr.override_extensions({"native": {"default": Executor}}),
    ):
        yield


class Counter:
    """How many stored objects were read and written natively since the last question."""

    def __init__(self):
        self.last = processed_chunks()

    def __call__(self):
        before, self.last = self.last, processed_chunks()
        return tuple(now - then for now, then in zip(self.last, before, strict=True))


@pytest.fixture
def counted():
    return Counter()


@pytest.fixture
def rng():
    return np.random.default_rng(1)
