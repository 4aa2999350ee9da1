"""Blocks of N5: the header, sizes that differ from the chunk, and the two codecs for blocks."""

import struct
import zlib

import numpy as np
import pytest
import zarr_core
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from zarr_core.errors import (
    ChunkDecodeError,
    CodecChainError,
    ExtensionConfigurationError,
    MetadataValidationError,
)
from zarr_core.extension import ArrayRepresentation, ExtensionDefinition, Location, create_extension
from zarr_core.stores.memory import MemoryStore
from zarr_formats.n5.block import BlockCodec
from zarr_formats.n5.default import N5DefaultCodec
from zarr_formats.n5.header import read_header, write_header

BIG = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP = {"name": "gzip", "configuration": {"level": 6}}


def chunk(shape, dtype="u2", fill=0):
    data_type = create_extension("data_type", ExtensionDefinition(np.dtype(dtype).name))
    return ArrayRepresentation(shape, data_type, np.array(fill, dtype))


def header(*lengths, mode=0, ndim=None, elements=None):
    count = len(lengths) if ndim is None else ndim
    data = struct.pack(f">HH{len(lengths)}I", mode, count, *lengths)
    return data if elements is None else data + struct.pack(">I", elements)


# --- the header ---


def test_the_example_of_the_specification():
    # A block of uint16, 1 x 2 x 3, with the values 1 to 6.
    stored = bytes.fromhex(
        "0000 0003 00000001 00000002 00000003 0001 0002 0003 0004 0005 0006".replace(" ", "")
    )
    decoded = chunk((3, 2, 1))
    values = BlockCodec([BIG]).decode(stored, decoded)
    assert values.tolist() == [[[1], [2]], [[3], [4]], [[5], [6]]]
    assert b"".join(BlockCodec([BIG]).encode(values, decoded)) == stored
    # In the order of N5, the first dimension varies fastest.
    default = N5DefaultCodec([{"name": "transpose", "configuration": {"order": [2, 1, 0]}}, BIG])
    values = default.decode(stored, chunk((1, 2, 3)))
    assert values.tolist() == [[[1, 3, 5], [2, 4, 6]]]
    assert b"".join(default.encode(values, chunk((1, 2, 3)))) == stored


@given(st.lists(st.integers(1, 2**32 - 1), max_size=5).map(tuple))
def test_a_header_is_read_as_it_was_written(lengths):
    written = write_header(lengths)
    assert len(written) == 4 + 4 * len(lengths)
    assert read_header(written + b"rest", len(lengths)) == (lengths, len(written))


def test_mode_1_has_the_number_of_elements():
    assert read_header(header(2, 3, mode=1, elements=6), 2) == ((2, 3), 16)


@pytest.mark.parametrize(
    ("data", "ndim"),
    [
        (b"", 0),
        (b"\0\0\0", 0),
        (header(2, 3)[:-1], 2),
        (header(2, 3), 3),
        (header(2, 3), 1),
        (header(2, 3, ndim=60000), 2),
        (header(2, 3, mode=1), 2),
        (header(2, 3, mode=1, elements=5), 2),
        (header(2, 3, mode=1, elements=2**32 - 1), 2),
        (header(2, 3, mode=2), 2),
        (header(2, 3, mode=3), 2),
        (header(2, 0), 2),
    ],
)
def test_headers_that_are_rejected(data, ndim):
    with pytest.raises(ChunkDecodeError):
        read_header(data, ndim)


# --- n5.block ---


@settings(max_examples=40)
@given(
    npst.arrays(
        st.sampled_from(["u1", "i2", "u4", "i8", "f4", "f8"]).map(np.dtype),
        npst.array_shapes(min_dims=0, max_dims=4, max_side=4),
    ),
    st.sampled_from([[], [GZIP]]),
)
def test_round_trip(values, compressor):
    endian = [] if values.itemsize == 1 else [BIG]
    codec = BlockCodec([*(endian or ["bytes"]), *compressor])
    decoded = chunk(values.shape, values.dtype)
    codec.check(decoded)
    stored = b"".join(codec.encode(values, decoded))
    back = codec.decode(memoryview(stored), decoded)
    assert back.shape == values.shape
    assert back.astype(values.dtype).tobytes() == values.tobytes()


def test_a_smaller_block_is_filled_up():
    # Three columns and one row, in the order of N5.
    content = np.array([[1, 2, 3]], ">u2").tobytes()
    for stored in (header(3, 1) + content, header(3, 1, mode=1, elements=3) + content):
        values = BlockCodec([BIG]).decode(stored, chunk((2, 4), fill=9))
        assert values.tolist() == [[1, 2, 3, 9], [9, 9, 9, 9]]
    stored = header(3, 1) + zlib.compress(content, wbits=31)
    values = BlockCodec([BIG, GZIP]).decode(stored, chunk((2, 4)))
    assert values.tolist() == [[1, 2, 3, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "stored",
    [
        header(5, 2) + bytes(20),
        header(2**32 - 1, 2**32 - 1) + bytes(16),
        header(4, 2) + bytes(15),
        header(4, 2) + bytes(17),
    ],
)
def test_sizes_that_do_not_fit_are_rejected(stored):
    with pytest.raises(ChunkDecodeError):
        BlockCodec([BIG]).decode(stored, chunk((2, 4)))


def test_many_sizes_of_blocks_are_read_all_the_same():
    codec, decoded = BlockCodec(["bytes"]), chunk((10, 10), "u1")
    for rows, columns in np.ndindex(10, 10):
        data = header(columns + 1, rows + 1) + b"\1" * (rows + 1) * (columns + 1)
        values = codec.decode(data, decoded)
        assert values.sum() == values[: rows + 1, : columns + 1].sum() == (rows + 1) * (columns + 1)


def test_a_shape_that_no_header_can_say_is_rejected():
    with pytest.raises(ValueError, match="no room"):
        BlockCodec([BIG]).check(chunk((2**32,)))


def bound(codecs, name="n5.block", dtype="u2", shape=(2, 4)):
    configuration = {"codecs": codecs}
    definition = ExtensionDefinition(name, configuration)
    made = create_extension("codec", definition, Location("here", pointer="/codecs/0"))
    assert made.to_configuration() == configuration
    made.check(chunk(shape, dtype))
    return made


@pytest.mark.parametrize(
    "codecs",
    [
        [{"name": "bytes", "configuration": {"endian": "little"}}],
        [{"name": "transpose", "configuration": {"order": [1, 0]}}, BIG],
        ["bytes"],
    ],
)
def test_codecs_that_n5_does_not_have_are_rejected(codecs):
    with pytest.raises(ValueError, match=r"big|endian|bytes"):
        bound(codecs)


@pytest.mark.parametrize("codecs", [[], [BIG, GZIP, GZIP], [GZIP], [3], [{"configuration": {}}]])
@pytest.mark.parametrize("name", ["n5.block", "n5_default"])
def test_configurations_that_are_rejected(name, codecs):
    with pytest.raises((ExtensionConfigurationError, CodecChainError, ValueError)):
        bound(codecs, name)


# --- n5_default ---

TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}


def test_n5_default_asks_for_the_whole_transposition():
    bound([TRANSPOSE, BIG], "n5_default")
    same = {"name": "transpose", "configuration": {"order": [0, 1]}}
    for codecs in ([BIG], [same, BIG], [TRANSPOSE, TRANSPOSE, BIG], [BIG, GZIP]):
        with pytest.raises(ValueError, match="transpose"):
            bound(codecs, "n5_default")
    assert hash(N5DefaultCodec()) != hash(N5DefaultCodec(["bytes", "gzip"]))


def test_n5_default_chooses_what_is_left_open():
    made = N5DefaultCodec(["bytes", "gzip"]).complete(chunk((2, 3, 4)))
    names = [item.name for item in made.codecs]
    assert names == ["transpose", "bytes", "gzip"]
    assert made.codecs[0].configuration == {"order": [2, 1, 0]}
    assert made.codecs[1].configuration == {"endian": "big"}
    made.check(chunk((2, 3, 4)))
    assert BlockCodec().complete(chunk((2, 3), "u1")).codecs[0].configuration == {}
    assert BlockCodec().complete(chunk((2, 3))).codecs[0].configuration == {"endian": "big"}


def test_n5_default_takes_no_memory_for_what_a_header_claims():
    zstd = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
    codec = N5DefaultCodec([TRANSPOSE, BIG, zstd])
    with pytest.raises(ChunkDecodeError, match="header declares"):
        codec.decode(header(2**20, 2**20) + bytes(100), chunk((2, 2)))


def test_an_array_of_version_3_in_the_manner_of_the_registered_example():
    zstd = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
    configuration = {"codecs": [TRANSPOSE, BIG, zstd]}
    store = MemoryStore()
    array = zarr_core.create_array(
        store, shape=(256, 128), chunks=(256, 128), dtype="float32", compressors=None,
        serializer={"name": "n5_default", "configuration": configuration},
        chunk_key_encoding={"name": "v2", "separator": "/"},
    )  # fmt: skip
    assert array.metadata.to_json()["codecs"] == [
        {"name": "n5_default", "configuration": configuration}
    ]
    values = np.arange(256 * 128, dtype="f4").reshape(256, 128)
    array[...] = values
    # The same blocks as an array of N5, with reversed dimensions.
    document = (
        b'{"dimensions": [256, 128], "blockSize": [256, 128], "dataType": "float32",'
        b'"compression": {"type": "zstd", "level": 0}}'
    )
    both = MemoryStore()
    both.set("attributes.json", document)
    both.set("0/0", store.get("0/0"))
    assert np.array_equal(zarr_core.open(both)[...], values.T)
    assert np.array_equal(zarr_core.open(store)[3:5, 7], values[3:5, 7])


def test_n5_blocks_are_for_n5_alone():
    with pytest.raises(MetadataValidationError, match=r"n5\.block"):
        zarr_core.create_array(shape=(4,), dtype="u2", serializer="n5.block", compressors=None)
