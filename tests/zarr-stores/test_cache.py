import pickle

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.extension import ByteRange, StoreError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache import LRUCacheStore


@pytest.fixture
def inner():
    return CountingStore(MemoryStore())


def test_a_second_read_needs_no_store(inner):
    inner.set("k", b"value")
    store = LRUCacheStore(inner, 100)
    inner.calls.clear()
    first, second = store.get("k"), store.get("k")
    assert first is second
    assert store.exists("k")
    assert store.getsize("k") == 5
    assert store.get_into("k", memoryview(bytearray(5))) == 5
    assert bytes(store.get_partial_values([("k", ByteRange(-2))])[0]) == b"ue"
    assert inner.count() == 1
    assert store.cache_info() == (3, 1, 5, 100)


def test_bounded_by_bytes_the_last_used_stay(inner):
    for key in "abcd":
        inner.set(key, bytes(40))
    store = LRUCacheStore(inner, 100)
    store.get("a"), store.get("b"), store.get("a"), store.get("c")
    inner.calls.clear()
    store.get("a")
    assert inner.count() == 0
    store.get("b")
    assert inner.keys() == ["b"]
    assert store.cache_info().nbytes == 80


def test_what_is_too_large_is_not_kept(inner):
    inner.set("small", b"123")
    inner.set("large", bytes(101))
    store = LRUCacheStore(inner, 100)
    store.get("small"), store.get("large")
    assert store.cache_info().nbytes == 3


def test_parts_are_kept(inner):
    inner.set("k", bytes(range(100)))
    store = LRUCacheStore(inner, 1000)
    inner.calls.clear()
    for _ in range(3):
        part = store.get_partial_values([("k", ByteRange(5, 3))])[0]
        assert bytes(part) == b"\5\6\7"
        with store.open_value("k") as reader:
            buffer = memoryview(bytearray(2))
            reader.read_into([(90, buffer)])
            assert bytes(buffer) == bytes([90, 91])
            assert bytes(reader.read(10, 2)) == bytes([10, 11])
    assert inner.count("get_partial_values") == 1
    assert inner.count("reader.read", "reader.read_into") == 2
    assert store.cache_info().nbytes == 7


def test_views_cannot_be_written(tmp_path):
    store = LRUCacheStore(LocalStore(tmp_path), 1000)
    store.set("k", b"0123456789")
    for _ in range(2):
        assert memoryview(store.get_partial_values([("k", ByteRange(0, 4))])[0]).readonly
        with store.open_value("k") as reader:
            assert reader.read(2, 3).readonly
    for _ in range(2):
        assert memoryview(store.get("k")).readonly
        assert memoryview(store.get_partial_values([("k", ByteRange(0, 4))])[0]).readonly


def test_others_are_seen_after_invalidation(inner):
    inner.set("k", b"old")
    store = LRUCacheStore(inner, 100)
    assert store.get("k") == b"old"
    assert list(store.list()) == ["k"]
    assert store.list_dir("") == (["k"], [])
    inner.set("k", b"new")
    inner.set("n", b"")
    assert store.get("k") == b"old"
    assert list(store.list()) == ["k"]
    store.invalidate_keys()
    assert store.get("k") == b"old"
    assert sorted(store.list()) == ["k", "n"]
    store.invalidate_values()
    assert store.get("k") == b"new"
    inner.set("k", b"newer")
    inner.erase("n")
    store.invalidate()
    assert store.get("k") == b"newer"
    assert store.list_dir("") == (["k"], [])


def test_a_value_read_while_it_is_written_is_not_kept(inner):
    inner.set("k", b"old")
    store = LRUCacheStore(inner, 100)

    class Slow(CountingStore):
        def get(self, key):
            value = super().get(key)
            store.set(key, b"new")
            return value

    store.inner = Slow(inner)
    assert store.get("k") == b"old"
    store.inner = inner
    assert store.get("k") == b"new"


def test_a_reader_does_not_take_parts_of_a_later_version(inner):
    inner.set("k", b"old")
    store = LRUCacheStore(inner, 100)
    with store.open_value("k") as reader:
        store.set("k", b"new")
        assert bytes(store.get_partial_values([("k", ByteRange(0, 3))])[0]) == b"new"
        assert bytes(reader.read(0, 3)) == b"old"
    assert store.get("k") == b"new"


def test_parts_of_a_value_whose_size_others_changed_are_forgotten(inner):
    inner.set("k", b"old")
    store = LRUCacheStore(inner, 100)
    for value in (b"old", b"other"):
        inner.set("k", value)
        with store.open_value("k") as reader:
            assert bytes(reader.read(0, 3)) == value[:3]


def test_an_array_is_read_from_memory(inner):
    data = np.arange(1000, dtype="i4").reshape(20, 50)
    zarr.create_array(inner, data=data, chunks=(7, 20))
    store = LRUCacheStore(inner, 10**6)
    array = zarr.open_array(store, mode="r")
    assert np.array_equal(array[...], data)
    inner.calls.clear()
    assert np.array_equal(array[...], data)
    assert np.array_equal(array[3:9, ::7], data[3:9, ::7])
    assert inner.count() == 0


def test_a_copy_is_empty(tmp_path):
    store = LRUCacheStore(LocalStore(tmp_path), 55)
    store.set("k", b"v")
    store.get("k")
    assert pickle.loads(pickle.dumps(store)).cache_info() == (0, 0, 0, 55)


def test_a_negative_size_is_refused():
    with pytest.raises(StoreError, match="max_bytes"):
        LRUCacheStore(MemoryStore(), -1)
