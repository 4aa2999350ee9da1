"""Assignment of the fill value, which visits only stored chunks; batches of small chunks."""

from __future__ import annotations

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.engine import stored_array
from zarr_core.extension import BufferByteReader, CachingStore, ChunkDecodeError, StoreTraits


@st.composite
def regions(draw, shape):
    starts = [draw(st.integers(0, size)) for size in shape]
    return tuple(
        slice(start, draw(st.integers(start, size)))
        for start, size in zip(starts, shape, strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    shards=st.sampled_from([None, (6, 4)]),
    fill=st.sampled_from([0, 7]),
    stores_empty=st.booleans(),
    few=st.sampled_from([1, 5, 1000]),
)
def test_writing_the_fill_value_is_writing(data, shards, fill, stores_empty, few):
    shape = data.draw(st.tuples(st.integers(1, 20), st.integers(1, 20)))
    array = zarr.create_array(
        shape=shape, chunks=(3, 2), shards=shards, dtype="int16", fill_value=fill,
        config={"write_empty_chunks": stores_empty},
    )  # fmt: skip
    expected = np.full(shape, fill, "int16")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_array, "_FEW_CHUNKS", few)
        for value in (data.draw(st.sampled_from([fill, 3])) for _ in range(5)):
            region = data.draw(regions(shape))
            array[region] = expected[region] = value
            np.testing.assert_array_equal(array[...], expected)
    if not stores_empty:
        array[...] = fill
        assert array.nchunks_initialized == 0


@pytest.mark.parametrize("exponent", [4, 9, 16])
def test_erasing_does_not_depend_on_the_grid(exponent):
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, shape=(10**exponent, 100), chunks=(2, 100), dtype="float64")
    array[7:9] = 1
    array[-3:] = 2
    store.calls.clear()
    array[8:-1] = 0
    assert store.count() < 30
    assert array[7:9, 0].tolist() == [1, 0]
    assert array[-3:, 0].tolist() == [0, 0, 2]
    array[...] = -0.0 if exponent == 4 else 0.0  # other bits than the fill value
    assert array.nchunks_initialized == (5000 if exponent == 4 else 0)


def test_a_full_array_is_listed_no_further_than_its_region():
    store = CountingStore(zarr.MemoryStore())
    array = zarr.create_array(store, shape=20000, chunks=2, dtype="int8")
    array[...] = 1
    store.calls.clear()
    array[:10] = 0
    array[100:400] = 0
    assert store.count("list_prefix") == 1
    assert array.nchunks_initialized == 10000 - 5 - 150


class BatchStore(zarr.MemoryStore):
    """Records how many values are stored and removed together."""

    traits = StoreTraits(batch_nbytes=100)

    def __init__(self):
        super().__init__()
        self.batches = []
        self.single = []

    def set(self, key, value):
        self.single.append(key)
        super().set(key, value)

    def set_values(self, values):
        values = list(values)
        self.batches.append(len(values))
        for key, value in values:
            super().set(key, value)

    def erase_values(self, keys):
        keys = list(keys)
        self.batches.append(-len(keys))
        super().erase_values(keys)


@pytest.mark.parametrize("threads", [1, 4])
def test_small_chunks_are_stored_together(threads):
    store = BatchStore()
    with zarr.config.set(threads=threads):
        array = zarr.create_array(store, shape=60, chunks=2, dtype="int32", compressors=None)
        store.single.clear()
        array[...] = values = np.arange(60) // 4  # the first two chunks are empty
    # A chunk has 8 bytes, and its key 3 or 4.
    assert store.batches == [9, 9, 9, 1, -2] if threads == 1 else sum(store.batches) == 28 - 2
    assert not store.single
    assert np.array_equal(zarr.open_array(store)[...], values)
    array[...] = 5
    assert np.array_equal(zarr.open_array(store)[...], np.full(60, 5))
    array[1] = 7  # a part of a chunk is changed on its own
    assert array[:4].tolist() == [5, 7, 5, 5]


def test_large_chunks_are_stored_at_once():
    store = BatchStore()
    array = zarr.create_array(store, shape=60, chunks=30, dtype="int32", compressors=None)
    array[...] = np.arange(60)
    assert store.batches == [1, 1]


def test_complete_chunks_are_stored_if_another_fails():
    store = BatchStore()
    array = zarr.create_array(store, shape=9, chunks=3, dtype="int8", compressors=None)
    with zarr.config.set(threads=1), pytest.raises(ValueError, match="invalid literal"):
        array[...] = np.array(["1", "1", "1", "2", "2", "2", "x", "x", "x"], object)
    assert array[...].tolist() == [1, 1, 1, 2, 2, 2, 0, 0, 0]


class DamagedOnTheWay(zarr.MemoryStore, CachingStore):
    """A remote store whose first responses for a chunk are damaged, until caches are passed."""

    max_concurrency = 4
    in_memory = False
    damaged = 1

    def __init__(self):
        super().__init__()
        self.requests, self.discarded = [], []

    def open_value(self, key, first=None):
        reader = super().open_value(key, first)
        if reader is None or not key.startswith("c/"):
            return reader
        self.requests.append(key)
        good = len(self.requests) > self.damaged
        return reader if good else BufferByteReader(bytes(reader.size))

    def discard_cached(self, key):
        self.discarded.append(key)


@pytest.mark.parametrize("fields", [False, True])
def test_a_chunk_that_was_damaged_on_the_way_is_read_again_before_it_is_changed(fields):
    store = DamagedOnTheWay()
    dtype = [("a", "i4"), ("b", "u1")] if fields else "f4"
    array = zarr.create_array(store, data=np.ones(6, dtype), chunks=6, compressors="zstd")
    if fields:
        array.set_basic_selection(slice(1, 3), 7, fields="b")
    else:
        array[1:3] = 7
    assert store.discarded == ["c/0"]
    found = array[...]["b"] if fields else array[...]
    assert found.tolist() == [1, 7, 7, 1, 1, 1]


def test_a_chunk_that_is_damaged_is_not_changed():
    store = DamagedOnTheWay()
    array = zarr.create_array(store, data=np.ones(6, "i8"), chunks=6, compressors="zstd")
    before = bytes(store.get("c/0"))
    store.damaged = 2
    with pytest.raises(ChunkDecodeError, match="also when it was requested again"):
        array[1] = 7
    assert bytes(store.get("c/0")) == before


@pytest.mark.parametrize("part", [np.s_[:2, :3], np.s_[0, 0]])
def test_emptied_chunks_are_stored_if_keys_cannot_be_erased(part):
    store = zarr.MemoryStore()
    store.traits = StoreTraits(supports_erasing=False)
    array = zarr.create_array(
        store, shape=(4, 6), chunks=(2, 3), dtype="i4", fill_value=5, compressors=None
    )
    array[part] = 5
    assert list(array.store.list()) == ["zarr.json"], "nothing was there"
    array[part] = 6
    assert (array[part] == 6).all()
    array[part] = 5
    assert (array[...] == 5).all()
    assert sorted(array.store.list()) == ["c/0/0", "zarr.json"]
