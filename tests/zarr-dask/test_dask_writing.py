"""Writing Dask arrays."""

import threading

import dask
import dask.array as da
import numpy as np
import pytest
import zarr_core as zarr
import zarr_dask
from counting_store import CountingStore
from dask.delayed import Delayed
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import MetadataMismatchError, NodeExistsError
from zarr_core.extension import StoreError, StoreReadOnlyError
from zarr_dask.alignment import align_blocks, check_alignment
from zarr_dask.block_lengths import edges_of
from zarr_transfer import ChunkEdges

VALUES = np.arange(100 * 90).reshape(100, 90)


def blocks(chunks):
    return da.from_array(VALUES, chunks=chunks)


def test_blocks_become_chunks(tmp_path):
    array = zarr_dask.to_zarr(
        blocks((30, 40)), tmp_path, "a/b", dimension_names=("y", "x"), compressors="gzip"
    )
    assert array.chunks == (30, 40)
    assert array.dimension_names == ("y", "x")
    assert np.array_equal(zarr.open(tmp_path)["a/b"], VALUES)
    with pytest.raises(NodeExistsError):
        zarr_dask.to_zarr(blocks(50), tmp_path, "a/b")
    again = zarr_dask.to_zarr(blocks(50), tmp_path, "a/b", overwrite=True, zarr_format=3)
    assert again.chunks == (50, 50)


@pytest.mark.parametrize("inline", [True, False])
def test_overwriting_the_source_raises(tmp_path, inline):
    zarr.create_array(tmp_path, path="a/b", data=VALUES, chunks=50)
    x = zarr_dask.from_zarr(tmp_path, "a/b", inline_array=inline)
    for later in (x + 1, dask.optimize(x + 1)[0]):
        with pytest.raises(ValueError, match="is computed from .*overwrite=True"):
            zarr_dask.to_zarr(later, tmp_path, "a/b", overwrite=True)
        with pytest.raises(ValueError, match="is computed from"):
            zarr_dask.to_zarr(later, tmp_path, "a", overwrite=True)
    assert np.array_equal(zarr.open(tmp_path)["a/b"], VALUES)
    zarr_dask.to_zarr(x + 1, tmp_path, "a/c", overwrite=True)
    zarr_dask.to_zarr((x + 1).persist(), tmp_path, "a/b", overwrite=True)
    for name in ("a/b", "a/c"):
        assert np.array_equal(zarr.open(tmp_path)[name], VALUES + 1)


def test_compute_false(tmp_path):
    later = zarr_dask.to_zarr(blocks(50), tmp_path, compute=False)
    assert isinstance(later, Delayed)
    assert zarr.open(tmp_path).nchunks_initialized == 0
    later.compute()
    assert np.array_equal(zarr.open(tmp_path), VALUES)


def test_the_number_of_graph_layers_does_not_depend_on_the_number_of_blocks():
    def graph(count):
        x = da.ones(count, chunks=1) + 1
        return zarr_dask.to_zarr(x, zarr.MemoryStore(), compute=False).__dask_graph__()

    assert len(graph(10).layers) == len(graph(10_000).layers) < 6
    materialized = [layer for layer in graph(10_000).layers.values() if layer.is_materialized()]
    assert sum(map(len, materialized)) == 1


def test_tasks_of_a_delayed_write_are_fused():
    x = da.ones((100, 90), chunks=50) + 1
    later = zarr_dask.to_zarr(x, zarr.MemoryStore(), compute=False)
    (optimized,) = dask.optimize(later)
    assert len(optimized.__dask_graph__()) == 4 + 1  # one task per block, and the result


@pytest.mark.parametrize(
    ("layout", "remedy"),
    [
        ({"chunks": (20, 45)}, "x.rechunk({0: 40})"),
        ({"chunks": (10, 45), "shards": (40, 45)}, "x.rechunk({0: 40})"),
        ({"chunks": [[25, 75], 90]}, "x.rechunk({0: (25, 75), 1: 90})"),
    ],
)
def test_unaligned_blocks_raise_before_writing(layout, remedy):
    store = CountingStore(zarr.MemoryStore())
    with pytest.raises(ValueError, match="are not aligned") as caught:
        zarr_dask.to_zarr(blocks((30, 45)), store, **layout)
    assert remedy in str(caught.value)
    assert "shards" in str(caught.value) or "shards" not in layout
    assert store.calls == []
    array = zarr_dask.to_zarr(blocks((30, 45)), store, align=True, **layout)
    assert np.array_equal(array, VALUES)
    # Whole objects, each stored once, none read before.
    assert not [key for key in store.keys("update") if not key.endswith("zarr.json")]
    chunks = [key for key in store.keys("set") if not key.endswith("zarr.json")]
    assert len(chunks) == len(set(chunks)) == np.prod(array.cdata_shape)
    zarr_dask.to_zarr(eval(remedy, {"x": blocks((30, 45))}), None, **layout)


def test_blocks_of_different_lengths():
    x = blocks(((10, 60, 30), (45, 45)))
    with pytest.raises(ValueError, match='chunks="blocks"'):
        zarr_dask.to_zarr(x, None)
    array = zarr_dask.to_zarr(x, None, chunks="blocks")
    assert array.chunks == ((10, 60, 30), 45) or array.chunks == ((10, 60, 30), (45, 45))
    assert np.array_equal(array, VALUES)
    sharded = zarr_dask.to_zarr(x, None, chunks=(5, 15), shards="blocks")
    assert (sharded.chunks, sharded.write_chunk_sizes[0]) == ((5, 15), (10, 60, 30))
    assert np.array_equal(sharded, VALUES)


def test_regions(tmp_path):
    zarr.create_array(tmp_path, shape=(100, 90), chunks=(10, 10), shards=(20, 30), dtype="i8")
    part = blocks((20, 30))[20:60, 30:]
    array = zarr_dask.to_zarr(part, tmp_path, region=(slice(20, 60), slice(30, None)))
    zarr_dask.to_zarr(part, array, region={0: slice(60, 100), 1: slice(30, 90)})
    expected = np.zeros_like(VALUES)
    expected[20:60, 30:] = expected[60:, 30:] = VALUES[20:60, 30:]
    assert np.array_equal(array, expected)


def test_a_new_array_completes_metadata():
    grid = {"name": "regular", "configuration": {"chunk_shape": [20, 30]}}
    part = {"chunk_grid": grid, "codecs": ["sharding_indexed"], "attributes": {"units": "m"}}
    with pytest.raises(ValueError, match="are not aligned"):
        zarr_dask.to_zarr(blocks((15, 45)), None, metadata=part)
    array = zarr_dask.to_zarr(blocks((40, 30)), None, metadata=part)
    assert (array.shards, array.dtype, array.attrs["units"]) == ((20, 30), VALUES.dtype, "m")
    assert np.array_equal(array, VALUES)
    again = zarr_dask.to_zarr(blocks((40, 30)), None, metadata=array.metadata)
    assert again.metadata == array.metadata
    names = zarr_dask.to_zarr(blocks((40, 30)), None, metadata={"dimension_names": ["y", "x"]})
    assert (names.chunks, names.metadata.dimension_names) == ((40, 30), ("y", "x"))


def test_an_existing_array_is_compared_with_metadata(tmp_path):
    array = zarr.create_array(tmp_path, shape=100, chunks=10, dtype="i4")
    part = da.ones(20, chunks=10, dtype="i4")
    expected = {"data_type": "int32", "codecs": ["zstd"]}
    for place in (tmp_path, array):
        zarr_dask.to_zarr(part, place, region=slice(20, 40), metadata=expected)
        with pytest.raises(MetadataMismatchError, match="/data_type"):
            zarr_dask.to_zarr(part, place, region=slice(20, 40), metadata={"data_type": "int8"})
    assert array[...].sum() == 20
    with pytest.raises(MetadataMismatchError, match="/shape"):
        zarr_dask.from_zarr(tmp_path, metadata={"shape": [99]})


def test_regions_must_be_aligned():
    array = zarr.create_array(shape=(100, 90), chunks=(20, 90), dtype="i8")
    part = blocks((20, 90))[:50]
    with pytest.raises(ValueError, match="the aligned region is 20:80"):
        zarr_dask.to_zarr(part, array, region=slice(25, 75))
    # From element 25 on, other edges fit.
    with pytest.raises(ValueError, match=r"x\.rechunk\(\{0: \(15, 20, 15\)\}\)"):
        zarr_dask.to_zarr(part, array, region=slice(25, 75), partial_edges=True)
    zarr_dask.to_zarr(part, array, region=slice(25, 75), partial_edges=True, align=True)
    assert np.array_equal(array[25:75], VALUES[:50])
    assert not array[:25].any()


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (slice(0, 99), "shape"),
        (slice(0, 101), "exceeds"),
        (slice(0, 100, 2), "steps"),
        ((slice(0, 100), 3), "steps"),
        ((slice(0, 100), slice(0, 90), slice(0, 1)), "dimensions"),
        ({2: slice(0, 1)}, "numbered from 0"),
        ({"y": slice(0, 1)}, "numbered from 0"),
    ],
)
def test_invalid_regions(region, message):
    array = zarr.create_array(shape=(100, 90), dtype="i8")
    with pytest.raises(ValueError, match=message):
        zarr_dask.to_zarr(blocks(100), array, region=region)


def test_invalid_arguments():
    array = zarr.create_array(shape=(100, 90), dtype="i8")
    with pytest.raises(TypeError, match="compressors: only supported for new arrays"):
        zarr_dask.to_zarr(blocks(100), array, compressors="gzip")
    unknown = blocks(50)[da.from_array(VALUES[:, 0] > 3, chunks=50)]
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        zarr_dask.to_zarr(unknown, None)
    readable = zarr.open(array, "r")
    with pytest.raises(StoreReadOnlyError):
        zarr_dask.to_zarr(blocks(100), readable)


def test_writing_to_a_huge_number_of_chunks_does_not_enumerate_them():
    array = zarr.create_array({}, shape=10**15, chunks=1, dtype="i1")
    x = da.ones(20, chunks=10, dtype="i1")
    zarr_dask.to_zarr(x, array, region=slice(10**14, 10**14 + 20))
    assert array.nchunks_initialized == 20
    coarse = zarr.create_array({}, shape=10**15, chunks=10**4, dtype="i1")
    with pytest.raises(ValueError, match="the aligned region is 100000000000000:100000000010000"):
        zarr_dask.to_zarr(x, coarse, region=slice(10**14, 10**14 + 20))


def test_memory_stores_are_not_sent_to_processes():
    array = zarr.create_array(shape=(100, 90), chunks=50, dtype="i8")
    for store in (da.store, zarr_dask.to_zarr):
        with pytest.raises(StoreError, match="would be lost"):
            store(blocks(50), array, scheduler="processes")
    assert not np.any(array)


def test_dask_store_with_processes(tmp_path):
    array = zarr.create_array(tmp_path, shape=(200, 90), chunks=50, dtype="i8")
    where = (slice(100, 200), slice(None))
    da.store(blocks(50), array, regions=where, lock=False, scheduler="processes", num_workers=1)
    da.store(blocks(50), array, regions=(slice(0, 100), slice(None)), lock=threading.Lock())
    assert np.array_equal(array, np.concatenate([VALUES, VALUES]))


lengths = st.lists(st.integers(1, 9), min_size=1, max_size=8).map(tuple)


@given(lengths, lengths, st.integers(0, 9))
@settings(max_examples=30)
def test_aligned_blocks_share_no_stored_object(given_blocks, stored, start):
    stored = (*stored, max(0, start + sum(given_blocks) - sum(stored)) or 1)
    where = (slice(start, start + sum(given_blocks)),)
    edges = ChunkEdges.at_edges(sum(stored), stored)
    (wanted,) = align_blocks([given_blocks], where, [edges])
    assert sum(wanted) == sum(given_blocks)
    assert min(wanted) > 0
    assert set(edges_of(wanted, start)[1:-1]) <= set(edges_of(stored))
    assert align_blocks([wanted], where, [edges]) == (wanted,)
    if wanted != given_blocks:
        with pytest.raises(ValueError, match="are not aligned"):
            check_alignment([given_blocks], [wanted], [edges], "chunks")
