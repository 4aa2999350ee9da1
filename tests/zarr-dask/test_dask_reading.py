"""Reading stored arrays as Dask arrays."""

import pickle

import dask
import dask.array as da
import numpy as np
import pytest
import zarr_core as zarr
import zarr_dask
from counting_store import CountingStore
from dask.base import tokenize
from zarr_core.extension import NodeNotFoundError
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.wrappers.prefix import PrefixStore

LAYOUTS = {
    "chunks": {"chunks": (20, 30)},
    "shards": {"chunks": (10, 10), "shards": (40, 30)},
    "differing": {"chunks": [[10, 50, 40], [60, 30]]},
}
VALUES = np.arange(9000, dtype="int32").reshape(100, 90)


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


def stored(store=None, **options):
    return zarr.create_array(store, data=VALUES, **options)


@pytest.mark.parametrize(
    "make",
    [
        da.from_array,
        da.asarray,
        zarr_dask.from_zarr,
        lambda array: zarr_dask.from_zarr(array, chunks=None),
        lambda array: zarr_dask.from_zarr(array, chunks=(50, -1), inline_array=False),
    ],
    ids=["from_array", "asarray", "auto", "stored objects", "explicit"],
)
def test_reading_is_lazy(layout, make):
    store = CountingStore(zarr.MemoryStore())
    array = stored(store, **layout)
    store.calls.clear()
    x = make(array)
    assert (x.shape, x.dtype) == (VALUES.shape, VALUES.dtype)
    assert store.calls == []
    assert np.array_equal(x.compute(scheduler="sync"), VALUES)


def test_blocks_are_whole_stored_objects(layout):
    array = stored(**layout)
    edges = [set(np.cumsum(lengths)) for lengths in array.write_chunk_sizes]
    assert zarr_dask.from_zarr(array, chunks=None).chunks == array.write_chunk_sizes
    for limit in (1, 5000, 10**9):
        with dask.config.set({"array.chunk-size": limit}):
            blocks = zarr_dask.from_zarr(array).chunks
            assert all(set(np.cumsum(b)) <= e for b, e in zip(blocks, edges, strict=True))
            assert limit > 1 or blocks == array.write_chunk_sizes
    assert blocks == ((100,), (90,))


def test_a_huge_number_of_chunks():
    array = zarr.create_array({}, shape=(10**9, 2), chunks=1, dtype="i1")
    array[5] = 3
    with pytest.raises(ValueError, match=r"2,000,000,000 blocks, 1,000,000,000 x 2; .*chunks="):
        zarr_dask.from_zarr(array, chunks=None)
    assert zarr_dask.from_zarr(array, chunks=(10**8, -1)).numblocks == (10, 1)
    with dask.config.set({"array.chunk-size": "256 MiB"}):
        x = zarr_dask.from_zarr(array)  # blocks of many chunks
    assert x.npartitions <= 16
    array = zarr.create_array({}, shape=(10**3,) * 3, chunks=1, dtype="i1")
    x = zarr_dask.from_zarr(array, chunks=None)  # Dask needs the lengths per dimension only
    assert x.npartitions == 10**9
    assert x[5, 5, :2].compute().tolist() == [0, 0]


def test_stored_objects_are_read_once():
    store = CountingStore(zarr.MemoryStore())
    array = stored(store, **LAYOUTS["shards"])
    store.calls.clear()
    zarr_dask.from_zarr(array, chunks=None).sum().compute(scheduler="sync")
    assert len(set(store.keys("open_value", "get"))) == store.count("open_value", "get") == 9


def test_location_and_path(tmp_path):
    zarr.create_array(tmp_path / "g.zarr", path="a/b", data=VALUES, chunks=30)
    for source in (tmp_path / "g.zarr", zarr.open(tmp_path / "g.zarr")):
        assert np.array_equal(zarr_dask.from_zarr(source, "a/b").compute(), VALUES)
    with pytest.raises(NodeNotFoundError):
        zarr_dask.from_zarr(tmp_path / "g.zarr", "a/c")


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_small_and_empty_arrays(shape):
    array = zarr.create_array(data=np.ones(shape))
    for chunks in ("auto", None):
        found = zarr_dask.from_zarr(array, chunks=chunks).compute()
        assert found.shape == shape
        assert np.all(found == 1)


def test_variable_length_data():
    array = zarr.create_array(shape=4, chunks=2, dtype="string")
    array[...] = ["a", "bb", "", "dddd"]
    assert [*zarr_dask.from_zarr(array).compute()] == ["a", "bb", "", "dddd"]


def test_tokens_identify_arrays(tmp_path):
    array = stored(tmp_path / "a.zarr", chunks=30)
    again = zarr.open_array(tmp_path / "a.zarr")
    assert tokenize(array) == tokenize(again) == tokenize(pickle.loads(pickle.dumps(array)))
    assert zarr_dask.from_zarr(array).name == zarr_dask.from_zarr(again).name
    before = tokenize(array)
    array.attrs["units"] = "m"
    assert tokenize(array) != before
    others = [
        stored(tmp_path / "b.zarr", chunks=30),
        stored(tmp_path / "c.zarr", chunks=45),
        stored(tmp_path / "d.zarr", path="below", chunks=30),
    ]
    assert len({before, *map(tokenize, others)}) == 4


def test_arrays_are_pickled_with_their_store(tmp_path):
    inner = PrefixStore(zarr.LocalStore(tmp_path / "all"), "here")
    array = stored(LRUCacheStore(inner, 1 << 20), **LAYOUTS["shards"])
    x = zarr_dask.from_zarr(array, chunks=None)
    assert x.sum().compute(scheduler="processes", num_workers=1) == VALUES.sum()
