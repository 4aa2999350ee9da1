"""What every bytes -> bytes codec of the package must do."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from zarr_codecs.bitround import BitroundCodec
from zarr_codecs.blosc import BloscCodec
from zarr_codecs.bz2 import Bz2Codec
from zarr_codecs.checksums import (
    Adler32Codec,
    Crc32Codec,
    Fletcher32Codec,
    JenkinsLookup3Codec,
    NumcodecsCrc32cCodec,
)
from zarr_codecs.crc32c import Crc32cCodec
from zarr_codecs.gzip import GzipCodec
from zarr_codecs.lz4 import Lz4Codec
from zarr_codecs.lzma import LzmaCodec
from zarr_codecs.numcodecs_names import NumcodecsBloscCodec, NumcodecsGzipCodec, NumcodecsZstdCodec
from zarr_codecs.transpose import TransposeCodec
from zarr_codecs.zlib import ZlibCodec
from zarr_codecs.zstd import ZstdCodec
from zarr_core.extension import ChecksumError, ChunkDecodeError

CODECS = [
    GzipCodec(0),
    GzipCodec(5),
    ZstdCodec(),
    ZstdCodec(-131072),
    ZstdCodec(19, checksum=True),
    BloscCodec(),
    BloscCodec("lz4", 5, "shuffle", 4),
    BloscCodec("blosclz", 0, "noshuffle"),
    BloscCodec("zlib", 9, "bitshuffle", 8, blocksize=4096),
    Crc32cCodec(),
    NumcodecsBloscCodec("zstd", 1, -1, 0, 4),
    NumcodecsGzipCodec(),
    NumcodecsZstdCodec(),
    ZlibCodec(1),
    ZlibCodec(0),
    Bz2Codec(9),
    LzmaCodec(preset=1),
    LzmaCodec(format=2, preset=0),
    LzmaCodec(format=3, filters=[{"id": 33, "preset": 0}]),
    Lz4Codec(),
    Crc32Codec(),
    NumcodecsCrc32cCodec("start"),
    Adler32Codec("end"),
    Fletcher32Codec(),
    JenkinsLookup3Codec(7),
]

codecs = pytest.mark.parametrize("codec", CODECS, ids=repr)
GOLDEN = {"gzip": GzipCodec(), "zstd": ZstdCodec(), "blosc": BloscCodec(), "crc32c": Crc32cCodec()}


@pytest.mark.parametrize(
    "name",
    [
        *("gzip-zarr-python", "gzip-tensorstore", "gzip-level-0-zlib", "gzip-two-members"),
        *("gzip-with-file-name", "zstd-zarr-python", "zstd-checksum-zarr-python"),
        *("zstd-tensorstore", "zstd-unknown-size", "zstd-skippable-and-two-frames"),
        *("blosc-lz4-shuffle-zarr-python", "blosc-zstd-bitshuffle-zarr-python"),
        *("blosc-blosclz-noshuffle-zarr-python", "blosc-lz4hc-shuffle-zarr-python"),
        *("blosc-zlib-shuffle-zarr-python", "blosc-lz4-bitshuffle-tensorstore"),
        *("blosc-zstd-shuffle-tensorstore", "crc32c-zarr-python", "crc32c-tensorstore"),
    ],
)
def test_reads_bytes_of_other_libraries(library, golden, content, name):
    codec = GOLDEN[name.partition("-")[0]]
    out = bytearray(len(content))
    codec.decode_into(golden(name), memoryview(out))
    assert out == content
    assert codec.decode(golden(name), len(content)) == content
    assert codec.decode(golden(name), None) == content


INVALID = [
    (GzipCodec, "level", [-1, 10, 5.0, True, "5", None], "integer from 0 to 9"),
    (ZstdCodec, "level", [-131073, 23, 3.0, True, "3", None], "integer from -131072 to 22"),
    (ZstdCodec, "checksum", [0, 1, "true", None], "true or false"),
    (BloscCodec, "cname", ["gzip", None], ""),
    (BloscCodec, "clevel", [10, -1, 5.0, True], ""),
    (BloscCodec, "shuffle", [1, "auto"], ""),
    (BloscCodec, "typesize", [0, 4.0], ""),
    (BloscCodec, "blocksize", [-1, 2**31, True], ""),
    (BitroundCodec, "keepbits", [0, -1, 1.5, True, None], "integer of at least 1"),
    (TransposeCodec, "order", [[0, 0], [1, 2], [-1, 0], [0, 1.0], [True, False], ["0"]], "permut"),
]


@pytest.mark.parametrize(
    ("make", "name", "value", "message"),
    [(make, name, value, message) for make, name, values, message in INVALID for value in values],
)
def test_constructors_reject_values(make, name, value, message):
    with pytest.raises(ValueError, match=f"{name} must be .*{message}"):
        make(**{name: value})


CHECKSUMS = [
    *(Crc32cCodec(), Crc32Codec(), Crc32Codec("end"), NumcodecsCrc32cCodec(), Adler32Codec()),
    *(Fletcher32Codec(), JenkinsLookup3Codec()),
]


@pytest.mark.parametrize("codec", CHECKSUMS, ids=repr)
def test_checksums_detect_any_bit_flip(codec):
    encoded = bytearray(codec.encode(bytes(range(40)), None))
    assert codec.encoded_size(40) == len(encoded) == 44
    for position in range(len(encoded)):
        encoded[position] ^= 4
        with pytest.raises(ChecksumError, match="the stored checksum is 0x") as caught:
            codec.decode(encoded, 40)
        assert caught.value.codec == codec.name
        encoded[position] ^= 4
    assert codec.detects_damage
    for size in range(4):
        with pytest.raises(ChunkDecodeError, match=f"{size} bytes are too few for a checksum of 4"):
            codec.decode(bytes(size), None)
    with pytest.raises(ChunkDecodeError, match="decodes to 40 bytes instead of 11"):
        codec.decode(encoded, 11)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_checksums_are_removed_without_a_copy(at_most, kind):
    encoded = kind(Crc32cCodec().encode(bytes(1 << 20), None))
    out = memoryview(bytearray(1 << 20))
    with at_most(10_000):
        view = Crc32cCodec().decode(encoded, 1 << 20)
        Crc32cCodec().decode_into(encoded, out)
    assert len(view) == 1 << 20


@codecs
@pytest.mark.parametrize("size", [1 << 17, (1 << 17) + 1, 1_000_001])
def test_round_trip_of_large_chunks(codec, size):
    content = (np.cumsum(np.arange(size) % 7, dtype="u4") >> 3).astype("u1").tobytes()
    encoded = codec.encode(content, None)
    out = bytearray(size)
    codec.decode_into(encoded, memoryview(out))
    assert out == content
    assert bytes(codec.decode(encoded, size)) == content
    assert bytes(codec.decode(encoded, None)) == content


@codecs
@pytest.mark.parametrize(
    ("size", "promised"),
    [(0, 1), (1, 0), (1, 2), (2400, 0), (2400, 2399), (2400, 2401), (5, 10**5)],
)
def test_rejects_another_length_than_promised(codec, size, promised):
    encoded = codec.encode((bytes(range(240)) * 10)[:size], None)
    with pytest.raises(ChunkDecodeError):
        codec.decode_into(encoded, memoryview(bytearray(promised)))
    with pytest.raises(ChunkDecodeError):
        codec.decode(encoded, promised)


@codecs
def test_rejects_every_truncation(codec):
    content = np.random.default_rng(0).bytes(40) + bytes(60)
    encoded = bytes(codec.encode(content, None))
    for length in range(len(encoded)):
        with pytest.raises(ChunkDecodeError):
            codec.decode_into(encoded[:length], memoryview(bytearray(len(content))))


@codecs
@pytest.mark.parametrize("tail", [b"\0", b"garbage that is no frame"])
def test_rejects_bytes_after_the_end(codec, tail):
    content = bytes(range(100))
    with pytest.raises(ChunkDecodeError):
        codec.decode_into(bytes(codec.encode(content, None)) + tail, memoryview(bytearray(100)))


@codecs
def test_is_a_value(codec):
    assert pickle.loads(pickle.dumps(codec)) == codec
    assert hash(codec) == hash(pickle.loads(pickle.dumps(codec)))
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        codec.level = 1  # a member of some, and of the others none
