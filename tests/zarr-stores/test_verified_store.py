"""The store that compares every value with a manifest when it is read."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import NodeNotFoundError, StoreReadError, StoreReadOnlyError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.integrity.manifest import Manifest, create_manifest, write_manifest
from zarr_stores.integrity.verified_store import VerifiedStore
from zarr_stores.wrappers.prefix import PrefixStore

DATA = np.arange(400, dtype="int32").reshape(20, 20)


@pytest.fixture
def location(tmp_path):
    group = zarr.create_group(tmp_path / "a.zarr")
    group.create_array("x", data=DATA, chunks=(5, 5))
    group.create_array("y", data=DATA, chunks=(5, 5), shards=(10, 10))
    write_manifest(LocalStore(tmp_path / "a.zarr"))
    return tmp_path / "a.zarr"


def test_a_sound_hierarchy_is_read_and_not_changed(location):
    group = zarr.open(VerifiedStore(LocalStore(location)))
    assert np.array_equal(group["x"][...], DATA)
    assert np.array_equal(group["y"][3:7, 5], DATA[3:7, 5])
    assert sorted(group) == ["x", "y"]
    assert group.read_only
    with pytest.raises(StoreReadOnlyError):
        group["x"][0] = 1
    with pytest.raises(StoreReadOnlyError, match="read-only"):
        zarr.open(VerifiedStore(LocalStore(location)), "r+")
    assert np.array_equal(zarr.open_array(location / "x")[...], DATA)


def swap(folder):
    (folder / "x/c/0/0").rename(folder / "x/c/t")
    (folder / "x/c/0/1").rename(folder / "x/c/0/0")
    (folder / "x/c/t").rename(folder / "x/c/0/1")


def lose(folder):
    (folder / "x/c/0/0").unlink()


def change_metadata(folder):
    file = folder / "x/zarr.json"
    file.write_bytes(file.read_bytes().replace(b'"fill_value":', b'"fill_value" :'))


def flip(folder):
    value = bytearray((folder / "x/c/0/0").read_bytes())
    value[5] ^= 4
    (folder / "x/c/0/0").write_bytes(value)


def misplace(folder):
    (folder / "x/.zattrs").write_bytes(b"{}")
    (folder / "x/zarr.json").write_bytes((folder / "y/zarr.json").read_bytes())


@pytest.mark.parametrize("fault", [swap, lose, change_metadata, flip, misplace])
def test_a_fault_is_an_error_that_names_its_key(location, fault):
    fault(location)
    key = "x/zarr.json" if fault in (change_metadata, misplace) else "x/c/0/0"
    with pytest.raises(StoreReadError, match=f"'{key}'.*not verified"):
        zarr.open_group(VerifiedStore(LocalStore(location)))["x"][...]
    assert np.array_equal(zarr.open_group(VerifiedStore(LocalStore(location)))["y"][...], DATA)


def test_a_chunk_that_is_not_in_the_manifest_is_an_error(location):
    entries = dict(create_manifest(location))
    del entries["x/c/3/3"]
    array = zarr.open(VerifiedStore(LocalStore(location), Manifest(entries)))["x"]
    with pytest.raises(StoreReadError, match="in the store, but not in the manifest"):
        array[19, 19]


def test_a_lost_node_is_not_left_out(location):
    (location / "x/zarr.json").unlink()
    group = zarr.open_group(VerifiedStore(LocalStore(location)))
    assert "x/zarr.json" in set(group.store.list())
    with pytest.raises(StoreReadError, match=r"'x/zarr.json'.*not in the store"):
        list(group.arrays())


def test_the_manifest_can_be_a_file_and_that_of_a_node(location, tmp_path):
    create_manifest(location / "x").write(tmp_path / "x.jsonl")
    array = zarr.open_array(
        VerifiedStore(PrefixStore(LocalStore(location), "x"), tmp_path / "x.jsonl")
    )
    assert np.array_equal(array[...], DATA)
    assert np.array_equal(zarr.open_array(VerifiedStore(LocalStore(location)), path="x")[...], DATA)
    lose(location)
    with pytest.raises(StoreReadError, match="c/0/0"):
        array[...]


def test_listings_are_those_of_the_manifest(location):
    (location / "x/stray").write_bytes(b"")
    (location / "x-1").write_bytes(b"")  # "-" is before "/"
    store = VerifiedStore(LocalStore(location))
    expected = sorted(create_manifest(location))
    expected = [key for key in expected if key not in ("x/stray", "x-1")]
    assert list(store.list()) == expected
    assert list(store.list_prefix("x/c/1/")) == [key for key in expected if key[:6] == "x/c/1/"]
    assert store.list_dir("") == (["zarr.json"], ["x/", "y/"])
    assert store.list_dir("x/c/") == ([], [f"x/c/{row}/" for row in range(4)])
    assert dict(store.list_sizes("y/")) == dict(store.inner.list_sizes("y/"))


def test_a_manifest_that_is_missing_or_not_up_to_date_is_an_error():
    memory = MemoryStore()
    zarr.create_array(memory, data=[1])
    with pytest.raises(NodeNotFoundError, match="not found here or above"):
        zarr.open(VerifiedStore(memory))
    write_manifest(memory)
    zarr.open(memory)[0] = 2
    with pytest.raises(StoreReadError, match="'c/0'.*not verified"):
        zarr.open(VerifiedStore(memory))[0]
    write_manifest(memory)
    assert zarr.open(VerifiedStore(memory))[0] == 2


def test_a_value_that_differs_is_read_again_from_a_remote_store():
    class Remote(MemoryStore):
        max_concurrency = 4
        faults = 0

        def get(self, key):
            value = super().get(key)
            if key == "c/0" and self.faults:
                self.faults -= 1
                return bytes(len(value))
            return value

    store = Remote()
    zarr.create_array(store, data=[1, 2, 3])
    manifest = create_manifest(store)
    store.faults = 1
    assert zarr.open(VerifiedStore(store, manifest))[...].tolist() == [1, 2, 3]
    store.faults = 2
    with pytest.raises(StoreReadError, match="also when it was read again"):
        zarr.open(VerifiedStore(store, manifest))[...]


def test_a_cache_keeps_verified_values(location):
    store = LRUCacheStore(VerifiedStore(LocalStore(location)), 10**6)
    array = zarr.open(store)["y"]
    assert np.array_equal(array[:3], DATA[:3])
    assert np.array_equal(array[3:9], DATA[3:9])
    assert store.cache_info().hits


def test_the_argument_of_open_is_named():
    with pytest.raises(TypeError, match=r"keyword argument: verify.*VerifiedStore\(store\)"):
        zarr.open({}, verify=True)


def test_keys_exist_as_in_the_manifest(location):
    lose(location)
    (location / "x/stray").write_bytes(b"1")
    store = VerifiedStore(LocalStore(location))
    for key, size in store.list_sizes(""):
        assert store.exists(key)
        assert store.getsize(key) == size
    assert not store.exists("x/stray")
    assert store.getsize("x/stray") is None
