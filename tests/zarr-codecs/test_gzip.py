import gzip
import os
import struct
import zlib

import numcodecs
import pytest
from zarr_codecs.gzip import GzipCodec
from zarr_codecs.zlib import ZlibCodec
from zarr_core.extension import ChecksumError, ChunkDecodeError

CONTENT = bytes(range(256)) * 8


@pytest.fixture(params=["deflate", "zlib"])
def codec(request):
    """The class of the codec, with either library."""
    if request.param == "zlib":
        request.getfixturevalue("without_optional_libraries")
    else:
        pytest.importorskip("deflate")
    return GzipCodec


def decode(codec, data, size):
    out = bytearray(size)
    codec.decode_into(data, memoryview(out))
    assert codec.decode(data, size) == out
    assert codec.decode(data, None) == out
    return bytes(out)


@pytest.mark.parametrize("level", range(10))
def test_other_libraries_read_the_bytes(codec, level):
    encoded = bytes(codec(level).encode(CONTENT, None))
    assert gzip.decompress(encoded) == CONTENT
    assert bytes(numcodecs.GZip().decode(encoded)) == CONTENT
    assert zlib.decompress(encoded, 31) == CONTENT


@pytest.mark.parametrize("level", [0, 1, 5, 9])
def test_level_keeps_its_meaning(codec, level):
    content = b"".join(b"%d," % (number * number) for number in range(5000))
    ours = len(codec(level).encode(content, None))
    assert ours <= 1.05 * len(zlib.compress(content, level, wbits=31))
    assert (ours > len(content)) == (level == 0)


def test_same_bytes_every_time(codec):
    assert codec().encode(CONTENT, None) == codec().encode(CONTENT, None)


@pytest.mark.parametrize("count", [2, 5])
def test_members_after_each_other(codec, count):
    assert decode(codec(), gzip.compress(CONTENT) * count, count * len(CONTENT)) == CONTENT * count


def test_empty_members(codec):
    empty = gzip.compress(b"")
    assert decode(codec(), empty, 0) == b""
    assert decode(codec(), empty + gzip.compress(CONTENT) + empty, len(CONTENT)) == CONTENT


def test_members_longer_than_what_zlib_is_fed(codec):
    content = bytes(1 << 19)
    stored = gzip.compress(content, 0)
    assert decode(codec(), stored + gzip.compress(content, 9), 1 << 20) == bytes(1 << 20)


@pytest.mark.parametrize("position", [-1, -5])
def test_checksum_and_length_of_a_member(codec, position):
    encoded = bytearray(gzip.compress(CONTENT))
    encoded[position] ^= 1
    with pytest.raises(ChecksumError, match="does not match its content|CRC-32"):
        codec().decode_into(encoded, memoryview(bytearray(len(CONTENT))))


def test_no_flip_gives_other_content(codec):
    encoded = gzip.compress(CONTENT)
    refused = 0
    for position in range(len(encoded)):
        damaged = bytearray(encoded)
        damaged[position] ^= 16
        out = bytearray(len(CONTENT))
        try:
            codec().decode_into(damaged, memoryview(out))
        except ChunkDecodeError:
            refused += 1
        else:  # the time in the header, or bits after the end of the last block
            assert out == CONTENT
    assert refused > len(encoded) - 10


def test_error_messages(codec):
    encoded = gzip.compress(CONTENT)
    size = len(CONTENT)
    for data, message in [
        (b"", "truncated after 0 bytes|0 bytes of DEFLATE cannot decode to"),
        (encoded[:-1], "truncated"),
        (encoded + b"\0", "not a gzip member|truncated"),
        (encoded + b"garbage!!!", f"from byte {len(encoded)} on are not a"),
        (gzip.compress(CONTENT + b"x"), f"more than {size} bytes"),
        (gzip.compress(CONTENT[1:]), f"{size - 1} bytes instead of {size}"),
        (zlib.compress(CONTENT), "header|wrapper"),
    ]:
        with pytest.raises(ChunkDecodeError, match=message) as caught:
            codec().decode_into(data, memoryview(bytearray(size)))
        assert caught.value.codec == "gzip"


@pytest.mark.parametrize("content", [CONTENT, os.urandom(1 << 16)], ids=["small", "stored"])
@pytest.mark.parametrize("count", [2, 3])
def test_repeated_member_exceeds_the_expected_size(codec, count, content):
    encoded = gzip.compress(content, 9) + gzip.compress(content, 1) * (count - 1)
    for data in (encoded, memoryview(encoded)):
        with pytest.raises(ChunkDecodeError, match=f"more than {len(content)} bytes"):
            codec().decode(data, len(content))


@pytest.mark.parametrize("codec", [GzipCodec(), ZlibCodec()], ids=["gzip", "zlib"])
def test_trailing_bytes_with_a_valid_trailer_raise(library, codec):
    encoded = bytes(codec.encode(CONTENT, None))
    for tail in (encoded[-8:], b"xyz" + encoded[-8:], encoded[len(encoded) // 2 :]):
        with pytest.raises(ChunkDecodeError, match=f"from byte {len(encoded)} on are not a"):
            codec.decode(encoded + tail, len(CONTENT))


def test_checksum_that_is_correct_modulo_prime_raises(library):
    encoded = zlib.compress(b"\0")
    high, low = struct.unpack(">HH", encoded[-4:])
    with pytest.raises(ChecksumError, match="Adler-32"):
        ZlibCodec().decode(encoded[:-4] + struct.pack(">HH", high + 65521, low), 1)


def test_decompression_bomb_allocates_no_memory(codec, at_most):
    bomb = gzip.compress(bytes(1 << 26))
    with at_most(2_000_000), pytest.raises(ChunkDecodeError, match="more than 16 bytes"):
        codec().decode(bomb, 16)
