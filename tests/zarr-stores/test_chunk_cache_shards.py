"""Shards of which a cache keeps some inner chunks: every read is of one stored shard."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.cache.lru_cache import CachePool
from zarr_stores.databases.sqlite import SQLiteStore

SHARD = {"shape": (8, 6), "chunks": (2, 3), "shards": (8, 6), "dtype": "float32"}
CHUNK = np.s_[:2, :3]


def full(number):
    return np.full(SHARD["shape"], number, SHARD["dtype"])


class Interrupted:
    """Calls a function when a shard has been stored, before the writer goes on."""

    stored = None

    def set(self, key, value):
        super().set(key, value)
        if self.stored is not None and "c/" in key:
            self.stored()


class InterruptedMemory(Interrupted, MemoryStore):
    pass


class InterruptedDirectory(Interrupted, LocalStore):
    pass


@pytest.fixture(params=["memory", "directory"])
def store(request, tmp_path):
    return (
        InterruptedMemory() if request.param == "memory" else InterruptedDirectory(tmp_path / "d")
    )


@pytest.mark.parametrize("writer_cache", [None, "same", "another"])
def test_a_shard_is_not_combined_while_it_is_written(store, writer_cache):
    pool = CachePool(10**6)
    zarr.create_array(store, **SHARD)[...] = full(1)
    reader = zarr.open_array(ChunkCacheStore(store, pool))
    cache = {None: None, "same": pool, "another": CachePool(10**6)}[writer_cache]
    writer = zarr.open_array(ChunkCacheStore(store, cache) if cache else store, mode="r+")
    for number in (2, 3):
        assert (reader[CHUNK] == number - 1).all()  # kept
        seen = []
        store.stored = lambda seen=seen: seen.append(reader[...])
        writer[...] = full(number)
        store.stored = None
        [found] = seen
        assert np.unique(found).size == 1, found
        assert (reader[...] == number).all()


def test_chunks_that_two_reads_kept_are_of_one_shard(store):
    """A change between two looks into the cache, while the chunks are copied."""
    zarr.create_array(store, **SHARD)[...] = full(1)
    reader = zarr.open_array(ChunkCacheStore(store, 10**6))
    writer = zarr.open_array(store, mode="r+")
    reader[...]
    chunks = reader.store.cache
    use, calls = chunks.use, []

    def use_and_change(key, part):
        calls.append(part)
        if len(calls) == 3:
            writer[...] = full(2)
            zarr.open_array(reader.store)[...]  # keeps all chunks of the new shard
        return use(key, part)

    chunks.use = use_and_change
    found = reader[...]
    assert np.unique(found).size == 1, found


@pytest.mark.parametrize("follows", ["parts", "all kept"])
def test_a_shard_that_another_process_replaced_is_not_combined(tmp_path, follows):
    """The default never looks for such changes, but does not mix old and new elements either."""
    other, folder = tmp_path / "other", tmp_path / "a"
    zarr.create_array(folder, **SHARD)[...] = full(1)
    zarr.create_array(other, **SHARD)[...] = full(2)
    reader = zarr.open_array(ChunkCacheStore(LocalStore(folder), 10**6))
    assert (reader[CHUNK] == 1).all()
    os.replace(other / "c/0/0", folder / "c/0/0")
    if follows == "all kept":
        reader[2:], reader[:, 3:]
    found = reader[...]
    assert np.unique(found).size == 1, found


def test_boxes_of_one_read_are_of_one_shard(store):
    zarr.create_array(store, **SHARD)[...] = full(1)
    new = MemoryStore()
    zarr.create_array(new, **SHARD)[...] = full(2)
    reader = zarr.open_array(ChunkCacheStore(store, 10**6))
    opened = []

    def open_value(key, first=None, usual=store.open_value):
        value = usual(key, first)
        if "c/" in key and not opened:
            opened.append(key)
            store.set(key, new.get(key))  # after the first box was opened
        return value

    store.open_value = open_value
    found = reader.vindex[[0, 7], [0, 5]]  # two distant chunks
    assert opened
    assert np.unique(found).size == 1, found


@pytest.mark.parametrize("kind", ["memory", "directory", "sqlite"])
def test_readers_beside_a_writer_see_whole_shards(kind, tmp_path):
    made = {
        "memory": MemoryStore,
        "directory": lambda: LocalStore(tmp_path / "a"),
        "sqlite": lambda: SQLiteStore(tmp_path / "a.sqlite"),
    }
    store = made[kind]()
    writer = zarr.create_array(store, **SHARD)
    writer[...] = full(0)
    cached = zarr.open_array(ChunkCacheStore(store, 10**6))
    stop = threading.Event()

    def read(_):
        rng = np.random.default_rng()
        while not stop.is_set():
            first = rng.integers(0, 7)
            for part in (np.s_[first : first + 1], np.s_[...]):
                assert np.unique(cached[part]).size == 1

    with ThreadPoolExecutor(3) as pool:
        readers = pool.map(read, range(3))
        try:
            for number in range(1, 120):
                writer[...] = full(number)
        finally:
            stop.set()
        assert list(readers) == [None] * 3
    assert (cached[...] == 119).all()
