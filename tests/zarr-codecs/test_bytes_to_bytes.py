"""What every bytes -> bytes codec of the package must do."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
from zarr_codecs.zlib import ZlibCodec
from zarr_codecs.zstd import ZstdCodec
from zarr_core.extension import ChunkDecodeError, ExtensionDefinition

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
# Repetition makes compressible content, which short random bytes are not.
contents = st.builds(lambda part, times: part * times, st.binary(max_size=300), st.integers(0, 40))


@codecs
@settings(max_examples=40, deadline=None)
@given(content=contents)
def test_round_trip(codec, content):
    encoded = bytes(codec.encode(content, None))
    assert bytes(codec.decode(encoded, len(content))) == content
    assert bytes(codec.decode(encoded, None)) == content
    out = bytearray(len(content))
    codec.decode_into(encoded, memoryview(out))
    assert out == content


@codecs
@pytest.mark.parametrize("size", [1 << 17, (1 << 17) + 1, 3_000_001])
def test_round_trip_of_large_chunks(codec, size):
    content = (np.cumsum(np.arange(size) % 7, dtype="u4") >> 3).astype("u1").tobytes()
    encoded = codec.encode(content, None)
    out = bytearray(size)
    codec.decode_into(encoded, memoryview(out))
    assert out == content
    assert bytes(codec.decode(encoded, size)) == content
    assert bytes(codec.decode(encoded, None)) == content


@codecs
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: memoryview(bytearray(b))])
@pytest.mark.parametrize("size", [0, 2400])
def test_takes_any_buffer_and_does_not_change_it(codec, kind, size):
    content = bytes(range(240)) * 10
    content = content[:size]
    data = kind(content)
    encoded = kind(bytes(codec.encode(data, None)))
    before = bytes(encoded)
    assert bytes(codec.decode(encoded, size)) == content
    assert (bytes(data), bytes(encoded)) == (content, before)


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
def test_threads_may_share_it(codec):
    contents = [bytes([number]) * (500 + number) for number in range(60)]

    def work(content):
        return all(
            bytes(codec.decode(codec.encode(content, None), len(content))) == content
            for _ in range(20)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, contents))


@codecs
def test_is_a_value(codec):
    assert pickle.loads(pickle.dumps(codec)) == codec
    assert hash(codec) == hash(pickle.loads(pickle.dumps(codec)))
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        codec.level = 1  # a member of some, and of the others none


@codecs
def test_configuration_round_trip(codec):
    configuration = codec.to_configuration()
    if isinstance(codec, BloscCodec) and codec.typesize is None:
        configuration |= {"typesize": 1}
    made = type(codec).from_definition(ExtensionDefinition("name", configuration))
    assert made.to_configuration() == configuration


@pytest.mark.parametrize("dtype", ["<i2", ">i2", "<f8", ">c16", "?", "V3", "<U5"])
@codecs
def test_elements_of_any_type(codec, dtype):
    elements = np.frombuffer(np.random.default_rng(1).bytes(240 * 8), "u1")[: 16 * 3 * 20].view(
        "u1"
    )
    elements = elements[: len(elements) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize]
    data = elements.view(dtype).view("u1").data
    assert bytes(codec.decode(codec.encode(data, None), len(data))) == bytes(data)
