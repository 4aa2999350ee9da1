"""Strings, byte strings, arrays of variable length: bytes of numcodecs, and validated lengths."""

import struct
import time

import numcodecs
import numpy as np
import pytest
from plain_data_type import plain_representation
from zarr_codecs.vlen import VlenBytesCodec, VlenUtf8Codec
from zarr_codecs.vlen_array import VlenArrayCodec
from zarr_core.extension import ChunkDecodeError, CodecError

STRINGS = ["", "a", "äöü", "𝄞 \0 x", "long " * 50, "日本語"]
STRING = np.dtypes.StringDType()


def objects(items):
    array = np.empty(len(items), object)
    for number, item in enumerate(items):
        array[number] = item
    return array


ARRAYS = objects([np.array(part, "<i4") for part in ([1, 2], [], [3], [-1] * 9, [0], [])])
CASES = [
    (VlenUtf8Codec(), objects(STRINGS), numcodecs.VLenUTF8()),
    (VlenUtf8Codec(), np.array(STRINGS, STRING), numcodecs.VLenUTF8()),
    (VlenBytesCodec(), objects([text.encode() for text in STRINGS]), numcodecs.VLenBytes()),
    (VlenArrayCodec("<i4"), ARRAYS, numcodecs.VLenArray("<i4")),
]
cases = pytest.mark.parametrize(
    ("codec", "array", "theirs"), CASES, ids=["utf8", "StringDType", "bytes", "array"]
)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.ravel(), other.ravel(), strict=True))


@cases
@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 1, 2)])
def test_bytes_equal_those_of_numcodecs(codec, array, theirs, shape):
    array = array.reshape(shape)
    decoded = plain_representation(array)
    codec.check(decoded)
    frozen = array.view()
    frozen.flags.writeable = False  # as the engine gives it
    encoded = bytes(codec.encode(frozen, decoded))
    assert encoded == bytes(theirs.encode(array))
    for data in (encoded, bytearray(encoded), memoryview(encoded)):
        back = codec.decode(data, decoded)
        assert (back.shape, back.dtype) == (shape, array.dtype)
        assert same(back, array)
    assert bytes(codec.encode(np.asfortranarray(array), decoded)) == encoded
    locked = array.copy()
    locked.flags.writeable = False  # as a user may have it: nobody may write to this memory
    assert bytes(codec.encode(locked, decoded)) == encoded
    assert not any(one.flags.writeable for one in (frozen, locked))


@cases
def test_result_does_not_share_reused_memory(codec, array, theirs):
    decoded = plain_representation(array)
    memory = bytearray(codec.encode(array, decoded))
    back = codec.decode(memory, decoded)
    memory[:] = bytes(len(memory))
    assert same(back, array)
    if codec == VlenArrayCodec("<i4"):
        back[0][0] = 5  # and can be written to


@cases
def test_rejects_every_truncation_and_trailing_bytes(codec, array, theirs):
    decoded = plain_representation(array)
    encoded = bytes(codec.encode(array, decoded))
    for length in range(len(encoded)):
        with pytest.raises(ChunkDecodeError):
            codec.decode(encoded[:length], decoded)
    for tail in (b"\0", b"\0\0\0\0", encoded):
        with pytest.raises(ChunkDecodeError, match="bytes follow the last element"):
            codec.decode(encoded + tail, decoded)


@cases
@pytest.mark.parametrize("count", [0, 5, 7, 2**31 - 1, 2**31, 2**32 - 1])
def test_count_that_is_not_the_chunk_s(at_most, codec, array, theirs, count):
    decoded = plain_representation(array)
    encoded = struct.pack("<I", count) + bytes(codec.encode(array, decoded))[4:]
    with at_most(100_000), pytest.raises(ChunkDecodeError, match=f"declares {count} elements"):
        codec.decode(encoded, decoded)


@cases
def test_chunk_with_more_elements_than_bytes(at_most, codec, array, theirs):
    decoded = plain_representation(np.broadcast_to(array[:1], (2**31,)))
    with at_most(100_000), pytest.raises(ChunkDecodeError, match="too few for 2147483648 elements"):
        codec.decode(struct.pack("<II", 2**31, 0), decoded)


MANY = {
    "short": STRINGS[:4] * 3000,
    "long": ["ä" * 70_000, "", "b" * 200_000],
    "empty": [""] * 70_000,
}


@pytest.mark.parametrize("dtype", [object, STRING], ids=str)
@pytest.mark.parametrize("kind", MANY)
def test_strings_in_several_batches(kind, dtype):
    array = np.array(MANY[kind], dtype)
    decoded = plain_representation(array)
    encoded = bytes(VlenUtf8Codec().encode(array, decoded))
    assert encoded == bytes(numcodecs.VLenUTF8().encode(array))
    assert VlenUtf8Codec().decode(encoded, decoded).tolist() == MANY[kind]
    with pytest.raises(ChunkDecodeError, match="bytes follow the last element"):
        VlenUtf8Codec().decode(encoded + b"abcd", decoded)
    with pytest.raises(ChunkDecodeError):
        VlenUtf8Codec().decode(encoded[:-1], decoded)


def test_none_is_the_empty_string():
    for codec, empty in ((VlenUtf8Codec(), ""), (VlenBytesCodec(), b"")):
        array = objects([None, empty])
        decoded = plain_representation(array)
        assert codec.decode(codec.encode(array, decoded), decoded).tolist() == [empty, empty]
    array = objects([None, np.zeros(0, "<i4")])
    decoded = plain_representation(array)
    back = VlenArrayCodec("<i4").decode(VlenArrayCodec("<i4").encode(array, decoded), decoded)
    assert [part.size for part in back] == [0, 0]


def test_array_that_ends_within_an_element():
    decoded = plain_representation(objects([None]))
    with pytest.raises(ChunkDecodeError, match="element 0 has 3 bytes"):
        VlenArrayCodec("<i4").decode(struct.pack("<II", 1, 3) + b"abc", decoded)


def test_byte_order_of_arrays_is_kept():
    array = objects([np.array([1, 2]), np.array([3])])
    decoded = plain_representation(array)
    codec = VlenArrayCodec(">u2")
    encoded = codec.encode(array, decoded)
    assert bytes(encoded)[8:12] == b"\0\1\0\2"
    assert bytes(encoded) == bytes(numcodecs.VLenArray(">u2").encode(array))
    assert [part.dtype.str for part in codec.decode(encoded, decoded)] == [">u2", ">u2"]


def test_rejects_arrays_of_more_dimensions():
    array = objects([np.zeros((2, 2), "<i4")])
    with pytest.raises(CodecError, match="a one-dimensional array"):
        VlenArrayCodec("<i4").encode(array, plain_representation(array))


@pytest.mark.parametrize("dtype", ["|O", "i4,O", "nothing", "|S0"])
def test_rejects_dtype(dtype):
    with pytest.raises(ValueError, match="dtype"):
        VlenArrayCodec(dtype)


@pytest.mark.parametrize(
    ("codec", "dtype", "name"),
    [
        (VlenUtf8Codec(), "U5", "test"),
        (VlenUtf8Codec(), "i4", "test"),
        (VlenUtf8Codec(), "O", "bytes"),
        (VlenUtf8Codec(), "O", "variable_length_bytes"),
        (VlenBytesCodec(), "S5", "test"),
        (VlenBytesCodec(), STRING, "string"),
        (VlenArrayCodec("<i4"), "i4", "test"),
    ],
    ids=repr,
)
def test_rejects_elements(codec, dtype, name):
    with pytest.raises(ValueError, match="only .* are supported"):
        codec.check(plain_representation(np.zeros(2, dtype), name))


def test_a_million_short_strings_take_less_than_a_second():
    array = np.array([str(number) for number in range(1_000_000)], object)
    decoded = plain_representation(array)
    encoded = VlenUtf8Codec().encode(array, decoded)
    best = float("inf")
    for _ in range(5):  # processors that others use as well are slower
        begin = time.process_time()
        VlenUtf8Codec().decode(encoded, decoded)
        best = min(best, time.process_time() - begin)
        if best < 1:
            break
    assert best < 1
