import struct

import numcodecs
import pytest
import zstandard
from zarr_codecs import _numcodecs
from zarr_codecs.zstd import ZstdCodec
from zarr_core.extension import ChecksumError, ChunkDecodeError, CodecError

CONTENT = bytes(range(256)) * 8
SKIPPABLE = b"\x5f\x2a\x4d\x18\x05\0\0\0hello"


def decode(data, size):
    out = bytearray(size)
    ZstdCodec().decode_into(data, memoryview(out))
    assert ZstdCodec().decode(data, size) == out
    assert ZstdCodec().decode(data, None) == out
    return bytes(out)


def frame(content, **options):
    return zstandard.ZstdCompressor(**options).compress(content)


def frame_of_unknown_size(content):
    stream = zstandard.ZstdCompressor().compressobj()
    return stream.compress(content) + stream.flush()


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65791, 65792, 200_000])
@pytest.mark.parametrize("make", [frame, frame_of_unknown_size])
def test_every_width_of_the_size_in_the_header(library, make, size):
    content = (CONTENT * 100)[:size]
    assert decode(make(content), size) == content


@pytest.mark.parametrize("level", [-131072, -7, -1, 0, 1, 9, 22])
@pytest.mark.parametrize("checksum", [False, True])
def test_other_libraries_read_the_bytes(library, level, checksum):
    for content in (CONTENT, CONTENT * 100):  # one by each library
        encoded = ZstdCodec(level, checksum).encode(content, None)
        assert zstandard.ZstdDecompressor().decompress(encoded) == content
        assert bytes(numcodecs.Zstd().decode(encoded)) == content
        parameters = zstandard.get_frame_parameters(encoded)
        assert parameters.content_size == len(content)
        assert parameters.has_checksum is checksum


def test_levels_do_not_mix_within_a_thread(library):
    levels = [1, 19, 1, -100, 19]
    sizes = [len(ZstdCodec(level).encode(CONTENT[::-1] + CONTENT, None)) for level in levels]
    assert sizes[0] == sizes[2]
    assert sizes[1] == sizes[4]
    assert sizes[3] > sizes[1]


@pytest.mark.parametrize("first", [frame(CONTENT), frame_of_unknown_size(CONTENT), SKIPPABLE])
@pytest.mark.parametrize("second", [frame(CONTENT), frame_of_unknown_size(CONTENT), SKIPPABLE])
def test_frames_after_each_other(library, first, second):
    size = len(CONTENT) * (2 - (first, second).count(SKIPPABLE))
    assert decode(first + second, size) == (CONTENT * 2)[:size]


@pytest.mark.parametrize("empty", [frame(b""), frame_of_unknown_size(b"")])
def test_an_empty_frame_before_another(library, empty):
    # zstandard does not check what follows a frame that declares 0 bytes.
    assert decode(empty + frame(CONTENT), len(CONTENT)) == CONTENT
    for more in (frame(CONTENT), b"junk"):
        for promised in (0, len(CONTENT) + 1):
            with pytest.raises(ChunkDecodeError):
                ZstdCodec().decode(empty + more, promised)
            with pytest.raises(ChunkDecodeError):
                ZstdCodec().decode_into(empty + more, memoryview(bytearray(promised)))


def test_checksum_is_verified(library):
    for content in (CONTENT, CONTENT * 100):
        encoded = bytearray(ZstdCodec(3, checksum=True).encode(content, None))
        encoded[-1] ^= 1
        with pytest.raises(ChecksumError, match="differs from its checksum"):
            ZstdCodec().decode_into(encoded, memoryview(bytearray(len(content))))


def test_error_messages(library):
    size = len(CONTENT)
    good = frame(CONTENT)
    for data, message in [
        (b"", "no Zstandard frame at byte 0"),
        (CONTENT, "no Zstandard frame at byte 0"),
        (b"\x25\xb5\x2f\xfd" + good[4:], "no Zstandard frame at byte 0"),  # version 0.5
        (good[:4], "truncated after 4 bytes"),
        (good[:-1], "truncated"),
        (good + b"junk", f"no Zstandard frame at byte {len(good)}"),
        (good + SKIPPABLE[:7], "truncated"),
        (frame(CONTENT + b"x"), f"declare {size + 1} bytes instead of {size}"),
        (frame(CONTENT) * 2, f"declare {size * 2} bytes instead of {size}"),
        (frame_of_unknown_size(CONTENT + b"x"), "(?i)destination"),
        (frame_of_unknown_size(CONTENT[1:]), "expected to decompress"),
    ]:
        with pytest.raises(ChunkDecodeError, match=message) as caught:
            ZstdCodec().decode_into(data, memoryview(bytearray(size)))
        assert caught.value.codec == "zstd"


def test_frames_that_an_older_numcodecs_cannot_decode_are_not_damaged(
    without_optional_libraries, monkeypatch
):
    monkeypatch.setattr(_numcodecs, "release", lambda: (0, 15, 1))  # which zarr-python 2 requires
    with pytest.raises(CodecError, match="Upgrade numcodecs"):
        ZstdCodec().decode(frame_of_unknown_size(CONTENT + b"x"), len(CONTENT))


def claiming(size):
    """Return a frame with one block of 4 bytes that declares this size."""
    return b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", size) + b"\x21\0\0abcd"


@pytest.mark.parametrize("promised", [0, 4, None])
def test_content_with_declared_size_zero_raises(library, promised):
    with pytest.raises(ChunkDecodeError, match="declare 0 bytes"):
        ZstdCodec().decode(claiming(0), promised)


@pytest.mark.parametrize("size", [1 << 40, (1 << 64) - 1])
@pytest.mark.parametrize("promised", [16, None, "the same"])
def test_declared_size_allocates_no_memory(library, at_most, size, promised):
    promised = size if promised == "the same" else promised
    with at_most(100_000), pytest.raises(ChunkDecodeError, match=r"declare|decode to at most"):
        ZstdCodec().decode(claiming(size), promised)


@pytest.mark.parametrize("make", [frame, frame_of_unknown_size])
def test_decompression_bomb_allocates_no_memory(library, at_most, make):
    bomb = make(bytes(1 << 26))
    with at_most(100_000), pytest.raises(ChunkDecodeError):
        ZstdCodec().decode(bomb, 16)


def test_wrong_header_of_valid_blocks_raises(library):
    # The content of the blocks is longer, or shorter, than the header declares.
    good = frame(CONTENT)
    assert good[4] >> 6 == 1  # a size of two bytes
    for size in (len(CONTENT) - 1, len(CONTENT) + 1):
        lying = good[:5] + struct.pack("<H", size - 256) + good[7:]
        with pytest.raises(ChunkDecodeError):
            ZstdCodec().decode_into(lying, memoryview(bytearray(size)))
