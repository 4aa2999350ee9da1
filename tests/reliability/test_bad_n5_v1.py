"""Invalid and damaged documents and blocks of N5 and version 1."""

from __future__ import annotations

import gzip
import json
import random
import struct
from contextlib import suppress

import numpy as np
import pytest
import zarr_core
from zarr_conformance.kit.junk import at_most
from zarr_core.errors import (
    ChunkDecodeError,
    CodecError,
    MetadataError,
    MetadataValidationError,
    UnknownExtensionError,
    ZarrError,
)
from zarr_core.stores.memory import MemoryStore

N5 = {
    "dimensions": [5, 7],
    "blockSize": [2, 3],
    "dataType": "int16",
    "compression": {"type": "gzip", "level": 1},
}
V1 = {
    "zarr_format": 1,
    "shape": [7, 5],
    "chunks": [3, 2],
    "dtype": "<i2",
    "compression": "zlib",
    "compression_opts": 1,
    "fill_value": 0,
    "order": "C",
}
KEYS = {"n5": "attributes.json", "v1": "meta"}
VALUES = np.arange(1, 36, dtype="i2").reshape(7, 5)


def stored(kind, document):
    store = MemoryStore()
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    store.set(KEYS[kind], data)
    return store


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"dimensions": None}, ["/dimensions"]),
        ({"dimensions": [5, -1]}, ["/dimensions/1"]),
        ({"dimensions": [5, 7.0]}, ["/dimensions/1"]),
        ({"dimensions": [5, 2**63]}, ["/dimensions/1"]),
        ({"dimensions": [True, 7]}, ["/dimensions/0"]),
        ({"blockSize": [0, 3]}, ["/blockSize/0"]),
        ({"blockSize": [2**31, 3]}, ["/blockSize/0"]),
        ({"blockSize": [2]}, ["/blockSize"]),
        ({"blockSize": "2"}, ["/blockSize"]),
        ({"dataType": "int24"}, ["/dataType"]),
        ({"dataType": "string"}, ["/dataType"]),
        ({"dataType": ["int16"]}, ["/dataType"]),
        ({"dataType": 3, "blockSize": 3}, ["/blockSize", "/dataType"]),
        ({"compression": None}, ["/compression"]),
        ({"compression": "gzip"}, ["/compression"]),
        ({"compression": {}}, ["/compression/type"]),
        ({"compression": {"type": 1}}, ["/compression/type"]),
        ({"compression": {"type": "gzip", "level": 10}}, ["/compression/level"]),
        ({"compression": {"type": "gzip", "useZlib": 1}}, ["/compression/useZlib"]),
        ({"compression": {"type": "bzip2", "blockSize": 0}}, ["/compression/blockSize"]),
        ({"compression": {"type": "xz", "preset": "6"}}, ["/compression/preset"]),
        ({"compression": {"type": "lz4", "blockSize": 1}}, ["/compression/blockSize"]),
        (
            {"compression": {"type": "blosc", "cname": "x", "clevel": 1, "shuffle": 3}},
            ["/compression/cname", "/compression/shuffle"],
        ),
        ({"compression": {"type": "zstd", "level": 99}}, ["/compression/level"]),
    ],
)
def test_documents_of_n5_that_are_rejected(changes, pointers):
    with pytest.raises(MetadataValidationError) as caught:
        zarr_core.open(stored("n5", N5 | changes))
    assert [problem.pointer for problem in caught.value.problems] == pointers
    assert "attributes.json" in str(caught.value)


@pytest.mark.parametrize("missing", ["dimensions", "blockSize", "dataType", "compression"])
def test_an_array_of_n5_without_a_member_is_not_taken_for_a_group(missing):
    document = {name: value for name, value in N5.items() if name != missing}
    with pytest.raises(MetadataValidationError, match=f"/{missing}"):
        zarr_core.open(stored("n5", document))


@pytest.mark.parametrize("old", ["zip", 1, ""])
def test_compressions_of_version_0_of_n5_that_are_rejected(old):
    document = {name: value for name, value in N5.items() if name != "compression"}
    with pytest.raises(MetadataValidationError, match="/compressionType"):
        zarr_core.open(stored("n5", document | {"compressionType": old}))


def test_unknown_compression_is_named():
    for compression in ({"type": "jpeg", "quality": 3}, {"type": "odd", "id": "odd"}):
        with pytest.raises(UnknownExtensionError, match=compression["type"]):
            zarr_core.open(stored("n5", N5 | {"compression": compression}))
    # Other blocks can be read.
    store = stored("n5", {"n5": "2.0.0"})
    store.set("a/attributes.json", json.dumps(N5 | {"compression": {"type": "jpeg"}}).encode())
    store.set("b/attributes.json", json.dumps(N5).encode())
    root = zarr_core.open(store)
    assert list(root) == ["a", "b"]
    assert root["b"].shape == (7, 5)


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"shape": [7, -1]}, ["/shape/1"]),
        ({"shape": []}, ["/shape"]),
        ({"shape": "75"}, ["/shape"]),
        ({"chunks": [3]}, ["/chunks"]),
        ({"chunks": [3, 0]}, ["/chunks/1"]),
        ({"dtype": "i2"}, ["/dtype"]),
        ({"dtype": "|O"}, ["/dtype"]),
        ({"dtype": []}, ["/dtype"]),
        ({"dtype": [["a"]]}, ["/dtype/0"]),
        ({"dtype": "|S999999999999"}, ["/dtype"]),
        ({"dtype": None}, ["/dtype"]),
        ({"compression": "zstd"}, ["/compression"]),
        ({"compression_opts": None}, ["/compression_opts"]),
        ({"compression_opts": 10}, ["/compression_opts"]),
        ({"compression": "blosc"}, ["/compression_opts"]),
        (
            {"compression": "blosc", "compression_opts": {"cname": "lz4", "clevel": 1}},
            ["/compression_opts/shuffle"],
        ),
        ({"compression": "none"}, ["/compression_opts"]),
        ({"fill_value": []}, ["/fill_value"]),
        ({"fill_value": "x"}, ["/fill_value"]),
        ({"order": "A"}, ["/order"]),
    ],
)
def test_documents_of_version_1_that_are_rejected(changes, pointers):
    with pytest.raises(MetadataValidationError) as caught:
        zarr_core.open(stored("v1", V1 | changes))
    assert [problem.pointer for problem in caught.value.problems] == pointers
    assert "'meta'" in str(caught.value)


@pytest.mark.parametrize("kind", ["n5", "v1"])
def test_documents_that_were_cut_or_changed_never_break_anything_else(kind):
    """Any content is an array, a group, or an error of this library."""
    document = json.dumps(N5 if kind == "n5" else V1).encode()
    chance = random.Random(1)
    for _ in range(300):
        damaged = bytearray(document)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(len(damaged))] = chance.choice(b'"{}[],:0123456789 -eE\xff')
        damaged = damaged[: chance.randint(1, len(damaged))] if chance.random() < 0.2 else damaged
        with suppress(ZarrError):
            node = zarr_core.open(stored(kind, bytes(damaged)))
            if isinstance(node, zarr_core.Array) and node.size < 10**5:
                node[...]


# --- damaged chunks ---


def arrays(kind):
    """A store with an array, the key of one of its chunks, and the region of the chunk."""
    options = {"chunks": (3, 2), "zarr_format": kind, "attributes": {}}
    for codec in (
        None,
        {"name": "numcodecs.zlib", "configuration": {"level": 1}},
        {"name": "numcodecs.bz2", "configuration": {"level": 1}},
        {"name": "numcodecs.lzma", "configuration": {"preset": 0}},
        {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}},
        *(["gzip", "n5.lz4"] if kind == "n5" else []),
    ):
        store = MemoryStore()
        zarr_core.create_array(store, data=VALUES, compressors=codec, **options)
        yield store, "0/0" if kind == "n5" else "0.0"


@pytest.mark.parametrize("kind", ["n5", "v1"])
def test_chunks_that_were_cut_are_reported_and_the_others_read(kind):
    for store, key in arrays(kind):
        whole = bytes(store.get(key))
        array = zarr_core.open(store)
        for length in range(len(whole)):
            store.set(key, whole[:length])
            with pytest.raises(ChunkDecodeError, match=key):
                array[...]
        assert np.array_equal(array[3:], VALUES[3:])
        store.set(key, whole + b"\0")
        with pytest.raises(ChunkDecodeError):
            array[...]


@pytest.mark.parametrize("kind", ["n5", "v1"])
def test_bytes_that_were_changed_give_values_or_an_error_of_ours(kind):
    chance = random.Random(2)
    for store, key in arrays(kind):
        whole = store.get(key)
        array = zarr_core.open(store)
        for _ in range(60):
            damaged = bytearray(whole)
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            store.set(key, bytes(damaged))
            with suppress(CodecError):
                assert array[...].shape == VALUES.shape


def test_a_bomb_in_a_block_is_not_unpacked():
    store = stored("n5", N5)
    bomb = gzip.compress(bytes(1 << 26))
    store.set("0/0", struct.pack(">HHII", 0, 2, 2, 3) + bomb)
    array = zarr_core.open(store)
    with at_most(1 << 21, "a bomb"), pytest.raises(ChunkDecodeError):
        array[...]
    store.set("attributes.json", json.dumps(N5 | {"compression": {"type": "lz4"}}).encode())
    claim = struct.pack("<8sBIII", b"LZ4Block", 0x2F, 10, 1 << 25, 0)
    store.set("0/0", struct.pack(">HHII", 0, 2, 2, 3) + claim + bytes(10))
    array = zarr_core.open(store)
    with at_most(1 << 21, "a bomb"), pytest.raises(ChunkDecodeError):
        array[...]


def test_blocks_of_another_size_are_no_way_out_of_the_array():
    store = stored("n5", N5 | {"compression": {"type": "raw"}})
    store.set("0/0", struct.pack(">HHII", 0, 2, 1, 2) + np.array([8, 9], ">i2").tobytes())
    array = zarr_core.open(store)
    expected = np.zeros((7, 5), "i2")
    expected[:2, 0] = 8, 9
    assert np.array_equal(array[...], expected)
    array[0, 1] = 3
    assert len(store.get("0/0")) == 12 + 12
    assert array[0].tolist() == [8, 3, 0, 0, 0]


def test_members_of_a_root_that_is_damaged_can_be_opened():
    store = stored("n5", b"{")
    store.set("a/attributes.json", json.dumps(N5).encode())
    assert zarr_core.open(store, path="a").shape == (7, 5)
    with pytest.raises(MetadataError):
        zarr_core.open(store)
