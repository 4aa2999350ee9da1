"""Arrays whose chunks are put into shards by a storage transformer."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    ChunkDecodeError,
    ExtensionConfigurationError,
    MetadataValidationError,
    MissingChunkError,
    StoreCapabilityError,
    StoreReadOnlyError,
)
from zarr_core.extension import BufferByteReader, ExtensionDefinition, create_extension
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_sharding.transformer import ShardingTransformer

KEYS = {
    "c/{}/{}": {"name": "default"},
    "c.{}.{}": {"name": "default", "configuration": {"separator": "."}},
    "{}.{}": {"name": "v2"},
    "{}/{}": {"name": "v2", "configuration": {"separator": "/"}},
}


def by(*counts):
    configuration = {"type": "indexed", "chunks_per_shard": list(counts)}
    return {"name": "sharding", "configuration": configuration}


def through(*transformers):
    return {"metadata": {"storage_transformers": [*transformers]}}


def create(store, shape=(10, 9), counts=(2, 2), **options):
    options = {"chunks": (2, 3), "dtype": "int32", "fill_value": -1, **options}
    return zarr.create_array(store, shape=shape, **through(by(*counts)), **options)


def numbers(*shape):
    return np.arange(np.prod(shape, dtype=int), dtype="int32").reshape(shape)


def chunk_keys(store):
    return sorted(key for key in store.list() if key != "zarr.json")


# --- arrays ---


@pytest.mark.parametrize("form", KEYS)
def test_from_end_to_end(form, tmp_path):
    store = LocalStore(tmp_path / "a.zarr")
    array = create(store, chunk_key_encoding=KEYS[form])
    values = np.full((10, 9), -1, "int32")
    assert array.nchunks_initialized == 0

    array[...] = values[...] = numbers(10, 9)
    shards = [form.format(i, j) for i in range(3) for j in range(2)]
    assert chunk_keys(store) == sorted(shards)
    assert array.nchunks_initialized == array.nchunks == 15
    assert array.nbytes_stored() == sum(store.getsize(key) for key in shards)

    array[3:7, 1:5] = values[3:7, 1:5] = -1  # a part of several chunks, the whole of none
    array[8, ::2] = values[8, ::2] = 7
    array = zarr.open(store)
    assert isinstance(array, zarr.Array)
    assert np.array_equal(array[...], values)
    assert np.array_equal(array[1:9:3, 8:0:-2], values[1:9:3, 8:0:-2])
    assert np.array_equal(array.oindex[[9, 0, 4], :], values[[9, 0, 4]])

    array[0:4] = values[0:4] = -1  # chunks of the fill value are erased, with the last the shard
    assert len(chunk_keys(store)) == 4
    assert array.nchunks_initialized == 9

    array.resize(5, 9)
    assert len(chunk_keys(store)) == 2
    assert array.nchunks_initialized == 3
    array.resize(12, 9)
    values[5:] = -1
    assert np.array_equal(array[:10], values)
    assert (array[10:] == -1).all()
    array.append(numbers(1, 9))
    assert np.array_equal(array[12], numbers(1, 9)[0])


def test_metadata_document():
    array = create(MemoryStore())
    assert array.metadata.storage_transformers == (ExtensionDefinition.from_json(by(2, 2)),)
    assert array.chunks == (2, 3)
    assert array.shards == (4, 6)


def test_without_dimensions():
    store = MemoryStore()
    array = zarr.create_array(store, shape=(), dtype="f8", **through(by()))
    array[...] = 2.5
    assert zarr.open(store)[...] == 2.5
    assert chunk_keys(store) == ["c"]
    assert array.nchunks_initialized == 1


def test_below_a_group():
    store = MemoryStore()
    group = zarr.create_group(store)
    array = group.create_array("b/c0", shape=(8,), chunks=(2,), dtype="i4", fill_value=9,
                               **through(by(2)))  # fmt: skip
    array[:] = numbers(8)
    assert sorted(store.list_prefix("b/c0/c/")) == ["b/c0/c/0", "b/c0/c/1"]
    copied = zarr.copy(array, group, "copy")
    assert np.array_equal(copied[:], numbers(8))
    group.move("copy", "moved")
    assert np.array_equal(group["moved"][:], numbers(8))
    del group["b"]
    assert not list(store.list_prefix("b/"))


def test_shards_of_shards():
    store = MemoryStore()
    array = zarr.create_array(store, shape=(64,), chunks=(1,), dtype="i4", fill_value=-1,
                              **through(by(4), by(8)))  # fmt: skip
    array[:] = numbers(64)
    assert chunk_keys(store) == ["c/0", "c/1"]
    array[3:40:5] = -1
    expected = numbers(64)
    expected[3:40:5] = -1
    assert np.array_equal(zarr.open(store)[:], expected)


def test_arrays_pickle(tmp_path):
    array = create(tmp_path / "a.zarr")
    array[...] = numbers(10, 9)
    assert np.array_equal(pickle.loads(pickle.dumps(array))[...], numbers(10, 9))


def test_missing_chunks_of_a_shard_can_be_an_error():
    store = MemoryStore()
    create(store)[0:2, 0:3] = 5
    array = zarr.open_array(store, config={"missing_chunks": "error"})
    assert (array[0:2, 0:3] == 5).all()
    with pytest.raises(MissingChunkError, match=r"inner chunk \(0, 1\)"):
        array[0:2, 0:6]


def test_error_contains_key_of_damaged_shard():
    store = MemoryStore()
    array = create(store)
    array[...] = numbers(10, 9)
    store.set("c/1/0", store.get("c/1/0")[-40:])
    with pytest.raises(ChunkDecodeError, match="'c/1/0'"):
        array[...]
    assert np.array_equal(array[:4], numbers(10, 9)[:4])  # others stay readable


def test_threads_that_write_into_one_shard_lose_nothing(tmp_path):
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=(16, 16), chunks=(2, 2), dtype="i4", fill_value=-1,
        **through(by(8, 8)),
    )  # fmt: skip
    expected = numbers(16, 16)

    def work(row):
        array[row] = expected[row]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))
    assert np.array_equal(array[...], expected)
    assert chunk_keys(array.store) == ["c/0/0"]


# --- the same shards as the codec's ---


def test_the_codec_decodes_a_shard(rep):
    store = MemoryStore()
    array = create(store, (4, 6), compressors=[])
    array[...] = numbers(4, 6)
    array[2:, :3] = -1
    plain = [{"name": "bytes", "configuration": {"endian": "little"}}]
    codec = create_extension(
        "codec",
        ExtensionDefinition(
            "sharding_indexed", {"chunk_shape": [2, 3], "codecs": plain, "index_codecs": plain}
        ),
    )
    decoded = codec.decode(store.get("c/0/0"), rep((4, 6), "int32", -1))
    assert np.array_equal(decoded, array[...])
    assert isinstance(store.open_value("c/0/0"), BufferByteReader)


def test_chunks_in_any_order_with_gaps_are_read_and_kept():
    store = MemoryStore()
    array = zarr.create_array(
        store, shape=(4,), chunks=1, dtype="u1", fill_value=9, compressors=None, **through(by(4))
    )
    store.set("c/0", b"--b-a" + np.array([4, 1, 2, 1, 2**64 - 1, 2**64 - 1, 0, 1], "<u8").tobytes())
    assert bytes(array[:]) == b"ab\x09-"
    array[2] = ord("c")
    assert bytes(zarr.open(store)[:]) == b"abc-"


def test_the_same_array_by_codecs():
    array = create(MemoryStore(), attributes={"a": 1}, compressors=["gzip"])
    transformer = ShardingTransformer((2, 2))
    same = transformer.as_codecs(array.metadata)
    assert same is not None
    assert same.storage_transformers == ()
    assert same.chunk_grid.configuration == {"chunk_shape": [4, 6]}
    (codec,) = same.codecs
    assert codec.name == "sharding_indexed"
    assert [it["name"] for it in codec.configuration["codecs"]] == ["bytes", "gzip"]
    assert same.attributes == {"a": 1}
    arranged = array.metadata.replace(chunk_memory_layout=ExtensionDefinition("acme.z_order"))
    assert transformer.as_codecs(arranged) is None


def test_chunks_of_several_shapes_are_not_supported():
    grid = {"kind": "inline", "chunk_shapes": [[2, 3]]}
    grid = {"name": "rectilinear", "configuration": grid}
    with pytest.raises(StoreCapabilityError, match="regular chunk grid"):
        create(MemoryStore(), 5, (2,), chunks=grid)


def test_an_array_with_an_ignored_codec_opens_for_reading():
    store = MemoryStore()
    create(store, compressors=[])[...] = numbers(10, 9)
    document = json.loads(bytes(store.get("zarr.json")))
    document["codecs"].append({"name": "acme.unknown", "must_understand": False})
    store.set("zarr.json", json.dumps(document).encode())
    with pytest.warns(UserWarning, match=r"acme\.unknown.*ignored"):
        array = zarr.open_array(store, mode="r+")
    assert np.array_equal(array[...], numbers(10, 9))
    with pytest.raises(StoreReadOnlyError):
        array[...] = 0


# --- definitions ---


@pytest.mark.parametrize(
    ("configuration", "pointer"),
    [
        ({}, "chunks_per_shard"),
        ({"chunks_per_shard": [2, 2]}, "type"),
        ({"type": "other", "chunks_per_shard": [2, 2]}, "type"),
        ({"type": "indexed", "chunks_per_shard": 2}, "chunks_per_shard"),
        ({"type": "indexed", "chunks_per_shard": [2, 0]}, "chunks_per_shard/1"),
        ({"type": "indexed", "chunks_per_shard": [2, True]}, "chunks_per_shard/1"),
        ({"type": "indexed", "chunks_per_shard": [1.5, 2]}, "chunks_per_shard/0"),
        ({"type": "indexed", "chunks_per_shard": [2, 2], "order": "C"}, "order"),
        ({"type": "indexed", "chunks_per_shard": [2**13, 2**14]}, "index of"),
    ],
)
def test_invalid_configurations_raise(configuration, pointer):
    with pytest.raises(ExtensionConfigurationError, match=pointer):
        create_extension("storage_transformer", ExtensionDefinition("sharding", configuration))


@pytest.mark.parametrize("counts", [(), (2,), (2, 2, 2)])
def test_the_number_of_dimensions_must_match(counts):
    with pytest.raises(MetadataValidationError, match=r"/storage_transformers/0.*dimensions"):
        create(MemoryStore(), (10, 9), counts)


@pytest.mark.parametrize("counts", [(0,), (-1,), (True,), (1.0,), ("2",)])
def test_invalid_counts_raise(counts):
    with pytest.raises(ValueError, match="at least 1"):
        ShardingTransformer(counts)


def test_a_transformer_is_a_value():
    one, same, other = (ShardingTransformer(it) for it in ([2, 2], (2, 2), (2, 3)))
    assert one == same == pickle.loads(pickle.dumps(one)) != other
    assert hash(one) == hash(same)
