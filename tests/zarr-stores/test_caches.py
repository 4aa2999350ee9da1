"""What the caches of values and of decoded chunks have in common."""

import pickle

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.extension import StoreError, WrapperStore
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.cache.lru_cache import LRUCacheStore

DATA = np.arange(64 * 48, dtype="int32").reshape(64, 48)


@pytest.fixture(params=[LRUCacheStore, ChunkCacheStore])
def cache(request):
    """The class of a cache, with the arguments store, size and options."""
    return request.param


@pytest.mark.parametrize(("check", "sees"), [("never", False), (3600, False), ("generation", True)])
def test_changes_of_others_are_visible_after_a_comparison(cache, check, sees, tmp_path):
    for name, data in (("a", DATA), ("b", DATA + 1)):
        zarr.create_array(tmp_path / name, data=data, chunks=(16, 16))
    path = tmp_path / "a/c/0/0"
    chunk = path.read_bytes()
    array = zarr.open_array(cache(LocalStore(tmp_path / "a"), 10**7, check))
    assert np.array_equal(array[...], DATA)
    (tmp_path / "b/c/0/0").rename(path)  # as another process
    assert array[3, 3] == DATA[3, 3] + sees
    if sees:
        path.unlink()
        assert array[3, 3] == 0
        path.write_bytes(chunk)
        assert array[3, 3] == DATA[3, 3]
    else:
        array.store.invalidate()
        assert array[3, 3] == DATA[3, 3] + 1


def test_missing_chunks_are_not_cached(cache):
    values = np.arange(5, dtype="int32")
    store, other = MemoryStore(), MemoryStore()
    zarr.create_array(store, shape=10, chunks=5, dtype="int32", fill_value=7)
    zarr.create_array(other, data=values, chunks=5)
    array = zarr.open_array(cache(store, 10**7, "never"))
    assert array[...].tolist() == [7] * 10
    store.set("c/0", other.get("c/0"))
    assert array[...].tolist() == [*values, *[7] * 5]


def test_a_value_read_while_it_is_written_is_not_cached(cache):
    class Slow(WrapperStore):
        def get(self, key):
            value = super().get(key)
            if key.startswith("c/"):
                store.inner = inner
                array[...] = 2
            return value

    inner = MemoryStore()
    zarr.create_array(inner, data=np.ones(5, "int32"))
    store = cache(inner, 10**6, "never")
    array = zarr.open_array(store)
    store.inner = Slow(inner)
    assert array[...].tolist() == [1] * 5
    assert array[...].tolist() == [2] * 5


def test_several_values_are_stored_in_one_call(cache):
    inner = CountingStore(MemoryStore())
    store = cache(inner, 10**6)
    inner.set("a", b"old")
    assert bytes(store.get("a")) == b"old"
    batches = []
    inner.inner.set_values = lambda values: batches.append([*values])
    store.set_values((key, b"new") for key in "ab")
    assert batches == [[("a", b"new"), ("b", b"new")]]
    inner.inner._mapping["a"] = b"new"
    assert bytes(store.get("a")) == b"new"  # not that of the cache


def test_pickles_have_the_options(cache, tmp_path):
    zarr.create_array(tmp_path / "a", data=DATA)
    array = zarr.open_array(cache(LocalStore(tmp_path / "a"), 10**6, 5.0))
    array[...]
    copy = pickle.loads(pickle.dumps(array))
    assert repr(copy.store) == repr(array.store)
    info = copy.store.cache_info()
    assert (info.hits, info.misses, info.max_bytes) == (0, 0, 10**6)
    assert np.array_equal(copy[...], DATA)


@pytest.mark.parametrize("options", [(-1,), (1, "always"), (1, -1), (1, float("nan"))])
def test_invalid_options_are_errors(cache, options):
    with pytest.raises(StoreError, match="max_bytes must not be negative|check must be"):
        cache(MemoryStore(), *options)


@pytest.mark.parametrize("size", ["1 GB", True, 1.5])
def test_the_size_is_a_number_or_a_pool(cache, size):
    with pytest.raises(TypeError, match="number of bytes"):
        cache(MemoryStore(), size)
