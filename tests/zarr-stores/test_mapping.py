"""Mappings of other libraries as stores."""

from collections.abc import MutableMapping

import numpy as np
import pytest
import zarr_core as zarr
from store_contract import StoreContract
from zarr_core.errors import StoreError
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


class InHDF5(MutableMapping):
    """Values as datasets of bytes below their keys."""

    def __init__(self, file):
        self.file = file

    def __getitem__(self, key):
        return self.file[f"{key}/value"][...]

    def __setitem__(self, key, value):
        self.file.pop(f"{key}/value", None)
        self.file[f"{key}/value"] = np.frombuffer(value, "uint8")

    def __delitem__(self, key):
        del self.file[f"{key}/value"]

    def __contains__(self, key):
        return f"{key}/value" in self.file

    def __iter__(self):
        found = []
        self.file.visit(found.append)
        return (name.removesuffix("/value") for name in found if name.endswith("/value"))

    def __len__(self):
        return len(list(iter(self)))


@pytest.fixture
def hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        yield file


def test_an_adapter_of_hdf5(hdf5):
    write_and_read(InHDF5(hdf5))


def test_hdf5_itself_is_a_mapping_but_takes_no_values(hdf5):
    with pytest.raises(StoreError, match="the mapping failed"):
        MemoryStore(hdf5).set("k", b"\0binary\0")


class TestZict(StoreContract):
    pickles = False
    test_pickle = None  # such a mapping does not

    def make(self, tmp_path):
        zict = pytest.importorskip("zict")
        return MemoryStore(zict.LRU(10**9, {}))

    def again(self, store, *, read_only):
        return MemoryStore(store._mapping, read_only)
