import gzip
import os
import struct
import sys
import zlib

import numcodecs
import pytest
import zarr_codecs
from zarr_codecs import _deflate
from zarr_codecs.gzip import GzipCodec
from zarr_codecs.zlib import ZlibCodec
from zarr_core.extension import ChecksumError, ChunkDecodeError

CONTENT = bytes(range(256)) * 8


@pytest.fixture(params=["libdeflate", "zlib"])
def library(request, monkeypatch):
    """With the optional library, and as if it were not installed."""
    if request.param == "zlib":
        monkeypatch.setitem(sys.modules, "deflate", None)
        monkeypatch.delitem(sys.modules, "zarr_codecs.libdeflate", raising=False)
        monkeypatch.delattr(zarr_codecs, "libdeflate", raising=False)
    else:
        pytest.importorskip("deflate")
    _deflate.libdeflate.cache_clear()
    assert (_deflate.libdeflate() is None) == (request.param == "zlib")
    yield request.param
    _deflate.libdeflate.cache_clear()


def decode(data, size):
    out = bytearray(size)
    GzipCodec().decode_into(data, memoryview(out))
    assert GzipCodec().decode(data, size) == out
    assert GzipCodec().decode(data, None) == out
    return bytes(out)


@pytest.mark.parametrize(
    "name",
    [
        "gzip-zarr-python",
        "gzip-tensorstore",
        "gzip-level-0-zlib",
        "gzip-two-members",
        "gzip-with-file-name",
    ],
)
def test_reads_bytes_of_other_libraries(library, golden, content, name):
    assert decode(golden(name), len(content)) == content


@pytest.mark.parametrize("level", range(10))
def test_other_libraries_read_the_bytes(library, level):
    encoded = bytes(GzipCodec(level).encode(CONTENT, None))
    assert gzip.decompress(encoded) == CONTENT
    assert bytes(numcodecs.GZip().decode(encoded)) == CONTENT
    assert zlib.decompress(encoded, 31) == CONTENT


@pytest.mark.parametrize("level", [0, 1, 5, 9])
def test_level_keeps_its_meaning(library, level):
    content = b"".join(b"%d," % (number * number) for number in range(5000))
    ours = len(GzipCodec(level).encode(content, None))
    assert ours <= 1.05 * len(zlib.compress(content, level, wbits=31))
    assert (ours > len(content)) == (level == 0)


def test_same_bytes_every_time(library):
    assert GzipCodec().encode(CONTENT, None) == GzipCodec().encode(CONTENT, None)


@pytest.mark.parametrize("count", [2, 5])
def test_members_after_each_other(library, count):
    assert decode(gzip.compress(CONTENT) * count, count * len(CONTENT)) == CONTENT * count


def test_empty_members(library):
    empty = gzip.compress(b"")
    assert decode(empty, 0) == b""
    assert decode(empty + gzip.compress(CONTENT) + empty, len(CONTENT)) == CONTENT


def test_members_longer_than_what_zlib_is_fed(library):
    content = bytes(1 << 19)
    stored = gzip.compress(content, 0)
    assert decode(stored + gzip.compress(content, 9), 1 << 20) == bytes(1 << 20)


@pytest.mark.parametrize("position", [-1, -5])
def test_checksum_and_length_of_a_member(library, position):
    encoded = bytearray(gzip.compress(CONTENT))
    encoded[position] ^= 1
    with pytest.raises(ChecksumError, match="CRC-32"):
        GzipCodec().decode_into(encoded, memoryview(bytearray(len(CONTENT))))


def test_no_flip_gives_other_content(library):
    encoded = gzip.compress(CONTENT)
    refused = 0
    for position in range(len(encoded)):
        damaged = bytearray(encoded)
        damaged[position] ^= 16
        out = bytearray(len(CONTENT))
        try:
            GzipCodec().decode_into(damaged, memoryview(out))
        except ChunkDecodeError:
            refused += 1
        else:  # the time in the header, or bits after the end of the last block
            assert out == CONTENT
    assert refused > len(encoded) - 10


def test_error_messages(library):
    encoded = gzip.compress(CONTENT)
    size = len(CONTENT)
    for data, message in [
        (b"", "truncated after 0 bytes"),
        (encoded[:-1], "truncated"),
        (encoded + b"\0", "not a gzip member|truncated"),
        (encoded + b"garbage!", f"from byte {len(encoded)} on are not a"),
        (gzip.compress(CONTENT + b"x"), f"more than {size} bytes"),
        (gzip.compress(CONTENT[1:]), f"{size - 1} bytes instead of {size}"),
        (zlib.compress(CONTENT), "incorrect header check"),
    ]:
        with pytest.raises(ChunkDecodeError, match=message) as caught:
            GzipCodec().decode_into(data, memoryview(bytearray(size)))
        assert caught.value.codec == "gzip"


@pytest.mark.parametrize("content", [CONTENT, os.urandom(1 << 16)], ids=["small", "stored"])
@pytest.mark.parametrize("count", [2, 3])
def test_repeated_member_exceeds_the_expected_size(library, count, content):
    encoded = gzip.compress(content, 9) + gzip.compress(content, 1) * (count - 1)
    for data in (encoded, memoryview(encoded)):
        with pytest.raises(ChunkDecodeError, match=f"more than {len(content)} bytes"):
            GzipCodec().decode(data, len(content))


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


def test_decompression_bomb_allocates_no_memory(library, at_most):
    bomb = gzip.compress(bytes(1 << 26))
    with at_most(2_000_000), pytest.raises(ChunkDecodeError, match="more than 16 bytes"):
        GzipCodec().decode(bomb, 16)


def test_impossible_expected_size_allocates_no_memory(library, at_most):
    encoded = gzip.compress(CONTENT)
    with at_most(100_000), pytest.raises(ChunkDecodeError, match="cannot decode to"):
        GzipCodec().decode(encoded, 1 << 40)


@pytest.mark.parametrize("level", [-1, 10, 5.0, True, "5", None])
def test_rejects_level(level):
    with pytest.raises(ValueError, match="level must be an integer from 0 to 9"):
        GzipCodec(level)


def test_default():
    assert GzipCodec().to_configuration() == {"level": 5}
