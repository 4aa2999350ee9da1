import pickle
import time

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore, VersionedStore
from hypothesis import given, settings
from hypothesis import strategies as st
from store_contract import get_into
from zarr_core.extension import ByteRange, StoreError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.lru_cache import CachePool, LRUCacheStore
from zarr_stores.cache.pool import KnownGeneration
from zarr_stores.cache.recheck import recheck


@pytest.fixture
def inner():
    return CountingStore(MemoryStore())


def test_a_second_read_needs_no_store(inner):
    inner.set("k", b"value")
    store = LRUCacheStore(inner, 100)
    inner.calls.clear()
    first, second = store.get("k"), store.get("k")
    assert first is second
    assert get_into(store, "k", memoryview(bytearray(5))) == 5
    assert bytes(store.get_partial_values([("k", ByteRange(-2))])[0]) == b"ue"
    assert inner.count() == 1
    assert store.cache_info() == (3, 1, 5, 100)


def test_the_least_recently_used_values_are_evicted(inner):
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


def test_too_large_values_are_not_cached(inner):
    inner.set("small", b"123")
    inner.set("large", bytes(101))
    store = LRUCacheStore(inner, 100)
    store.get("small"), store.get("large")
    assert store.cache_info().nbytes == 3


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


def test_listings_and_sizes_are_not_cached(inner):
    inner.set("k", b"old")
    store = LRUCacheStore(inner, 1000)
    for keys in (["k"], ["k", "n"]):
        store.get("k")
        assert sorted(store.list()) == store.list_dir("")[0] == keys
        assert dict(store.list_sizes("")) == {key: inner.getsize(key) for key in keys}
        assert store.getsize("k") == len(inner.get("k"))
        assert store.exists("n") == inner.exists("n")
        inner.set("k", b"longer")
        inner.set("n", b"")


def test_a_reader_does_not_take_parts_of_a_later_generation(inner):
    inner.set("k", b"old")
    store = LRUCacheStore(inner, 100)
    with store.open_value("k") as reader:
        store.set("k", b"new")
        assert bytes(store.get_partial_values([("k", ByteRange(0, 3))])[0]) == b"new"
        assert bytes(reader.read(0, 3)) == b"old"
    assert store.get("k") == b"new"


def test_a_part_of_a_buffer_does_not_keep_the_buffer():
    whole = memoryview(bytes(range(100)))
    store = LRUCacheStore(MemoryStore({"k": whole[5:8]}), 1000)
    assert [bytes(store.get("k")) for _ in range(2)] == [b"\5\6\7"] * 2
    assert memoryview(store.get("k")).obj is not whole.obj
    assert store.cache_info().nbytes == 3


def test_a_pool_keeps_one_generation_of_a_value():
    pool = CachePool(1000)
    for part, generation in ((1, "a"), (2, "a"), (3, "b")):
        known = KnownGeneration(generation, 0.0)
        pool.keep("k", part, b"v", pool.changes("k"), known)
    assert [pool.use("k", part) for part in (1, 2, 3)] == [None, None, b"v"]
    assert pool.nbytes == 1


def test_a_pool_keeps_nothing_that_is_read_during_a_change():
    pool = CachePool(1000)
    for prefix, is_kept in (("k", False), ("", False), ("other", True)):
        pool.begin_change(prefix)
        pool.keep("k", None, b"v", pool.missed("k"))
        assert (pool.use("k") is not None) == is_kept
        pool.end_change(prefix)


# --- values that are read in parts ---


def test_parts_of_values_that_are_not_cached_are_those_of_the_store(server):
    server.set("k", bytes(range(200)))
    store = LRUCacheStore(server, 1000)
    for count in (1, 2):
        for open_value in (store.open_value, store.open_cached):
            with open_value("k", ByteRange(5, 3)) as reader:
                assert bytes(reader.read(5, 3)) == b"\5\6\7"
                assert (reader.size, reader.max_concurrency, reader.gap_nbytes) == (200, 7, 77)
                assert reader.generation == server.generation("k")
        assert [bytes(it) for it in store.get_partial_values([("k", ByteRange(5, 3))])] == [
            b"\5\6\7"
        ]
        assert store.cache_info() == (0, 3 * count, 0, 1000)
    store.get("k")
    server.calls.clear()
    with store.open_cached("k") as reader:
        assert bytes(reader.read(5, 3)) == b"\5\6\7"
    assert server.calls == []


@pytest.fixture
def server():
    return VersionedStore(MemoryStore())


def test_a_value_read_as_a_whole_is_cached_as_a_whole():
    inner = MemoryStore()
    inner.set("k", b"0123456789")
    store = LRUCacheStore(inner, 10)
    with store.open_value("k") as reader:
        assert bytes(reader.read(2, 2)) == b"23"
    inner.erase("k")
    with store.open_value("k") as reader:
        assert bytes(reader.read(8, 2)) == b"89"
    assert store.cache_info().nbytes == 10


# --- comparing generations ---


@pytest.fixture(params=["server", "directory", "memory"])
def shared(request, tmp_path):
    """A store whose readers have a generation, and two whose readers have none."""
    if request.param == "server":
        return VersionedStore(MemoryStore())
    return CountingStore(LocalStore(tmp_path) if request.param == "directory" else MemoryStore())


def everything(store, key):
    """A value, read in all ways."""
    buffer = memoryview(bytearray(20))
    size = get_into(store, key, buffer)
    with store.open_value(key) as reader:
        opened = bytes(reader.read(0, reader.size))
        half = memoryview(bytearray(reader.size // 2))
        reader.read_into([(0, half)])
    (part,) = store.get_partial_values([(key, ByteRange(-2))])
    whole = bytes(store.get(key))
    assert bytes(half) == whole[: len(whole) // 2]
    assert bytes(part) == whole[-2:]
    assert {whole, opened, bytes(buffer[:size]), bytes(store.get_limited(key, 50))} == {whole}
    assert store.getsize(key) == store.get_limited(key, 0) == len(whole)
    return whole


def test_a_checked_value_is_read_again_after_a_change_only(shared):
    shared.set("k", b"old value")
    store = LRUCacheStore(shared, 1000, check="generation")
    assert everything(store, "k") == b"old value"
    shared.calls.clear()
    assert everything(store, "k") == b"old value"
    assert shared.count("get", "reader.read", "reader.read_into", "open_value") == 0
    shared.set("k", b"new value")
    assert everything(store, "k") == b"new value"
    assert list(store.list()) == ["k"]
    shared.set("l", b"")
    assert sorted(store.list()) == ["k", "l"]
    shared.erase("k")
    assert store.get("k") is None
    assert not store.exists("k")


def test_seconds_pass_between_two_checks(shared):
    shared.set("k", b"old value")
    store = LRUCacheStore(shared, 1000, check=0.2)
    started = time.monotonic()
    assert everything(store, "k") == b"old value"
    shared.set("k", b"new value")
    shared.calls.clear()
    value = bytes(store.get("k"))
    if time.monotonic() - started < 0.2:
        assert (value, shared.count("generation", "get")) == (b"old value", 0)
    time.sleep(0.21)
    assert everything(store, "k") == b"new value"


def test_the_time_of_a_check_that_found_no_change_counts(server):
    server.set("k", b"value")
    store = LRUCacheStore(server, 1000, check=0.05)
    store.get("k")
    time.sleep(0.06)
    server.calls.clear()
    started = time.monotonic()
    store.get("k"), store.get("k")
    if time.monotonic() - started < 0.05:
        assert server.count("generation") <= 1
    assert server.count("open_value", "get") == 0


def test_rechecked_metadata_is_not_taken_from_a_cache_without_checks(tmp_path):
    writer = zarr.create_array(tmp_path, shape=4)
    cached = recheck(zarr.open(LRUCacheStore(LocalStore(tmp_path), 10**6)))
    for length in (5, 6):
        writer.resize(length)
        assert cached.shape == (length,)


# --- pools ---


def test_stores_of_a_pool_share_its_memory_but_not_their_values():
    pool = CachePool(100)
    stores = [LRUCacheStore(MemoryStore({"k": bytes([n]) * 40}), pool) for n in range(3)]
    assert [store.get("k")[0] for store in stores] == [0, 1, 2]
    assert pool.cache_info() == (0, 3, 80, 100)
    assert stores[2].cache_info() == pool.cache_info()
    assert [stores[n].get("k")[0] for n in (2, 1, 0)] == [2, 1, 0]
    assert (pool.hits, pool.misses) == (2, 4)  # the oldest was evicted
    stores[1].invalidate()
    assert stores[0].get("k")[0] == 0
    assert pool.hits == 3
    pool.clear()
    assert pool.nbytes == 0


def test_stores_of_one_location_share_values_and_see_changes(tmp_path):
    pool = CachePool(1000)
    first, second = (LRUCacheStore(LocalStore(tmp_path), pool) for _ in range(2))
    first.set("k", b"one")
    assert bytes(first.get("k")) == bytes(second.get("k")) == b"one"
    assert (pool.hits, pool.misses) == (1, 1)
    second.set("k", b"two")
    assert bytes(first.get("k")) == b"two"
    first.erase_prefix("")
    assert second.get("k") is None


def test_metadata_of_several_arrays_are_counted_and_evicted(tmp_path):
    root = zarr.create_group(tmp_path)
    for name in ("a", "b"):
        root.create_array(name, data=np.arange(4), chunks=2)
    pool = CachePool(10**6)

    def read(store):
        before = pool.cache_info()
        for name, array in zarr.open_group(store, "r").arrays():
            assert list(array[:]) == [0, 1, 2, 3], name
        after = pool.cache_info()
        return after.hits - before.hits, after.misses - before.misses

    stores = [LRUCacheStore(LocalStore(tmp_path), pool) for _ in range(2)]
    requests = 3 + 2 * 2  # metadata documents, chunks
    assert [read(store) for store in stores] == [(0, requests), (requests, 0)]
    pool.max_bytes = 100
    LocalStore(tmp_path).set("x", b"value")
    stores[0].get("x")
    assert 5 <= pool.nbytes <= 100


def test_a_wrapper_does_not_share_values_with_the_equal_inner_store(tmp_path):
    class Reverse(CountingStore):
        def get(self, key):
            return bytes(super().get(key))[::-1]

    pool = CachePool(1000)
    inner = LocalStore(tmp_path)
    inner.set("k", b"abc")
    assert Reverse(inner) == inner
    stores = [LRUCacheStore(inner, pool), LRUCacheStore(Reverse(inner), pool)]
    assert [bytes(store.get("k")) for store in stores] == [b"abc", b"cba"]


def test_a_store_at_the_address_of_another_has_other_values():
    pool = CachePool(10**6)
    for number in range(50):  # objects are created at the addresses of removed ones
        store = LRUCacheStore(MemoryStore({"k": bytes([number])}), pool)
        assert store.get("k")[0] == number
        del store


def test_copies_of_stores_share_an_empty_copy_of_the_pool(tmp_path):
    pool = CachePool(1000)
    for name in "ab":
        LocalStore(tmp_path / name).set("k", b"v")
    stores = [LRUCacheStore(LocalStore(tmp_path / name), pool) for name in "ab"]
    stores[0].get("k")
    first, second = pickle.loads(pickle.dumps(stores))
    assert first.cache_info() == (0, 0, 0, 1000)
    second.get("k")
    assert first.cache_info().misses == 1
    with pytest.raises(StoreError, match="negative"):
        CachePool(-1)


KEYS = st.sampled_from(["a", "b/c"])
CHANGES = st.one_of(
    st.tuples(st.just("set"), KEYS, st.binary(min_size=1, max_size=40)),
    st.tuples(st.just("erase"), KEYS, st.just(b"")),
)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["server", "memory"]),
    max_bytes=st.sampled_from([0, 30, 1000]),
    steps=st.lists(st.tuples(st.integers(0, 2), CHANGES, KEYS, st.integers(0, 30)), max_size=12),
)
def test_checked_caches_always_return_the_current_value(kind, max_bytes, steps):
    inner = VersionedStore(MemoryStore()) if kind == "server" else MemoryStore()
    pool = CachePool(max_bytes)
    caches = [LRUCacheStore(inner, pool, check="generation") for _ in range(2)]
    writers = [*caches, inner]  # others change the store directly
    expected = {}
    for writer, (change, key, value), read, start in steps:
        if change == "set":
            writers[writer].set(key, value)
            expected[key] = value
        else:
            writers[writer].erase(key)
            expected.pop(key, None)
        for cache in caches:
            whole = cache.get(read)
            assert (None if whole is None else bytes(whole)) == expected.get(read)
            (part,) = cache.get_partial_values([(read, ByteRange(start, 5))])
            want = expected.get(read)
            assert (part if want is None else bytes(part)) == (
                None if want is None else want[start : start + 5]
            )
    assert pool.nbytes <= max_bytes
