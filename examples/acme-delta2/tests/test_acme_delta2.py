"""The conformance tests; time series."""

import numpy as np
import pytest
import zarr_core as zarr
from acme_delta2 import Delta2
from hypothesis import strategies as st
from zarr_conformance.kit import ArrayToArrayCodecTests


class TestDelta2(ArrayToArrayCodecTests):
    name = "acme.delta2"
    configurations = [{}, {"axis": 0}]
    bad_configurations = [{"axis": 0.5}, {}]
    data_types = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

    def shapes(self, configuration):
        return st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


def test_regular_timestamps_become_zeros():
    clock = np.arange(1_000, 2_000, 10)
    assert Delta2().encode(clock, None).tolist() == [1_000, -990] + 98 * [0]


def test_irregular_timestamps_compress_well(tmp_path):
    """Timestamps of every second, some a little late."""
    random = np.random.default_rng(1)
    stamps = 1_700_000_000_000 + 1000 * np.arange(50_000) + random.integers(0, 3, 50_000)
    sizes = []
    for filters in (None, "acme.delta2"):
        store = zarr.MemoryStore()
        zarr.create_array(
            store, data=stamps, chunks=stamps.shape, filters=filters, compressors="numcodecs.zlib"
        )
        sizes.append(store.getsize("c/0"))
        assert np.array_equal(zarr.open_array(store)[...], stamps)
    assert sizes[1] < sizes[0] / 2


def test_floating_point_numbers_are_rejected():
    with pytest.raises(ValueError, match="requires integers"):
        zarr.create_array(shape=4, dtype="float64", filters="acme.delta2")
