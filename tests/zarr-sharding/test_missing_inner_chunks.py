"""``missing_chunks="error"`` concerns the inner chunks of shards, which TensorStore also reports."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MissingChunkError
from zarr_stores.cache.chunk_cache import ChunkCacheStore

NESTED = zarr.codec(
    "sharding_indexed",
    chunk_shape=(4, 4),
    codecs=[
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [2, 2],
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            },
        }
    ],
)
LAYOUTS = {
    "shards": {"chunks": (2, 2), "shards": (8, 8)},
    "raw": {"chunks": (2, 2), "shards": (8, 8), "compressors": None},
    "transposed": {"chunks": (2, 2), "shards": (8, 8), "order": "F"},
    "compressed": {
        "chunks": (8, 8),
        "serializer": zarr.codec("sharding_indexed", chunk_shape=(2, 2)),
        "compressors": "gzip",
    },
    "filtered": {
        "chunks": (8, 8),
        "filters": [zarr.codec("transpose", order=(1, 0))],
        "serializer": zarr.codec("sharding_indexed", chunk_shape=(2, 2)),
        "compressors": None,
    },
    "filtered and compressed": {
        "chunks": (8, 8),
        "filters": [zarr.codec("transpose", order=(1, 0))],
        "serializer": zarr.codec("sharding_indexed", chunk_shape=(2, 2)),
        "compressors": "gzip",
    },
    "nested": {"chunks": (8, 8), "serializer": NESTED, "compressors": None},
    "start": {
        "chunks": (8, 8),
        "serializer": zarr.codec("sharding_indexed", chunk_shape=(2, 2), index_location="start"),
        "compressors": None,
    },
    "large": {"chunks": (2, 2), "shards": (64, 64)},
}
STORES = {
    "memory": lambda path: zarr.MemoryStore(),
    "directory": lambda path: zarr.LocalStore(path / "a"),
}


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    return STORES[request.param](tmp_path)


@pytest.fixture(params=["auto", "off"])
def native(request):
    with zarr.config.set(native=request.param):
        yield


def partly_written(store, layout, cached=False):
    """An array of 10 x 10 elements, of which the rows 0 to 1 and the last element are stored."""
    array = zarr.create_array(store, shape=(10, 10), dtype="i4", **LAYOUTS[layout])
    array[:2] = 7
    array[9, 9] = 8
    place = ChunkCacheStore(store, 2**20) if cached else store
    return zarr.open(place, config={"missing_chunks": "error"})


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cached", [False, True], ids=["", "cache"])
def test_missing_inner_chunks_are_errors(store, layout, cached, native):
    array = partly_written(store, layout, cached)
    mask = np.zeros((10, 10), bool)
    mask[0] = mask[1, ::2] = True
    for _ in range(2):  # a cache would keep what was read
        assert (array[:2, 3:7] == 7).all()
        assert array[0, 0] == 7
        assert array[9, 9] == 8
        assert array[8:, 8:].tolist() == [[0, 0], [0, 8]]
        assert (array[mask] == 7).all()
        for selection in (
            (5, 5),
            (slice(2, 4), slice(0, 2)),
            (slice(1, 5), slice(None)),
            ...,
            ([1, 5], [5, 5]),
        ):
            with pytest.raises(MissingChunkError, match=r"c/0/0.*inner chunk \(.*is not stored"):
                array[selection]
    assert zarr.open(store)[4:8].max() == 0


def test_the_message_names_the_inner_chunk_of_a_nested_shard():
    array = partly_written(zarr.MemoryStore(), "nested")
    with pytest.raises(MissingChunkError, match=r"inner chunk \(1, 0\) of inner chunk \(0, 1\)"):
        array[3, 5]
    with pytest.raises(MissingChunkError, match=r"inner chunk \(1, 1\) is not stored"):
        array[5, 5]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writing_a_part_uses_the_fill_value(store, layout, native):
    """As in TensorStore: "the fill value may still be used when writing a partial chunk"."""
    array = partly_written(store, layout)
    array[5, 5] = 9
    assert array[4:6, 4:6].tolist() == [[0, 0], [0, 9]]


@pytest.mark.parametrize("layout", ["shards", "nested"])
def test_chunks_of_the_fill_value_can_be_stored(layout):
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, shape=(10, 10), dtype="i4", **LAYOUTS[layout], config={"write_empty_chunks": True}
    )
    array[...] = 0
    strict = zarr.open(store, config={"missing_chunks": "error"})
    assert not strict[...].any()
