"""Removal of nodes and its order; sizes in bytes."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import NodeNotFoundError


def hierarchy(zarr_format=3):
    root = zarr.create_group(zarr_format=zarr_format)
    for path in ("g/a", "g/h/b", "g/h/c", "z"):
        root.create_array(path, data=np.arange(6), chunks=1, attributes={"n": 1})
    return root


def counting(root, requests):
    store = CountingStore(root.store)
    store.max_concurrency = requests
    return store


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("requests", [None, 8])
def test_documents_go_first(zarr_format, requests):
    for work in (
        lambda store: zarr.open_group(store).__delitem__("g"),
        lambda s: zarr.rmdir(s, "g"),
    ):
        store = counting(hierarchy(zarr_format), requests)
        work(store)
        noted = store.keys("erase", "erase_values")
        gone = list(dict.fromkeys(key for key in noted if key.startswith("g/")))
        documents = [key for key in gone if not key[-1].isdecimal()]
        assert gone[: len(documents)] == documents
        depths = [key.count("/") for key in documents]
        assert depths == sorted(depths)
        assert store.keys("erase_prefix") == ["g/"]
        assert list(zarr.open_group(store)) == ["z"]
        assert not list(store.list_prefix("g/"))


def test_nothing_to_remove(tmp_path):
    root = hierarchy()
    before = sorted(root.store.list())
    for path in ("x", "g/a/zarr.json", "g/a/c/0"):
        with pytest.raises(NodeNotFoundError, match="nothing to remove"):
            zarr.rmdir(root.store, path)
    assert sorted(root.store.list()) == before
    zarr.rmdir(root["g"], "h")
    assert list(root["g"]) == ["a"]
    zarr.rmdir(root["g"])
    assert list(root) == ["z"]
    zarr.rmdir(root.store)
    assert list(root.store.list()) == []
    zarr.rmdir(root.store)  # an object is not misspelt
    with pytest.raises(NodeNotFoundError, match="nothing to remove; check the path"):
        zarr.rmdir(tmp_path / "x")


@pytest.mark.parametrize("zarr_format", [2, 3, "draft", "n5"])
@pytest.mark.parametrize("requests", [None, 8])
def test_bytes_of_a_place(zarr_format, requests, tmp_path):
    root = hierarchy(zarr_format)
    store = counting(root, requests)
    sizes = {key: len(root.store.get(key)) for key in root.store.list()}
    assert zarr.getsize(store) == sum(sizes.values())
    assert zarr.getsize(zarr.open_group(store)) == sum(sizes.values())
    below = sum(size for key, size in sizes.items() if "g/" in key or "/g." in key)
    assert zarr.getsize(zarr.open_group(store, path="g")) == below
    array = zarr.open_array(store, path="g/a")
    assert zarr.getsize(array) > array.nbytes_stored() > 0
    assert array.nbytes_stored() == zarr.open_array(root.store, path="g/a").nbytes_stored()
    zarr.copy_store(root.store, tmp_path / "x")
    assert zarr.getsize(tmp_path / "x") == sum(sizes.values())


def test_bytes_of_a_key(tmp_path):
    root = hierarchy()
    assert zarr.getsize(root.store, "z/c/1") == len(root.store.get("z/c/1"))
    assert zarr.getsize(root["g"], "a") == zarr.getsize(root["g/a"])
    for path in ("x", "z/c/99"):
        with pytest.raises(NodeNotFoundError, match="nothing is stored here"):
            zarr.getsize(root.store, path)
    assert zarr.getsize(zarr.MemoryStore()) == 0
    with pytest.raises(NodeNotFoundError, match="nothing is stored here; check the path"):
        zarr.getsize(tmp_path / "x")
    assert not (tmp_path / "x").exists()
