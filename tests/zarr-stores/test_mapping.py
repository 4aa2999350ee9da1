"""Mappings of other libraries as stores."""

import numpy as np
import pytest
import zarr_core as zarr
from store_contract import StoreContract
from zarr_core.stores.memory import MemoryStore

VALUES = np.arange(600, dtype="int32").reshape(30, 20)


def write_and_read(mapping):
    root = zarr.create_group(mapping, attributes={"title": "x"})
    root.create_array("a/field", data=VALUES, chunks=(7, 6))
    root.create_array("sharded", data=VALUES, chunks=(5, 5), shards=(10, 20))
    root["sharded"][2:4, 1:3] = 7
    del root["a/field"]
    root.create_array("a/field", data=VALUES, chunks=(7, 6), compressors=None)
    again = zarr.open_group(mapping, mode="r")
    assert type(again.store) is MemoryStore
    assert [path for path, _ in again.members(max_depth=None)] == ["a", "a/field", "sharded"]
    assert np.array_equal(again["a/field"][3:9, ::2], VALUES[3:9, ::2])
    assert (again["sharded"][2:4, 1:3] == 7).all()
    assert np.array_equal(again["sharded"][4:], VALUES[4:])


def test_zict(tmp_path):
    zict = pytest.importorskip("zict")
    write_and_read(zict.File(str(tmp_path / "files")))
    write_and_read(
        zict.Buffer({}, zict.File(str(tmp_path / "more")), n=2000, weight=lambda k, v: len(v))
    )


class TestZict(StoreContract):
    pickles = False
    test_pickle = None  # such a mapping does not

    def make(self, tmp_path):
        zict = pytest.importorskip("zict")
        return MemoryStore(zict.LRU(10**9, {}))

    def again(self, store, *, read_only):
        return MemoryStore(store._mapping, read_only)
