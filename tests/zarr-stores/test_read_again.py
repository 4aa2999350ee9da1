"""A chunk that cannot be decoded is requested again from a remote store."""

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_store
from zarr_core.extension import BufferByteReader, ChecksumError, ChunkDecodeError, WrapperStore
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.wrappers.prefix import PrefixStore

pytest_plugins = ["servers.fixtures"]
DATA = np.arange(4000, dtype="int32").reshape(40, 100)
LAYOUTS = {
    "chunks": {"chunks": (20, 50)},
    "shards": {"chunks": (10, 10), "shards": (20, 50)},
    "gzip": {"chunks": (20, 50), "compressors": "gzip"},
}


class Faulty(WrapperStore):
    """A remote store whose next responses for chunks have a changed byte."""

    def __init__(self, inner):
        super().__init__(inner)
        self.in_memory = False
        self.max_concurrency = 4
        self.faults = 0
        self.requests = 0

    def get(self, key):
        value = self.inner.get(key)
        if "c/" not in key or value is None:
            return value
        self.requests += 1
        value = bytearray(value)
        if self.faults:
            self.faults -= 1
            value[len(value) // 2] ^= 1
            value[-5] ^= 1
        return bytes(value)

    def get_limited(self, key, limit, out=None):
        return MemoryStore.get_limited(self, key, limit, out)

    def open_value(self, key, first=None):
        value = self.get(key)
        return None if value is None else BufferByteReader(value)

    def update(self, key, change):
        self.set(key, change(self.open_value(key)))

    def _arguments(self):
        return (self.inner,)


WRAPPERS = {
    "none": lambda store: store,
    "memory": lambda store: LRUCacheStore(store, 10**6),
    "checked": lambda store: LRUCacheStore(store, 10**6, check="generation"),
    "prefix": lambda store: PrefixStore(LRUCacheStore(store, 10**6), "p"),
    "decoded": lambda store: ChunkCacheStore(LRUCacheStore(store, 10**6), 10**6),
}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_chunk_that_was_damaged_on_the_way_is_read(wrap, layout):
    remote = Faulty(MemoryStore())
    store = WRAPPERS[wrap](remote)
    zarr.create_array(store, data=DATA, **layout)
    for part in (np.s_[...], np.s_[3:5, 60:70], np.s_[5, 5]):
        array = zarr.open_array(WRAPPERS[wrap](remote), mode="r")
        remote.faults = 1
        assert np.array_equal(array[part], DATA[part])
        remote.faults = 0
        assert np.array_equal(array[part], DATA[part])


def test_a_chunk_that_is_damaged_twice_is_an_error_that_says_so(layout):
    remote = Faulty(MemoryStore())
    zarr.create_array(remote, data=DATA, **layout)
    with zarr.config.set(native="off"):  # with it, a chunk is requested three times
        array = zarr.open_array(remote, mode="r")
        array[0, 0]
    remote.faults, remote.requests = 10**6, 0
    with pytest.raises(ChunkDecodeError, match=r"c/0/0.*also when it was requested again"):
        array[3, 3]
    assert remote.requests == 2
    remote.faults = 0
    assert array[3, 3] == DATA[3, 3]


def test_a_chunk_that_is_written_in_part_is_read_again(layout):
    remote = Faulty(MemoryStore())
    array = zarr.create_array(remote, data=DATA, **layout)
    remote.faults = 1
    array[3, 3] = -1
    expected = DATA.copy()
    expected[3, 3] = -1
    assert np.array_equal(array[...], expected)
    remote.faults = 2
    with pytest.raises(ChunkDecodeError, match="also when it was requested again"):
        array[4, 4] = -1
    assert np.array_equal(array[...], expected)


def test_a_local_chunk_is_read_once(tmp_path):
    zarr.create_array(tmp_path, data=DATA, chunks=(20, 50))
    file = tmp_path / "c/0/0"
    value = bytearray(file.read_bytes())
    value[-1] ^= 1
    file.write_bytes(value)
    with pytest.raises(ChunkDecodeError) as caught:
        zarr.open_array(LocalStore(tmp_path))[0, 0]
    assert "again" not in str(caught.value)


def test_a_damaged_object_names_the_problem(s3_server):
    store = s3_store(s3_server)
    zarr.create_array(store, data=DATA, chunks=(40, 100))
    value = bytearray(store.get("c/0/0"))
    value[-1] ^= 1
    store.set("c/0/0", bytes(value))
    with pytest.raises(ChecksumError, match=r"c/0/0.*also when it was requested again"):
        zarr.open_array(store)[...]
