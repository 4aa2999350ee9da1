"""Saving and loading in one call; stored sizes; removing keys."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import NodeExistsError, NodeNotFoundError


def loaded(store, **options):
    values = zarr.load(store, **options)
    if isinstance(values, np.ndarray):
        return values.tolist()
    return {name: member.tolist() for name, member in values.items()}


def test_one_array_is_saved_as_the_node_itself(tmp_path):
    zarr.save(tmp_path / "a", [[1, 2], [3, 4]])
    zarr.save(tmp_path / "b", np.arange(3), path="in/side")
    assert loaded(tmp_path / "b", path="in/side") == [0, 1, 2]
    zarr.save(tmp_path / "c", zarr.open(tmp_path / "a"))
    assert loaded(tmp_path / "c") == loaded(tmp_path / "a") == [[1, 2], [3, 4]]
    assert zarr.load(zarr.array(5)) == 5


def test_several_arrays_are_saved_in_a_group(tmp_path):
    zarr.save(tmp_path / "a", [1], [2, 3], x=np.zeros(2))
    zarr.open(tmp_path / "a").create_group("inner")
    assert loaded(tmp_path / "a") == {"arr_0": [1], "arr_1": [2, 3], "x": [0, 0]}
    zarr.save(tmp_path / "b", x=[1], path="deep")
    assert loaded(tmp_path / "b", path="deep") == {"x": [1]}
    assert loaded(tmp_path / "b") == {}


def test_saving_overwrites_on_request():
    store = zarr.MemoryStore()
    zarr.save(store, [1, 2])
    with pytest.raises(NodeExistsError, match="overwrite=True"):
        zarr.save(store, [6])
    with pytest.raises(NodeExistsError, match="overwrite=True"):
        zarr.save(store, [6], [7])
    zarr.save(store, x=[4], overwrite=True)
    zarr.save(store, [5], [6], overwrite=True)
    assert loaded(store) == {"arr_0": [5], "arr_1": [6]}
    zarr.save(store, [3], overwrite=True)
    assert loaded(store) == [3]


@pytest.mark.parametrize(
    ("arrays", "named", "message"),
    [([], {}, "nothing to save"), ([[1, 2]], {"arr_0": [9, 9, 9]}, "two arrays as 'arr_0'")],
)
def test_nothing_is_stored_if_the_names_are_wrong(arrays, named, message):
    store = zarr.MemoryStore()
    with pytest.raises(ValueError, match=message):
        zarr.save(store, *arrays, **named)
    assert not [*store.list()]


# --- sizes and keys ---


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
@pytest.mark.parametrize(
    "remove",
    [lambda store: zarr.open_group(store).__delitem__("g"), lambda store: zarr.rmdir(store, "g")],
    ids=["node", "keys"],
)
def test_documents_are_removed_first(zarr_format, requests, remove):
    store = counting(hierarchy(zarr_format), requests)
    remove(store)
    erased = store.keys("erase", "erase_values")
    keys = list(dict.fromkeys(key for key in erased if key.startswith("g/")))
    documents = [key for key in keys if not key[-1].isdecimal()]
    assert keys[: len(documents)] == documents
    depths = [key.count("/") for key in documents]
    assert depths == sorted(depths)
    assert store.keys("erase_prefix") == ["g/"]
    assert list(zarr.open_group(store)) == ["z"]
    assert not list(store.list_prefix("g/"))


def test_removing_keys_that_do_not_exist_is_an_error(tmp_path):
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
def test_the_size_of_a_node_is_that_of_all_its_keys(zarr_format, requests, tmp_path):
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


def test_the_size_of_a_key(tmp_path):
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
