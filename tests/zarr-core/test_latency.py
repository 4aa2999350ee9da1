"""Stores with latency: concurrent requests, no requests after a failure."""

import threading
import time
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from failing_store import FaultyStore
from waits import LATENCIES
from zarr_core.config import config
from zarr_core.extension import StoreError

REQUESTS = 32
MOST = 256  # for requests that issue further requests: members of groups, parts of shards


class Remote(FaultyStore):
    """A store with latency; records the number of concurrent calls."""

    def __init__(self, inner, *args, **kwargs):
        super().__init__(inner, *args, **kwargs)
        self.in_memory = False
        self.active = self.most = 0
        self._counting = threading.Lock()

    def perform(self, operation, key, work, nbytes):
        if operation == "update":  # which is reads and writes, in the same thread
            return super().perform(operation, key, work, nbytes)
        with self._counting:
            self.active += 1
            self.most = max(self.most, self.active)
        try:
            return super().perform(operation, key, work, nbytes)
        finally:
            with self._counting:
                self.active -= 1


def hurried(store, work, most=REQUESTS + 1):
    """Run the work with latency, and check that it is much faster than sequential calls."""
    result = work()  # without latency, to import modules and fill caches
    for latency in LATENCIES:
        store.latency = latency
        store.calls.clear()
        store.most = 0
        begun = time.perf_counter()
        result = work()
        one_by_one = (time.perf_counter() - begun) / (len(store.calls) * latency)
        if one_by_one < 1 / 3 and store.most >= 8:
            break
    store.latency = 0.0
    assert len(store.calls) >= 20
    assert one_by_one < 1 / 3
    assert 8 <= store.most <= most
    return result


@pytest.fixture
def store():
    return Remote(zarr.MemoryStore(), max_concurrency=REQUESTS)


@pytest.mark.parametrize(
    ("nbytes", "limit", "requests"),
    [
        (1 << 10, 3 << 23, 256),
        (1 << 17, 3 << 23, 192),
        (1 << 20, 3 << 23, 64),
        (1 << 20, 1 << 28, 256),
    ],
)
def test_large_chunks_are_requested_by_fewer_threads(nbytes, limit, requests):
    store = Remote(zarr.MemoryStore(), max_concurrency=256)
    with zarr.config.set(remote_memory_nbytes=limit):
        array = zarr.create_array(
            store, shape=(300 * nbytes,), chunks=(nbytes,), dtype="i1", compressors=None
        )
    assert array.stored.threads == requests


@pytest.fixture
def data():
    return np.arange(200 * 50, dtype="i4").reshape(200, 50)


@pytest.fixture
def sharded(store):
    """Four shards of 64 inner chunks that are too distant to be read together."""
    data = np.arange(4 * 64 * 6000, dtype="i4").reshape(256, 6000)
    array = zarr.create_array(
        store, data=data, chunks=(1, 6000), shards=(64, 6000), compressors=None
    )
    assert all(key == "zarr.json" for operation, key in store.calls if operation == "update")
    return array, data


@pytest.fixture
def compressed(store, data):
    return zarr.create_array(store, data=data, chunks=(1, 50))


def test_whole_read(store, compressed, data):
    assert np.array_equal(hurried(store, lambda: compressed[...]), data)
    assert len(store.calls) == 200


def test_read_of_parts_of_chunks(store, compressed, data):
    assert np.array_equal(hurried(store, lambda: compressed[:, 3:40:7]), data[:, 3:40:7])
    rows = np.arange(0, 200, 3)
    assert np.array_equal(hurried(store, lambda: compressed.oindex[rows]), data[rows])


def test_read_of_parts_of_chunks_without_compression(store, data):
    array = zarr.create_array(store, data=data, chunks=(2, 50), compressors=None)
    assert np.array_equal(hurried(store, lambda: array[1::2, 5]), data[1::2, 5])


@pytest.mark.parametrize("single", [True, False])
def test_partial_reads_of_shards(store, sharded, single):
    array, data = sharded
    rows = slice(0, 64 if single else 256, 2)
    got = hurried(store, lambda: array[rows, 10:20], MOST)
    assert np.array_equal(got, data[rows, 10:20])
    # Opening, index and one request for each inner chunk.
    assert len(store.calls) == (34 if single else 4 * 34)


def test_neighbours_in_a_shard_are_read_together(store, sharded):
    array, data = sharded
    store.calls.clear()
    assert np.array_equal(array[4:36], data[4:36])
    # Opening, index, 32 inner chunks in a few requests, so that threads can decode them.
    assert 3 <= len(store.calls) <= 10


def test_shards_in_a_shard_are_changed_with_few_reads(store):
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    index_codecs = [*codecs, {"name": "crc32c"}]
    for length in (4, 16):
        codecs = [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [length] * 2, "codecs": codecs, "index_codecs": index_codecs,
        }}]  # fmt: skip
    data = np.arange(64 * 64, dtype="i4").reshape(64, 64)
    array = zarr.create_array(
        store, data=data, chunks=(64, 64), serializer=codecs[0], compressors=None
    )
    before = len(store.calls)
    array[1:63, 2:62] = data[1:63, 2:62] = -1
    assert len(store.calls) - before <= 6  # of 16 shards with 16 chunks each
    assert np.array_equal(array[...], data)


def test_writes(store, compressed):
    new = np.full((200, 50), 9, "i4")
    hurried(store, partial(compressed.__setitem__, ..., new))
    assert {operation for operation, _ in store.calls} == {"set"}
    hurried(store, partial(compressed.__setitem__, (slice(None), 7), 5))
    assert {operation for operation, _ in store.calls} >= {"update"}
    new[:, 7] = 5
    assert np.array_equal(compressed[...], new)


def test_erasing(store):
    names = [f"c/{number}" for number in range(200)]

    def work():
        for name in names:
            store.inner.set(name, b"")
        # Not that of FaultyStore, which erases key by key.
        super(FaultyStore, store).erase_values([])
        zarr.Store.erase_values(store, names)

    hurried(store, work)
    assert list(store.list()) == []


def test_members_of_a_hierarchy(store):
    root = zarr.create_group(store)
    paths = []
    for outer in range(10):
        group = root.create_group(f"g{outer}")
        paths.append(f"g{outer}")
        for inner in range(9):
            group.create_array(f"a{inner}", shape=3, dtype="i4")
            paths.append(f"g{outer}/a{inner}")
    listed = hurried(store, lambda: [path for path, _ in root.members(max_depth=None)], MOST)
    assert listed == paths


def test_partial_values(store):
    for number in range(100):
        store.set(f"k{number}", bytes([number]) * 50)
    asked = [(f"k{number}", zarr.extension.ByteRange(-3)) for number in range(100)]
    # As in a store that uses the methods of the base class.
    values = hurried(store, lambda: zarr.Store.get_partial_values(store, asked))
    assert [bytes(value) for value in values] == [bytes([number]) * 3 for number in range(100)]


# --- failures ---


@pytest.mark.parametrize("fail_at", [1, 20, 100, 200])
@pytest.mark.parametrize("forever", [False, True])
def test_a_failure_in_flight_is_raised_once_and_nothing_goes_on(compressed, fail_at, forever):
    inner = compressed.store.inner
    store = Remote(inner, fail_at + 1, forever=forever, latency=0.05, max_concurrency=REQUESTS)
    array = zarr.open_array(store, mode="r")  # the first call
    with pytest.raises(StoreError, match="injected failure"):
        array[...]
    assert store.active == 0
    count = len(store.calls)
    assert fail_at + 1 <= count <= fail_at + 4 * REQUESTS  # of 201; started calls are completed
    time.sleep(0.02)
    assert (store.active, len(store.calls)) == (0, count)
    store.fail_at = None
    assert np.array_equal(array[...], zarr.open_array(inner, mode="r")[...])


def test_a_failure_while_writing_is_raised_once(compressed):
    inner = compressed.store.inner
    store = Remote(inner, 50, forever=True, latency=0.05, max_concurrency=REQUESTS)
    array = zarr.open_array(store)
    with pytest.raises(StoreError, match="injected failure of call .*, set"):
        array[...] = 1
    count = len(store.calls)
    time.sleep(0.02)
    assert (store.active, len(store.calls)) == (0, count)
    written = sum(bool((row == 1).all()) for row in zarr.open_array(inner)[...])
    assert 40 <= written < 200


def test_an_interrupt_waits_for_what_is_in_flight(compressed):
    class Interrupted(Remote):
        def perform(self, operation, key, work, nbytes):
            if len(self.calls) == 30:
                self.calls.append(("interrupt", key))
                raise KeyboardInterrupt
            return super().perform(operation, key, work, nbytes)

    store = Interrupted(compressed.store.inner, latency=0.001, max_concurrency=REQUESTS)
    array = zarr.open_array(store, mode="r")
    with pytest.raises(KeyboardInterrupt):
        array[...]
    assert store.active == 0


def test_one_thread_where_the_user_wants_one(store, compressed, data):
    with config.set(threads=1):
        store.most = 0
        assert np.array_equal(compressed[...], data)
    assert store.most == 1


def test_the_listing_before_a_creation_is_concurrent_with_the_other_requests():
    class Slow(zarr.MemoryStore):
        """Does not answer other requests before the listing has begun."""

        max_concurrency = 8
        began = threading.Event()
        alone: ClassVar[list[str]] = []

        def list_prefix(self, prefix):
            self.began.set()
            return super().list_prefix(prefix)

        def get_limited(self, key, limit, out=None):
            if not self.began.wait(30):
                self.alone.append(key)
            return super().get_limited(key, limit, out)

    store = Slow()
    zarr.create_array(store, path="a/b", shape=3, dtype="u2")
    assert store.alone == []
