import pytest
from store_contract import StoreContract
from zarr_core.extension import StoreError, StoreKeyError
from zarr_stores.lmdb import LMDBStore


class TestLMDBStore(StoreContract):
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
