"""Codecs of numcodecs one after the other, as version 2 ran them."""

import numcodecs
import numpy as np
import pytest
import zarr_core as zarr
from plain_data_type import plain_representation
from zarr_codecs.pickle import PickleCodec
from zarr_core import override_extensions
from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import (
    ChunkDecodeError,
    CodecError,
    ExtensionConfigurationError,
    ExtensionDefinition,
    create_extension,
)

NUMBERS = (np.arange(60).reshape(5, 4, 3) ** 2 % 251 - 20) * 3


def make(dtype, *codecs):
    configuration = {"dtype": dtype, "codecs": list(codecs)}
    return create_extension("codec", ExtensionDefinition("v2.filters", configuration))


def as_version_2(array, codecs):
    for config in codecs:
        array = numcodecs.get_codec(config).encode(array)
    return bytes(np.ascontiguousarray(array)) if isinstance(array, np.ndarray) else bytes(array)


CHAINS = [
    ("<i4", []),
    (">i4", []),
    ("<i4", [{"id": "zlib", "level": 1}]),
    (">i4", [{"id": "delta", "dtype": ">i4", "astype": ">i8"}, {"id": "blosc"}]),
    # Elements taken for others, and a filter after a compressor.
    (">i4", [{"id": "delta", "dtype": "<i4", "astype": "<i4"}, {"id": "zstd", "level": 1}]),
    ("<i4", [{"id": "delta", "dtype": "<u4", "astype": "<u4"}]),
    ("<i4", [{"id": "lz4"}, {"id": "base64"}, {"id": "shuffle", "elementsize": 1}, {"id": "bz2"}]),
    ("<i4", [{"id": "zlib"}, {"id": "delta", "dtype": "|u1", "astype": "|u1"}, {"id": "crc32"}]),
    ("<f8", [{"id": "bitround", "keepbits": 52}, {"id": "fletcher32"}, {"id": "lzma"}]),
    ("<f8", [{"id": "zfpy", "mode": 4}, {"id": "base64"}]),
    ("<f8", [{"id": "pcodec"}, {"id": "base64"}]),
    (">f4", [{"id": "json2"}, {"id": "base64"}]),
    ("|b1", [{"id": "packbits"}, {"id": "gzip", "level": 1}]),
    ("<M8[ns]", [{"id": "delta", "dtype": "<i8", "astype": "<i8"}, {"id": "base64"}]),
    ("<U5", [{"id": "zlib"}]),
]


@pytest.mark.parametrize(("dtype", "codecs"), CHAINS, ids=str)
def test_as_version_2(dtype, codecs):
    stored = NUMBERS.astype(dtype)
    native = stored.astype(stored.dtype.newbyteorder("="))
    native.flags.writeable = False
    decoded = plain_representation(native)
    codec = make(dtype, *codecs)
    codec.check(decoded)
    encoded = as_version_2(stored, codecs)
    if codecs[-1:] != [{"id": "gzip", "level": 1}]:  # which writes the time of day
        assert bytes(codec.encode(native, decoded)) == encoded
    for data in (encoded, memoryview(bytearray(encoded)), codec.encode(native, decoded)):
        back = codec.decode(data, decoded)
        assert back.shape == native.shape
        assert (back == native).all()


STRUCTURE = [["a", "<i4"], ["b", [["c", ">f4"], ["d", "|S3"]]], ["e", "<i2", [2, 2]]]


def test_structures():
    codec = make(STRUCTURE, {"id": "base64"}, {"id": "zlib", "level": 5})
    inner = [("c", ">f4"), ("d", "S3")]
    stored = np.zeros(4, [("a", "<i4"), ("b", inner), ("e", "<i2", (2, 2))])
    stored["a"] = [1, 2, 3, 4]
    stored["b"]["c"] = 0.5
    stored["b"]["d"] = b"xyz"
    stored["e"][:, 1] = 7
    decoded = plain_representation(stored.astype(stored.dtype.newbyteorder("=")))
    encoded = as_version_2(stored, codec.codecs)
    back = codec.decode(encoded, decoded)
    assert (back == stored).all()
    assert back.dtype == decoded.data_type.numpy_dtype
    assert bytes(codec.encode(back, decoded)) == encoded
    assert codec.to_configuration() == {"dtype": STRUCTURE, "codecs": list(codec.codecs)}


OBJECTS = np.array([["a", "bc"], ["", "äö"], ["x" * 9, "z"]], object)


@pytest.mark.parametrize("name", ["vlen-utf8", "json2", "msgpack2", "categorize"])
@pytest.mark.parametrize("more", [[], [{"id": "base64"}]], ids=len)
@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType()], ids=str)
def test_objects(name, more, dtype):
    config = {"id": name}
    if name == "categorize":
        config |= {"labels": sorted(set(OBJECTS.flat)), "dtype": "|O", "astype": "|u1"}
    array = OBJECTS.astype(dtype)
    decoded = plain_representation(array)
    codec = make("|O", config, *more)
    codec.check(decoded)
    frozen = array.view()
    frozen.flags.writeable = False  # as the engine gives it
    encoded = bytes(codec.encode(frozen, decoded))
    assert encoded == as_version_2(OBJECTS, [config, *more])
    back = codec.decode(encoded, decoded)
    assert (back.dtype, back.tolist()) == (array.dtype, array.tolist())


def test_objects_of_a_chunk_whose_dimensions_are_reversed_in_memory():
    codec = make("|O", {"id": "vlen-utf8"}, {"id": "base64"})
    transposed = OBJECTS.transpose()
    encoded = as_version_2(np.asfortranarray(OBJECTS), codec.codecs)
    back = codec.decode(encoded, plain_representation(transposed))
    assert back.tolist() == transposed.tolist()


def test_byte_strings_and_arrays():
    strings = np.array([b"a", b"", b"xyz"], object)
    arrays = np.empty(2, object)
    arrays[:] = [np.array([1, 2], "<i4"), np.array([], "<i4")]
    for array, config in (
        (strings, {"id": "vlen-bytes"}),
        (arrays, {"id": "vlen-array", "dtype": "<i4"}),
    ):
        codec = make("|O", config, {"id": "base64"})
        decoded = plain_representation(array)
        frozen = array.view()
        frozen.flags.writeable = False
        encoded = bytes(codec.encode(frozen, decoded))
        assert encoded == as_version_2(array, codec.codecs)
        assert list(map(bytes, codec.decode(encoded, decoded))) == list(map(bytes, array))


class Reverse(numcodecs.abc.Codec):
    codec_id = "test.reverse"

    def encode(self, buf):
        return bytes(buf)[::-1]

    def decode(self, buf, out=None):
        return bytes(buf)[::-1]


class Broken(Reverse):
    codec_id = "test.broken"

    def encode(self, buf):
        raise OSError("no")

    def decode(self, buf, out=None):
        return ["nothing"]


@pytest.fixture
def foreign():
    for codec in (Reverse, Broken):
        numcodecs.register_codec(codec)
    yield
    for codec in (Reverse, Broken):
        del numcodecs.registry.codec_registry[codec.codec_id]


def test_codec_of_another_distribution(foreign):
    codec = make("<i4", {"id": "test.reverse"}, {"id": "zlib"})
    array = np.arange(5, dtype="i4")
    decoded = plain_representation(array)
    encoded = codec.encode(array, decoded)
    assert (codec.decode(encoded, decoded) == array).all()
    assert bytes(encoded) == as_version_2(array, codec.codecs)


def test_codec_of_another_distribution_that_fails(foreign):
    codec = make("<i4", {"id": "test.broken"})
    decoded = plain_representation(np.arange(5, dtype="i4"))
    with pytest.raises(CodecError, match=r"'test.broken' cannot encode a chunk: OSError: no"):
        codec.encode(np.arange(5, dtype="i4"), decoded)
    with pytest.raises(CodecError, match="returned list instead of bytes"):
        codec.decode(b"", decoded)


def test_unknown_codec_error_contains_its_pointer():
    with pytest.raises(UnknownExtensionError) as caught:
        make("<i4", {"id": "zlib"}, {"id": "acme.codec", "level": 1})
    assert caught.value.extension_name == "acme.codec"
    assert "/configuration/codecs/1" in str(caught.value)
    assert "entry-point group numcodecs.codecs" in str(caught.value)


def test_unknown_codec_error_contains_the_node():
    array = zarr.create_array(path="a/b", shape=3, compressors="gzip", zarr_format=2)
    document = bytes(array.store.get("a/b/.zarray")).replace(b'"gzip"', b'"acme.codec"')
    array.store.set("a/b/.zarray", document)
    with pytest.raises(UnknownExtensionError, match=r"memory://\w+ '/a/b' at /codecs/"):
        zarr.open(array.store, path="a/b")


def test_pickle_if_allowed():
    with override_extensions({"codec": {"numcodecs.pickle": PickleCodec}}):
        codec = make("|O", {"id": "pickle", "protocol": 5}, {"id": "base64"})
    decoded = plain_representation(OBJECTS)
    encoded = codec.encode(OBJECTS, decoded)
    assert bytes(encoded) == as_version_2(OBJECTS, codec.codecs)
    assert codec.decode(encoded, decoded).tolist() == OBJECTS.tolist()


@pytest.mark.parametrize(
    ("dtype", "codecs"), [case for case in CHAINS if case[1] and case[0] != "<U5"], ids=str
)
def test_every_truncation_raises_or_decodes_to_a_chunk(dtype, codecs):
    array = NUMBERS.astype(dtype)
    decoded = plain_representation(array)
    codec = make(dtype, *codecs)
    encoded = as_version_2(array, codecs)
    for length in range(len(encoded)):
        try:
            back = codec.decode(encoded[:length], decoded)
        except ChunkDecodeError:
            continue
        # numcodecs' base64 leaves out what is cut; the result must still be a whole chunk.
        assert back.tobytes() == array.astype(back.dtype).tobytes()


def test_sizes_are_checked():
    codec = make("<i4", {"id": "base64"})
    decoded = plain_representation(np.zeros(3, "i4"))
    for size in (0, 8, 11, 16):
        encoded = numcodecs.Base64().encode(bytes(size))
        with pytest.raises(ChunkDecodeError, match=f"decodes to {size} bytes instead of 12"):
            codec.decode(encoded, decoded)


def test_count_of_strings_is_checked_before_memory_is_taken(at_most):
    codec = make("|O", {"id": "vlen-utf8"}, {"id": "base64"})
    bomb = numcodecs.Base64().encode(b"\xff\xff\xff\x7f" + bytes(8))
    with at_most(100_000), pytest.raises(ChunkDecodeError, match="declares 2147483647 elements"):
        codec.decode(bomb, plain_representation(np.empty(2, object)))


@pytest.mark.parametrize(
    ("dtype", "codecs"),
    [
        ("nothing", []),
        ("i4,zz", []),
        ([["a"]], []),
        ([["a", 5]], []),
        ([["a", "|O"]], []),
        ({"a": "i4"}, []),
        ("<i4", [{"level": 1}]),
        ("<i4", [{"id": ""}]),
        ("<i4", [{"id": "zlib", "level": 99}]),
        ("<i4", [{"id": "base64", "level": 99}]),
    ],
    ids=str,
)
def test_invalid_configuration(dtype, codecs):
    with pytest.raises(ExtensionConfigurationError):
        make(dtype, *codecs)


@pytest.mark.parametrize(
    ("dtype", "codecs", "found"),
    [
        ("<i4", [], "i8"),
        ("<i4", [], "O"),
        ("|O", [{"id": "vlen-utf8"}], "i4"),
        ("|O", [], "O"),
        ("|V8", [], np.dtypes.StringDType()),
    ],
    ids=str,
)
def test_unsupported_elements(dtype, codecs, found):
    with pytest.raises(ValueError, match=r"does not match the elements|requires an object codec"):
        make(dtype, *codecs).check(plain_representation(np.zeros(2, found)))


@pytest.mark.parametrize("codec", ["gzip", "blosc", "zstd", "lz4", "zlib"])
def test_records_with_dates(codec):
    """NumPy does not export a buffer of such records."""
    described = [["big", ">u2"], ["when", "<M8[ms]"]]
    values = np.zeros(6, [("big", ">u2"), ("when", "<M8[ms]")])
    values["big"], values["when"] = range(6), range(6)
    filters = make(described, {"id": codec})
    representation = plain_representation(values)
    data = filters.encode(values, representation)
    assert np.array_equal(filters.decode(data, representation), values)
