import numpy as np
import pytest
import zarr_core as zarr
from database_contract import DatabaseContract
from zarr_core.extension import StoreError, StoreKeyError, WrapperStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.wrappers.prefix import PrefixStore


class TestLMDBStore(DatabaseContract):
    name = "lmdb"
    test_deep_keys = None  # keys have at most 511 bytes

    def make(self, tmp_path):
        return LMDBStore(tmp_path / "store")

    def again(self, store, *, read_only):
        return LMDBStore(store.path, read_only=read_only)


def test_a_key_of_512_bytes_is_rejected(tmp_path):
    store = LMDBStore(tmp_path / "s")
    store.set("é" * 255 + "k", b"v")
    with pytest.raises(StoreKeyError, match="511"):
        store.set("é" * 256, b"v")


def test_a_full_environment_raises(tmp_path):
    store = LMDBStore(tmp_path / "s.lmdb", map_size=1 << 17)
    store.set("k", b"v")
    with pytest.raises(StoreError, match="map_size"):
        store.set("large", bytes(1 << 18))
    assert store.get("k") == b"v"
    assert sorted(it.name for it in (tmp_path / "s.lmdb").iterdir()) == ["data.mdb", "lock.mdb"]


@pytest.mark.parametrize("fsync", [False, True])
def test_flush_writes_to_the_disk(tmp_path, fsync):
    store = LMDBStore(tmp_path / "a", fsync=fsync)
    store.flush()
    assert not (tmp_path / "a").exists()
    store.set("k", b"v")
    store.flush()
    LMDBStore(tmp_path / "a", read_only=True).flush()
    assert bytes(store.get("k")) == b"v"


def transactions(store):
    """The number of transactions since the environment was created."""
    return store._environment.info()["last_txnid"]


def test_small_chunks_are_stored_in_one_transaction(tmp_path):
    store = LMDBStore(tmp_path / "s")
    values = np.arange(1, 20_001, dtype="i4")
    array = zarr.create_array(store, shape=20_000, chunks=2, dtype="i4", fill_value=0)
    before = transactions(store)
    array[...] = values
    assert transactions(store) == before + 1
    assert np.array_equal(zarr.open_array(store)[...], values)
    array[:10_000] = np.arange(10_000) // 10_000  # 5,000 empty chunks, which are removed
    assert transactions(store) == before + 2
    assert sum(key.startswith("c/") for key in store.list()) == 5_000


def test_a_batch_is_stored_completely_or_not_at_all(tmp_path):
    store = LMDBStore(tmp_path / "s", map_size=1 << 17)
    store.set("k", b"old")
    with pytest.raises(StoreError, match="map_size"):
        store.set_values([("k", b"new"), ("large", bytes(1 << 18))])
    assert bytes(store.get("k")) == b"old"
    with pytest.raises(StoreKeyError, match="511"):
        store.set_values([("k", b"new"), ("l" * 512, b"")])
    store.set_values([])
    assert sorted(store.list()) == ["k"]


def test_wrappers_keep_batches(tmp_path):
    store = LMDBStore(tmp_path / "s")
    array = zarr.create_array(
        PrefixStore(WrapperStore(store), "p/"), shape=100, chunks=2, dtype="i4", fill_value=-1
    )
    before = transactions(store)
    array[...] = np.arange(100)
    assert transactions(store) == before + 1
    assert zarr.open_array(store, path="p")[99] == 99


def test_small_values_are_copied_in_few_transactions(tmp_path):
    source = zarr.MemoryStore()
    array = zarr.create_array(source, shape=1000, chunks=1, dtype="int64", path="a")
    array[:] = np.arange(1, 1001)
    keys = set(source.list())
    store = LMDBStore(tmp_path / "s")
    store.set("k", b"v")  # creates the environment
    before, counts = transactions(store), []
    result = zarr.copy_store(source, store, progress=lambda progress: counts.append(progress.done))
    assert transactions(store) - before <= 4
    assert result.copied == len(keys) == counts[-1]
    assert {key: bytes(store.get(key)) for key in keys} == {key: source.get(key) for key in keys}
    array[:2] = -1
    result = zarr.copy_store(source, store, if_exists="update")
    assert np.array_equal(zarr.open_array(store, path="a")[:], array[:])
    assert result.copied == 2
