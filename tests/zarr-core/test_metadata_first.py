"""Stores that require metadata before chunks, such as sessions of Icechunk."""

import numpy as np
import pytest
import zarr_core as zarr
from metadata_first_store import MetadataFirstStore


@pytest.mark.parametrize("shards", [None, (4, 6)])
@pytest.mark.parametrize("path", [None, "a/b"])
def test_removed_elements_do_not_reappear(shards, path):
    values = np.arange(1, 97, dtype="f4").reshape(8, 12)
    store = MetadataFirstStore()
    array = zarr.create_array(store, path=path, data=values, chunks=(2, 3), shards=shards)
    array.resize(3, 7)
    array.resize(8, 12)
    expected = np.zeros_like(values)
    expected[:3, :7] = values[:3, :7]
    np.testing.assert_array_equal(zarr.open(store, path=path)[...], expected)
