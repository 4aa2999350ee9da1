"""Contents of the store after a failed write."""

import dask.array as da
import numpy as np
import pytest
import zarr_core
import zarr_dask
from zarr_core.errors import StoreError

VALUES = np.arange(1, 37).reshape(6, 6)


class FullStore(zarr_core.MemoryStore):
    def set(self, key, value):
        if key.endswith("c/1/1"):
            raise StoreError("no space left on device", self, key)
        super().set(key, value)


def test_new_array_is_removed():
    store = FullStore()
    with pytest.raises(StoreError, match="no space left"):
        zarr_dask.to_zarr(da.from_array(VALUES, (3, 3)), store, "a/x", scheduler="threads")
    assert list(store.list()) == []


def test_existing_array_is_kept():
    store = FullStore()
    array = zarr_core.create_array(store, path="x", shape=(6, 6), chunks=(3, 3), dtype="int64")
    with pytest.raises(StoreError, match="no space left"):
        zarr_dask.to_zarr(da.from_array(VALUES, (3, 3)), array, scheduler="synchronous")
    assert store.exists("x/zarr.json")


def test_failed_computation_leaves_nothing():
    def fail(block):
        raise RuntimeError("a damaged file")

    store = zarr_core.MemoryStore()
    blocks = da.from_array(VALUES, (3, 3)).map_blocks(fail, dtype="int64", meta=np.empty((0, 0)))
    with pytest.raises(RuntimeError, match="a damaged file"):
        zarr_dask.to_zarr(blocks, store, "a/x", scheduler="synchronous")
    assert list(store.list()) == []
