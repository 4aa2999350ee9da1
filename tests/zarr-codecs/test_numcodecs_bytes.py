"""The bytes -> bytes codecs of numcodecs: the same bytes, and nothing from damaged ones."""

import bz2
import lzma
import struct
import zlib

import numcodecs
import numpy as np
import pytest
from zarr_codecs.numcodecs_names import NumcodecsBloscCodec
from zarr_core.extension import (
    ArrayRepresentation,
    ChecksumError,
    ChunkDecodeError,
    CodecError,
    DataType,
    ExtensionDefinition,
    create_extension,
)

CONTENT = (np.arange(900, dtype="<i4") ** 2 % 1009).tobytes()

# Codecs with the same library on both sides, so the bytes must be equal.
SAME = [
    ("zlib", {}),
    ("zlib", {"level": 9}),
    ("bz2", {}),
    ("bz2", {"level": 9}),
    ("lzma", {}),
    ("lzma", {"format": 1, "check": -1, "preset": None, "filters": None}),
    ("lzma", {"format": 1, "check": 10, "preset": 3}),
    ("lzma", {"format": 2, "check": -1, "preset": 1}),
    ("lzma", {"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}),
    ("lz4", {}),
    ("lz4", {"acceleration": 10}),
    ("shuffle", {"elementsize": 4}),
    ("shuffle", {"elementsize": 1}),
    ("shuffle", {"elementsize": 0}),
    ("shuffle", {"elementsize": 100}),
    ("shuffle", {}),
    ("crc32", {}),
    ("crc32", {"location": "end"}),
    ("crc32c", {}),
    ("crc32c", {"location": "start"}),
    ("adler32", {}),
    ("adler32", {"location": "end"}),
    ("fletcher32", {}),
    ("jenkins_lookup3", {}),
    ("jenkins_lookup3", {"initval": 4294967295, "prefix": None}),
    ("blosc", {}),
    ("blosc", {"cname": "zstd", "clevel": 1, "shuffle": -1, "blocksize": 1024, "typesize": 1}),
    ("blosc", {"cname": "lz4hc", "clevel": 9, "shuffle": 2, "blocksize": 0, "typesize": 4}),
]
# Where it may be another version of the library, or the time of day is in the bytes.
READABLE = [("gzip", {}), ("zstd", {}), ("zstd", {"level": 9, "checksum": True})]


def ours(name, configuration):
    return create_extension("codec", ExtensionDefinition(f"numcodecs.{name}", configuration))


def theirs(name, configuration):
    return numcodecs.get_codec({"id": name} | configuration)


def both(cases):
    return pytest.mark.parametrize(
        ("name", "configuration"), cases, ids=[f"{name}-{c}" for name, c in cases]
    )


@both(SAME + READABLE)
def test_as_numcodecs(name, configuration):
    mine, other = ours(name, configuration), theirs(name, configuration)
    encoded = bytes(other.encode(CONTENT))
    if (name, configuration) in SAME:
        assert bytes(mine.encode(CONTENT, None)) == encoded
    else:
        assert bytes(other.decode(bytes(mine.encode(CONTENT, None)))) == CONTENT
    assert bytes(mine.decode(encoded, len(CONTENT))) == CONTENT
    assert bytes(mine.decode(encoded, None)) == CONTENT
    out = bytearray(len(CONTENT))
    mine.decode_into(encoded, memoryview(out))
    assert out == CONTENT


@pytest.mark.parametrize("size", [1, 2, 3, 13, 359, 360, 721])
def test_fletcher_of_every_length(size):
    assert bytes(ours("fletcher32", {}).encode(CONTENT[:size], None)) == bytes(
        numcodecs.Fletcher32().encode(CONTENT[:size])
    )


BOMBS = {
    "zlib": lambda zeros: zlib.compress(zeros, 9),
    "bz2": bz2.compress,
    "lzma": lambda zeros: lzma.compress(zeros, preset=0),
    "lz4": numcodecs.LZ4().encode,
}


@pytest.mark.parametrize("name", BOMBS)
def test_decompression_bomb_allocates_no_memory(at_most, name):
    codec = ours(name, {})
    bomb = bytes(BOMBS[name](bytes(1 << 24)))
    with at_most(1 << 20), pytest.raises(ChunkDecodeError):
        codec.decode(bomb, 16)
    with at_most(1 << 20), pytest.raises(ChunkDecodeError):
        codec.decode_into(bomb, memoryview(bytearray(16)))


@pytest.mark.parametrize("name", ["zlib", "bz2", "lzma", "lz4", "blosc", "zstd", "gzip"])
def test_expected_size_allocates_no_memory(at_most, name):
    codec = ours(name, {})
    encoded = bytes(codec.encode(CONTENT, None))
    # The dictionary of the configured preset has 8 MiB.
    with at_most(10 << 20 if name == "lzma" else 1 << 20), pytest.raises(ChunkDecodeError):
        codec.decode(encoded, 1 << 44)


def test_large_dictionary_in_header_is_not_allocated():
    # An .lzma header whose dictionary has 3 GiB, then some content.
    encoded = bytearray(lzma.compress(CONTENT, format=lzma.FORMAT_ALONE, preset=0))
    encoded[1:5] = struct.pack("<I", 3 << 30)
    with pytest.raises(ChunkDecodeError, match="(?i)memory"):
        ours("lzma", {"format": 2}).decode(encoded, len(CONTENT))
    # The largest preset stays readable, also where the configuration names another.
    largest = lzma.compress(CONTENT, preset=9)
    assert ours("lzma", {"preset": 1}).decode(largest, len(CONTENT)) == CONTENT


@pytest.mark.parametrize(
    ("name", "more"), [("bz2", bz2.compress), ("lzma", lzma.compress), ("gzip", None)]
)
def test_streams_after_each_other(name, more):
    codec = ours(name, {})
    encoded = bytes(codec.encode(CONTENT, None)) + bytes(
        more(CONTENT[1:]) if more else codec.encode(CONTENT[1:], None)
    )
    assert bytes(codec.decode(encoded, 2 * len(CONTENT) - 1)) == CONTENT + CONTENT[1:]
    with pytest.raises(ChunkDecodeError):
        codec.decode(encoded, len(CONTENT))


def test_zlib_notices_a_wrong_checksum():
    encoded = bytearray(zlib.compress(CONTENT))
    encoded[-1] ^= 1
    for size in (len(CONTENT), None):
        with pytest.raises(ChecksumError, match="Adler-32"):
            ours("zlib", {}).decode(encoded, size)


def test_lz4_error_messages():
    codec = ours("lz4", {})
    encoded = bytes(codec.encode(CONTENT, None))
    for data, message in [
        (b"\0\0\0\0", "4 bytes are too few for the size and a block"),
        (struct.pack("<I", 2**32 - 1) + encoded[4:], "declares 4294967295 bytes instead of"),
        (encoded[:-1], "the block cannot be decompressed"),
        (encoded + b"\0", "the block cannot be decompressed"),
        (b"\0\0\0\0" + encoded[4:], "declares 0 bytes"),
    ]:
        with pytest.raises(ChunkDecodeError, match=message):
            codec.decode(data, len(CONTENT))
    with pytest.raises(ChunkDecodeError, match="a block of .* cannot decode to"):
        codec.decode(struct.pack("<I", 2**31) + encoded[4:], None)
    with pytest.raises(ChunkDecodeError, match="declares 0 bytes, but the block is not empty"):
        codec.decode(b"\0\0\0\0\x10a", 0)


def test_shuffle_of_half_an_element():
    codec = ours("shuffle", {"elementsize": 8})
    with pytest.raises(CodecError, match="12 bytes are not a multiple of the element size 8"):
        codec.encode(bytes(12), None)
    with pytest.raises(ChunkDecodeError, match="12 bytes are not a multiple of the element size 8"):
        codec.decode(bytes(12), 12)


def representation(name):
    data_type = create_extension("data_type", ExtensionDefinition(name))
    assert isinstance(data_type, DataType)
    return ArrayRepresentation((3,), data_type, data_type.default_fill_value())


def test_size_of_an_element_is_chosen_for_a_new_array():
    decoded = representation("float64")
    assert ours("shuffle", {}).complete(decoded).to_configuration() == {"elementsize": 8}
    blosc = NumcodecsBloscCodec()
    assert blosc.complete(decoded).to_configuration() == blosc.to_configuration() | {"typesize": 8}
    kept = ours("shuffle", {"elementsize": 2})
    assert kept.complete(decoded) == kept
    assert NumcodecsBloscCodec(typesize=3).complete(decoded).typesize == 3


def test_automatic_shuffle_takes_bits_of_single_bytes():
    shuffled = {
        size: NumcodecsBloscCodec(shuffle=-1, typesize=size).encode(CONTENT, None)[2] & 5
        for size in (1, 4)
    }
    assert shuffled == {1: 4, 4: 1}  # flags of the header: 1 bytes, 4 bits
