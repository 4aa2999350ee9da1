"""Shards of the storage transformer of zarr-python 2.18 (experimental), in both directions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from old_libraries import need, run
from zarr_core.extension import ByteRange
from zarr_core.stores.local import LocalStore
from zarr_sharding.transformer.sharded_store import sharded

# A module of zarr's tests decodes metadata with a transformer; it needs pytest.
PROGRAM = """
import gzip, json, sys, types
gzip.time = types.SimpleNamespace(time=lambda: 0)  # both arrays are written at the same time
tests = types.ModuleType("zarr.tests.test_storage_v3")
tests.DummyStorageTransfomer = type("Dummy", (), {"extension_uri": "none", "valid_types": []})
sys.modules[tests.__name__] = tests
import numpy as np
import zarr
from zarr._storage.v3 import DirectoryStoreV3
from zarr._storage.v3_storage_transformers import ShardingStorageTransformer
from numcodecs import GZip

what, path, case = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
store = DirectoryStoreV3(path)
if what == "write":
    for name in ("sharded", "plain"):
        by = [ShardingStorageTransformer("indexed", chunks_per_shard=case["counts"])]
        array = zarr.create(
            shape=case["shape"], chunks=case["chunks"], dtype="<i4", fill_value=-1, store=store,
            path=name, zarr_version=3, dimension_separator=case["separator"],
            compressor=GZip(1) if case["gzip"] else None,
            storage_transformers=by if name == "sharded" else [], write_empty_chunks=False,
        )
        array[...] = np.arange(array.size, dtype="<i4").reshape(array.shape)
        array[..., :3] = -1
        array[..., 1:2] = 7
else:
    array = zarr.open(store=store, path="sharded", zarr_version=3, mode="r")
    keys = sorted(array.chunk_store.list_prefix("data/root/sharded/c"))
    print(json.dumps({"values": array[...].tolist(), "keys": keys}))
"""
CASES = [
    {"shape": [10, 9], "chunks": [2, 2], "counts": [2, 3], "separator": "/", "gzip": True},
    {"shape": [10, 9], "chunks": [3, 1], "counts": [2, 4], "separator": ".", "gzip": False},
    {"shape": [17], "chunks": [2], "counts": [3], "separator": "/", "gzip": False},
    {"shape": [3, 4, 6], "chunks": [1, 2, 2], "counts": [2, 1, 2], "separator": "/", "gzip": False},
]
PREFIX = "data/root/sharded/"


def read(path, case):
    """The array as read by zarr-python: its elements, and the keys of its chunks."""
    return json.loads(run(need("zarr2"), PROGRAM, "read", path, json.dumps(case)))


@pytest.fixture(params=CASES, ids=lambda case: f"{len(case['shape'])}d{case['separator']}")
def written(request, tmp_path):
    """A directory with the same array twice: in shards, and in single chunks."""
    run(need("zarr2"), PROGRAM, "write", tmp_path, json.dumps(request.param))
    store = LocalStore(tmp_path)
    return request.param, store, sharded(store, PREFIX, request.param["counts"])


def plain_chunks(store):
    """The elements of each chunk, by its key in the array with shards."""
    prefix = PREFIX.replace("sharded", "plain")
    return {key.replace(prefix, PREFIX): bytes(store.get(key)) for key in store.list_prefix(prefix)}


def test_its_shards_are_read(written):
    _, store, shards = written
    expected = plain_chunks(store)
    found = {key: bytes(shards.get(key)) for key in shards.list_prefix(PREFIX)}
    assert found == expected
    parts = shards.get_partial_values([(key, ByteRange(-5, 3)) for key in expected])
    assert parts == [value[-5:-2] for value in expected.values()]
    assert len(list(store.list_prefix(PREFIX))) < len(expected)  # these are shards


def test_it_reads_ours(written):
    case, store, shards = written
    chunks = plain_chunks(store)
    expected = read(store.path, case)
    store.erase_prefix(PREFIX)
    for key, value in chunks.items():
        shards.set(key, value)
    assert read(store.path, case) == expected
    # An erased chunk reads as the fill value; the others are unchanged.
    last = max(chunks)
    shards.erase(last)
    seen = read(store.path, case)
    assert seen["keys"] == sorted(chunks.keys() - {last})
    assert np.count_nonzero(np.array(seen["values"]) == -1) > np.count_nonzero(
        np.array(expected["values"]) == -1
    )


def test_we_change_its_shards(written):
    case, store, shards = written
    before = np.array(read(store.path, case)["values"])
    key = sorted(plain_chunks(store))[0]
    old = bytes(shards.get(key))
    other = sorted(plain_chunks(store))[-1]
    shards.set(key, bytes(shards.get(other)))
    shards.update(key, lambda reader: old)
    assert np.array_equal(read(store.path, case)["values"], before)
