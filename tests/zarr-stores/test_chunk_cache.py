"""Decoded chunks that are kept in memory."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import ChunkDecodeError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.cache.lru_cache import CachePool, LRUCacheStore

DATA = np.arange(64 * 48, dtype="int32").reshape(64, 48)
LAYOUTS = {
    "chunks": {"chunks": (16, 16)},
    "raw": {"chunks": (16, 16), "compressors": None},
    "edges": {"chunks": (13, 11)},
    "shards": {"chunks": (8, 8), "shards": (32, 24)},
    "large shards": {"chunks": (8, 8), "shards": (128, 64)},
    "transposed": {"chunks": (16, 16), "order": "F", "zarr_format": 2},
    "big-endian": {"chunks": (16, 16), "dtype": ">i4", "zarr_format": 2},
}


class Counting(MemoryStore):
    """Counts the reads of chunks."""

    reads = 0

    def get(self, key):
        self.reads += "c/" in key or key[0].isdigit()
        return super().get(key)

    def open_value(self, key, first=None):
        self.reads += "c/" in key
        return super().open_value(key, first)


@pytest.fixture(params=LAYOUTS)
def store(request):
    store = Counting()
    zarr.create_array(store, **{"data": DATA} | LAYOUTS[request.param])
    store.reads = 0
    return store


def test_every_selection_is_as_without_a_cache(store):
    array = zarr.open_array(ChunkCacheStore(store, 10**6))
    rng = np.random.default_rng(0)
    for _ in range(2):
        for _ in range(40):
            first, last = np.sort(rng.integers(0, 65, 2))
            part = np.s_[
                first:last, rng.integers(0, 20) : rng.integers(20, 49) : rng.integers(1, 4)
            ]
            assert np.array_equal(array[part], DATA[part])
            rows, columns = rng.integers(0, 64, 5), rng.integers(0, 48, 5)
            assert np.array_equal(array.vindex[rows, columns], DATA[rows, columns])
            assert np.array_equal(array.oindex[rows, columns], DATA[np.ix_(rows, columns)])
            mask = rng.random(DATA.shape) < 0.01
            assert np.array_equal(array[mask], DATA[mask])
        assert np.array_equal(array[...], DATA)
        assert array[5, 7] == DATA[5, 7]
        reads = store.reads
    assert array.store.cache_info().hits
    assert np.array_equal(array[3:60:5], DATA[3:60:5])
    assert store.reads == reads


def test_each_chunk_is_decoded_once_for_slabs_of_rows():
    data = np.arange(512 * 64).reshape(512, 64)
    for layout in ({"chunks": (256, 64)}, {"chunks": (64, 32), "shards": (256, 64)}):
        store = Counting()
        zarr.create_array(store, data=data, **layout)
        store.reads = 0
        array = zarr.open_array(ChunkCacheStore(store, 10**7))
        for row in range(0, 512, 6):
            assert np.array_equal(array[row : row + 6], data[row : row + 6])
        assert store.reads <= (2 if "shards" not in layout else 16)


def test_small_parts_of_kept_chunks_are_copied_without_threads(monkeypatch):
    data = np.arange(64 * 60).reshape(64, 60)
    for end in (60, 45):  # with missing chunks, which no cache keeps
        store = Counting()
        zarr.create_array(store, shape=data.shape, dtype=data.dtype, chunks=(32, 15), fill_value=7)
        array = zarr.open_array(ChunkCacheStore(store, 10**7), mode="r+")
        array[:, :end] = expected = data[:, :end]
        expected = np.pad(expected, ((0, 0), (0, 60 - end)), constant_values=7)
        array[:]
        with monkeypatch.context() as patch:
            patch.delattr("zarr_core.threads._run_in_threads")
            for rows in (slice(0, 64), slice(3, 9), slice(30, 36), slice(40, 20, -3)):
                assert np.array_equal(array[rows], expected[rows])
            assert np.array_equal(array[[1, 40, 40], :], expected[[1, 40, 40]])


def test_threads_decode_a_chunk_once():
    store = Counting()
    zarr.create_array(store, data=np.arange(10**5), chunks=10**5)
    store.reads = 0
    array = zarr.open_array(ChunkCacheStore(store, 10**7))
    start = threading.Barrier(8)

    def work(_):
        start.wait()
        return array[5]

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(work, range(8))] == [5] * 8
    assert store.reads == 1


def test_results_can_be_changed(store):
    array = zarr.open_array(ChunkCacheStore(store, 10**6))
    for _ in range(2):
        values = array[...]
        values[...] = -1
        part = array[:16, :16]
        part[...] = -1
    assert np.array_equal(array[...], DATA)


# --- limits ---


def test_the_cache_is_never_larger_than_its_limit(store):
    pool = CachePool(5000)
    array = zarr.open_array(ChunkCacheStore(store, pool))
    rng = np.random.default_rng(1)
    for _ in range(200):
        row, column = rng.integers(0, 60), rng.integers(0, 40)
        part = np.s_[row : row + 5, column : column + 9]
        assert np.array_equal(array[part], DATA[part])
        held = sum(it.nbytes for it in pool._held.values())
        assert held == pool.cache_info().nbytes <= 5000


def test_a_chunk_that_is_too_large_is_not_kept(store):
    array = zarr.open_array(ChunkCacheStore(store, 100))
    assert np.array_equal(array[...], DATA)
    assert np.array_equal(array[3:9], DATA[3:9])
    assert array.store.cache_info().nbytes == 0


def test_texts_are_not_kept():
    array = zarr.create_array(store := MemoryStore(), data=np.array(["a", "bc"]), dtype=str)
    cached = zarr.open_array(ChunkCacheStore(store, 10**6))
    assert cached[...].tolist() == ["a", "bc"]
    array[0] = "d"
    assert cached[...].tolist() == ["d", "bc"]
    assert cached.store.cache_info().nbytes == 0


def test_several_arrays_share_a_pool():
    pool = CachePool(10**6)
    group = zarr.create_group(store := Counting())
    for name in "xyz":
        group.create_array(name, data=DATA, chunks=(16, 16))
    arrays = [zarr.open(ChunkCacheStore(store, pool), path=name) for name in "xyz"]
    assert all(np.array_equal(array[...], DATA) for array in arrays)
    assert pool.cache_info().nbytes == 3 * DATA.nbytes
    store.reads = 0
    members = zarr.open_group(ChunkCacheStore(store, pool))  # equal metadata and location
    assert all(np.array_equal(members[name][...], DATA) for name in "xyz")
    assert store.reads == 0


# --- changes ---


def test_own_changes_are_visible(store, tmp_path):
    cached = zarr.open_array(ChunkCacheStore(store, 10**6))
    other = zarr.open_array(store)  # without a cache
    now = DATA.copy()
    rng = np.random.default_rng(2)
    for step in range(60):
        row, column = rng.integers(0, 60), rng.integers(0, 40)
        part = np.s_[row : row + rng.integers(1, 20), column : column + rng.integers(1, 20)]
        now[part] = step if step % 3 else 0
        (cached if step % 2 else other)[part] = now[part]
        assert np.array_equal(cached[part], now[part])
        assert np.array_equal(cached[::7], now[::7])
    cached.resize((20, 48))
    cached.resize((64, 48))
    now[20:] = 0
    assert np.array_equal(cached[...], now)


def test_a_new_array_at_the_same_location_is_not_confused():
    pool = CachePool(10**6)
    store = MemoryStore()
    group = zarr.open_group(ChunkCacheStore(store, pool), "a")
    for value, dtype in ((1, "int32"), (2, "float32"), (3, "int32"), (4, ">i2")):
        group.create_array("x", shape=10, chunks=5, dtype=dtype, overwrite=True)[...] = value
        assert group["x"][...].tolist() == [value] * 10
        other = zarr.open_group(store)
        assert other["x"][...].tolist() == [value] * 10
        del other["x"]
        assert "x" not in group
    group.create_array("x", shape=10, chunks=5, dtype="int32")
    assert group["x"][...].tolist() == [0] * 10


@pytest.mark.parametrize(
    "count", [800, pytest.param(100_000, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_threads_that_read_and_write_see_the_elements_of_numpy(count):
    store = MemoryStore()
    layout = {"chunks": (4, 8), "shards": (16, 16)}
    zarr.create_array(store, shape=(64, 64), dtype="int32", fill_value=-1, **layout)
    pool = CachePool(64 * 64 * 4 // 3)
    expected = np.full((64, 64), -1, "int32")
    failures = []

    def work(number):  # each thread has its own rows, which share chunks with those of others
        rng = np.random.default_rng(number)
        array = zarr.open_array(ChunkCacheStore(store, pool))
        rows = np.arange(number, 64, 4)
        for step in range(count // 4):
            if step % 100 == 99:
                array = zarr.open_array(ChunkCacheStore(store, pool))
            row, start = rng.choice(rows), rng.integers(0, 60)
            part = np.s_[row, start : start + rng.integers(1, 30)]
            if rng.random() < 0.4:
                expected[part] = array[part] = rng.integers(-1, 3)
            elif not np.array_equal(array[part], expected[part]):
                failures.append((number, step))
            if pool.cache_info().nbytes > pool.max_bytes:
                failures.append("limit")

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(work, range(4))] == [None] * 4
    assert failures == []
    assert np.array_equal(zarr.open_array(store)[...], expected)
    assert pool.cache_info().hits


# --- other ---


def test_damage_is_an_error_and_not_kept(store):
    key = next(key for key in store.list() if key[-1].isdigit())
    value = bytes(store.get(key))
    store.set(key, value[:-5])
    array = zarr.open_array(ChunkCacheStore(store, 10**6))
    for _ in range(2):
        with pytest.raises(ChunkDecodeError, match=key):
            array[...]
    store.set(key, value)
    assert np.array_equal(array[...], DATA)


def test_the_setting_applies_to_all_arrays():
    pool = CachePool(10**6)
    store = Counting()
    with zarr.config.set(chunk_cache=pool):
        array = zarr.create_array(store, data=DATA, chunks=(16, 16))
        assert np.array_equal(array[...], DATA)
        store.reads = 0
        assert np.array_equal(zarr.open(store)[...], DATA)
        assert store.reads == 0
        assert array.store.inner is store
    assert zarr.open(store).store is store


def test_a_pool_can_have_values_and_chunks(tmp_path):
    pool = CachePool(10**6)
    zarr.create_array(tmp_path, data=DATA, chunks=(16, 16))
    store = ChunkCacheStore(LRUCacheStore(LocalStore(tmp_path), pool), pool)
    array = zarr.open_array(store)
    for _ in range(2):
        assert np.array_equal(array[...], DATA)
    assert DATA.nbytes < pool.cache_info().nbytes < 10**6
    array[...] = DATA + 1
    assert np.array_equal(array[...], DATA + 1)
