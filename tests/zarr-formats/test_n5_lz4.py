"""LZ4 of the Java library and of zarr-python, byte by byte."""

import pickle
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh32_intdigest as xxh32
from zarr_core.errors import ChecksumError, ChunkDecodeError
from zarr_core.extension import ExtensionDefinition, Location, create_extension
from zarr_formats.n5.lz4 import N5Lz4Codec

SEED = 0x9747B28C
CONTENT = b"abcabcabcabc" * 50


def piece(content, *, method=0x10, level=6, length=None, hashed=None, magic=b"LZ4Block"):
    """One block of lz4-java; by default not compressed."""
    length = len(content) if length is None else length
    hashed = xxh32(content, SEED) & 0x0FFFFFFF if hashed is None else hashed
    return struct.pack("<8sBIII", magic, method | level, len(content), length, hashed) + content


END = struct.pack("<8sBIII", b"LZ4Block", 0x16, 0, 0, 0)


def test_java_data_is_read():
    stream = piece(b"first") + piece(b"second") + END
    assert bytes(N5Lz4Codec().decode(stream, 11)) == b"firstsecond"
    # A literal run of 1, then a match of 15 bytes at distance 1, then a last literal run of 5.
    block = bytes([0x1B, ord("a"), 1, 0, 0x50]) + b"aaaaa"
    content = b"a" * 21
    stream = piece(block, method=0x20, length=21, hashed=xxh32(content, SEED) & 0x0FFFFFFF) + END
    assert bytes(N5Lz4Codec().decode(stream, 21)) == content


def test_written_bytes_have_the_java_layout():
    stream = bytes(N5Lz4Codec(blockSize=64).encode(CONTENT, None))
    start, sizes = 0, []
    while True:
        magic, token, stored, length, hashed = struct.unpack_from("<8sBIII", stream, start)
        assert magic == b"LZ4Block"
        assert token & 0x0F == 0  # blocks of at most 1024 bytes
        start += 21 + stored
        if not length:
            break
        assert token & 0xF0 == 0x20
        done = sum(sizes)
        assert hashed == xxh32(CONTENT[done : done + length], SEED) & 0x0FFFFFFF
        sizes.append(length)
    assert start == len(stream)
    assert sizes == [64] * 9 + [24]


def test_incompressible_data_is_stored():
    content = bytes(range(200))
    stream = bytes(N5Lz4Codec().encode(content, None))
    assert stream[8] & 0xF0 == 0x10
    assert content in stream


def test_zarr_python_writes_one_block_after_its_size():
    stream = bytes(N5Lz4Codec(acceleration=1).encode(CONTENT, None))
    assert struct.unpack_from("<I", stream) == (len(CONTENT),)
    # Both are read, whichever is expected.
    for codec in (N5Lz4Codec(), N5Lz4Codec(acceleration=1)):
        assert bytes(codec.decode(stream, len(CONTENT))) == CONTENT


@settings(max_examples=40)
@given(st.binary(max_size=300), st.sampled_from([None, 64, 65, 100, 1 << 16]))
def test_round_trip(data, size):
    codec = N5Lz4Codec(blockSize=size)
    stream = codec.encode(data, None)
    assert bytes(codec.decode(stream, len(data))) == data
    assert bytes(codec.decode(memoryview(stream), None)) == data


@pytest.mark.parametrize(
    "stream",
    [
        b"LZ4Block",
        piece(b"content"),
        (piece(b"content") + END)[:-1],
        piece(b"content")[:-3] + END,
        piece(b"content") + END + b"x",
        piece(b"content") + piece(b"other", magic=b"LZ4Black") + END,
        piece(b"content", method=0x30) + END,
        piece(b"content", length=8) + END,
        piece(b"content", method=0x20, length=2**31) + END,
        piece(b"content", method=0x20, length=7, level=0) + END,
        piece(b"content" * 1000) + END,
        piece(b"x" * 2000, level=0) + END,
        piece(b"content") + struct.pack("<8sBIII", b"LZ4Block", 0x16, 5, 0, 0) + b"12345",
        piece(b"content") + struct.pack("<8sBIII", b"LZ4Block", 0x16, 0, 0, 9),
    ],
)
def test_damage_is_noticed(stream):
    with pytest.raises(ChunkDecodeError):
        N5Lz4Codec().decode(stream, 7)


def test_a_wrong_hash_is_noticed():
    with pytest.raises(ChecksumError):
        N5Lz4Codec().decode(piece(b"content", hashed=1) + END, 7)
    assert N5Lz4Codec().detects_damage
    assert not N5Lz4Codec(acceleration=1).detects_damage


def test_it_is_found_and_pickles():
    for configuration in ({"blockSize": 1024}, {"acceleration": 3}):
        definition = ExtensionDefinition("n5.lz4", configuration)
        made = create_extension("codec", definition, Location("here", pointer="/codecs/0"))
        assert made.to_configuration() == configuration
        made.encode(b"so that it has made what it needs", None)
        assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize("cut", [1, 5])
def test_the_content_of_a_piece_is_cut_short(cut):
    stream = piece(b"first") + piece(b"second")[:-cut]
    with pytest.raises(ChunkDecodeError, match=f"cut short after {len(stream)} bytes"):
        N5Lz4Codec().decode(stream, 11)
