"""Stores, constructors and functions of zarr-python 2."""

import numpy as np
import pytest
from zarr_compat import api as zarr
from zarr_compat import storage, v2_storage


@pytest.mark.parametrize(
    "make",
    [
        lambda path: v2_storage.KVStore({}),
        lambda path: v2_storage.DirectoryStore(path / "a"),
        lambda path: v2_storage.NestedDirectoryStore(path / "a"),
        lambda path: v2_storage.SQLiteStore(path / "a.db"),
        lambda path: v2_storage.DBMStore(path / "a.dbm"),
    ],
)
def test_stores_are_mappings(make, tmp_path):
    pytest.importorskip("zarr_stores")
    store = make(tmp_path)
    assert len(store) == 0
    v2_storage.init_array(store, 10, chunks=5, dtype="i4", path="g/x", compressor=None)
    assert {".zgroup", "g/.zgroup", "g/x/.zarray"} <= set(store)
    assert v2_storage.array_meta_key in store["g/x/.zarray"].decode() or "g/x/.zarray" in store
    array = zarr.Array(store, path="g/x")
    array[:] = np.arange(10)
    assert array.store is store
    assert store["g/x/0"] == np.arange(5, dtype="i4").tobytes()
    store["note"] = b"1"
    del store["note"]
    with pytest.raises(KeyError):
        store["note"]
    with pytest.raises(KeyError):
        del store["note"]
    assert "g/x/9" not in store.keys()  # noqa: SIM118 - the method is tested
    store.close()


def test_constructors_open_nodes(tmp_path):
    store = v2_storage.DirectoryStore(str(tmp_path / "a"))
    v2_storage.init_group(store)
    v2_storage.init_group(store, path="g")
    v2_storage.init_array(store, (2, 2), path="x", dtype="i1")
    group = zarr.Group(store, "g", read_only=True)
    assert group.path == "g"
    assert group.read_only
    array = zarr.Array(store, path="x", chunk_store=None)
    assert array.shape == (2, 2)
    assert v2_storage.contains_array(store, "x")
    assert not v2_storage.contains_group(store, "x")
    assert v2_storage.contains_group(store, "/g/")
    assert not v2_storage.contains_array(store, "nothing")
    with pytest.raises(ValueError, match="no Zarr array"):
        zarr.Array(store, path="nothing")
    with pytest.raises(TypeError, match="no arguments"):
        zarr.Array(array.core, path="x")


def test_another_store_for_chunks_is_refused():
    with pytest.raises(TypeError, match="one store"):
        v2_storage.init_group({}, chunk_store=storage.MemoryStore())


def test_examples_of_the_specification_of_version_2(program):
    """Its section "Examples" has these names, in the module ``zarr``."""
    printed = program(
        "import os, zarr\n"
        "store = zarr.DirectoryStore('example.zarr')\n"
        "with zarr.config.set({'default_zarr_format': 2}):\n"
        "    array = zarr.create(shape=(20, 20), chunks=(10, 10), dtype='i4', fill_value=42,\n"
        "                        compressor=zarr.Zlib(level=1), store=store, overwrite=True)\n"
        "    with zarr.ZipStore('group.zip', mode='w') as archive:\n"
        "        zarr.group(archive).create_group('foo').create_dataset('bar', shape=(20, 20))\n"
        "array[0:10, 10:20] = 1\n"
        "print(sorted(os.listdir('example.zarr')), array.compressors)\n"
        "print(zarr.open('group.zip', mode='r')['foo/bar'].shape)\n"
    )
    assert printed == "['.zarray', '0.1'] (Zlib(level=1),)\n(20, 20)"
