"""Python objects as JSON, as MessagePack, pickled."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import msgpack
import numcodecs
import numpy as np
import pytest
import zarr_core
from plain_data_type import plain_representation
from zarr_codecs.json2 import Json2Codec
from zarr_codecs.msgpack2 import MsgPack2Codec
from zarr_codecs.pickle import PickleCodec
from zarr_core.errors import CodecChainError, UnknownExtensionError
from zarr_core.extension import (
    ChunkDecodeError,
    CodecError,
    ExtensionDefinition,
    Location,
    create_extension,
)

TESTS = Path(__file__).parents[1]
ITEMS = ["a", None, 1, 2.5, True, {"k": [1]}]
CODECS = [Json2Codec(), MsgPack2Codec(), PickleCodec()]
codecs = pytest.mark.parametrize("codec", CODECS, ids=lambda codec: type(codec).__name__)


def objects(items, shape):
    array = np.empty(len(items), object)
    for number, item in enumerate(items):
        array[number] = item
    return array.reshape(shape)


def theirs(codec):
    name = {Json2Codec: "json2", MsgPack2Codec: "msgpack2", PickleCodec: "pickle"}[type(codec)]
    return numcodecs.get_codec({"id": name} | codec.to_configuration())


@codecs
@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 6, 1)])
def test_objects(codec, shape):
    array = objects(ITEMS, shape)
    decoded = plain_representation(array)
    frozen = array.view()
    frozen.flags.writeable = False  # as the engine gives it
    encoded = bytes(codec.encode(frozen, decoded))
    assert encoded == bytes(theirs(codec).encode(array))
    for data in (encoded, memoryview(bytearray(encoded))):
        back = codec.decode(data, decoded)
        assert (back.shape, back.dtype) == (shape, array.dtype)
        assert back.ravel().tolist() == ITEMS


@codecs
@pytest.mark.parametrize("dtype", ["<i4", ">f8", "?", "<U4", "|S3"])
def test_elements_of_other_dtypes(codec, dtype):
    if dtype == "|S3" and isinstance(codec, Json2Codec):
        pytest.skip("JSON has no bytes")
    array = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    decoded = plain_representation(array)
    back = codec.decode(theirs(codec).encode(array), decoded)
    assert (back.shape, back.tolist()) == (array.shape, array.tolist())
    native = array.astype(decoded.data_type.numpy_dtype)
    assert codec.decode(codec.encode(native, decoded), decoded).tolist() == array.tolist()


ROWS = np.arange(2 * 3 * 70).reshape(2, 3, 70).astype("<i4")
ARRAYS = {
    "StringDType": np.array([["a", "ä"], ["", "x" * 40]], np.dtypes.StringDType()),
    "lists": objects([[1, 2], [3, 4], [5], []], (2, 2)),
    "long rows of numbers": ROWS,
    "long rows of objects": ROWS.astype(str).astype(object),
    "long rows of strings": ROWS.astype(str).astype("T"),
}


@codecs
@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_other_elements(codec, kind):
    array = ARRAYS[kind]
    decoded = plain_representation(array)
    encoded = bytes(codec.encode(array, decoded))
    plain = array.astype(object) if array.dtype.kind == "T" else array
    assert encoded == bytes(theirs(codec).encode(plain))
    back = codec.decode(encoded, decoded)
    assert (back.dtype, back.tolist()) == (array.dtype, array.tolist())


@codecs
def test_chunk_whose_dimensions_are_reversed_in_memory(codec):
    # zarr-python 2 gives its codecs a chunk of order "F" with the shape of the array;
    # here it comes transposed.
    array = np.asfortranarray(objects(ITEMS, (2, 3)))
    transposed = array.transpose()
    back = codec.decode(theirs(codec).encode(array), plain_representation(transposed))
    assert back.tolist() == transposed.tolist()


def test_json_without_dimensions():
    array = np.array({"a": 1}, object)
    decoded = plain_representation(array)
    encoded = Json2Codec().encode(array, decoded)
    assert bytes(encoded) == bytes(numcodecs.JSON().encode(array))
    assert Json2Codec().decode(encoded, decoded).item() == {"a": 1}


@pytest.mark.parametrize("codec", ["numcodecs.json2", "numcodecs.msgpack2"])
def test_structured_data_types_raise(codec):
    # They could be written, but not read.
    with pytest.raises(CodecChainError, match="structured data types"):
        zarr_core.create_array(shape=3, dtype=[("a", "i4"), ("b", "f4")], serializer=codec)


def test_messagepack_rejects_zero_dimensional_chunks():
    with pytest.raises(ValueError, match="zero-dimensional chunks"):
        MsgPack2Codec().check(plain_representation(np.array(None, object)))


@codecs
def test_every_truncation_raises(codec):
    array = objects(ITEMS, (2, 3))
    decoded = plain_representation(array)
    encoded = bytes(codec.encode(array, decoded))
    for length in range(len(encoded)):
        with pytest.raises(ChunkDecodeError):
            codec.decode(encoded[:length], decoded)


WRONG = [
    ([], "not a list that ends with a dtype and a shape"),
    ({}, "not a list that ends"),
    ([1, "|O", [1]], "shape"),
    ([1, 2, "|O", [3]], "shape"),
    ([1, 2, "|O", [2**40]], "shape"),
    ([1, "|O", [2]], "1 elements instead of 2"),
    ([1, 2, 3, "|O", [2]], "3 elements instead of 2"),
    ([1, 2, "<i4", [2]], "elements of dtype '<i4' instead of"),
    ([1, 2, None, [2]], "elements of dtype None"),
    ([1, 2, "O" * 100, [2]], "elements of dtype"),
    ([1, 2, "|O", None], "shape None"),
]


@pytest.mark.parametrize(("items", "message"), WRONG)
def test_lists_that_do_not_match_the_chunk(items, message):
    decoded = plain_representation(np.empty(2, object))
    with pytest.raises(ChunkDecodeError, match=message):
        Json2Codec().decode(json.dumps(items).encode(), decoded)
    with pytest.raises(ChunkDecodeError, match=message):
        MsgPack2Codec().decode(msgpack.packb(items), decoded)


def test_lists_of_another_depth():
    decoded = plain_representation(np.empty((2, 2), object))
    for elements in ([1, 2], [[1, 2], [3]], [[1, 2], 3], [[1, 2]]):
        with pytest.raises(ChunkDecodeError, match=r"do not have the shape|elements instead of"):
            Json2Codec().decode(json.dumps([*elements, "|O", [2, 2]]).encode(), decoded)


@pytest.mark.parametrize("elements", [["a", "b"], [1, None], [2**70, 1], [{}, 1], [[1], [2]]])
@pytest.mark.parametrize("shape", [(2,), (2, 1)])
def test_elements_that_are_not_integers(elements, shape):
    decoded = plain_representation(np.empty(shape, "i4"))
    elements = [[element] for element in elements] if len(shape) > 1 else elements
    text = json.dumps([*elements, np.dtype("i4").str, shape])
    with pytest.raises(ChunkDecodeError, match="elements are (lists, )?not int32"):
        Json2Codec().decode(text.encode(), decoded)


def test_equivalent_forms_of_a_shape():
    decoded = plain_representation(np.empty((1, 2), "i4"))
    assert Json2Codec().decode(b'[[1, 2], "<i4", [true, 2.0]]', decoded).tolist() == [[1, 2]]


def test_other_elements_instead_of_strings_raise():
    decoded = plain_representation(np.empty(2, np.dtypes.StringDType()))
    with pytest.raises(
        ChunkDecodeError, match=r"^[^:]*: elements are not StringDType\S+ [^:]*: exp"
    ):
        Json2Codec().decode(b'["a", 1, "|O", [2]]', decoded)


@pytest.mark.parametrize("text", [b"", b"[", b"\xff", b'["a", "|O", [1]] x', b"[" * 200_000])
def test_invalid_json_raises(text):
    with pytest.raises(ChunkDecodeError, match=r"not valid JSON|nested too deeply"):
        Json2Codec().decode(text, plain_representation(np.empty(1, object)))


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\x91" * 200_000]
)
def test_invalid_messagepack_raises(at_most, data):
    with at_most(30_000_000), pytest.raises(ChunkDecodeError, match="not valid MessagePack"):
        MsgPack2Codec().decode(data, plain_representation(np.empty(1, object)))


def test_options_of_json():
    array = objects([{"b": 1, "a": "ä"}], (1,))
    decoded = plain_representation(array)
    for options in (
        {"encoding": "utf-16"},
        {"ensure_ascii": False, "sort_keys": False},
        {"indent": 2},
        {"separators": [" , ", " : "]},
    ):
        codec = Json2Codec(**options)
        assert bytes(codec.encode(array, decoded)) == bytes(theirs(codec).encode(array))
        assert codec.decode(codec.encode(array, decoded), decoded).tolist() == array.tolist()
    with pytest.raises(ChunkDecodeError):
        Json2Codec().decode(b'["a\x01", "|O", [1]]', decoded)
    assert Json2Codec(strict=False).decode(b'["a\x01", "|O", [1]]', decoded)[0] == "a\x01"


def test_options_of_messagepack():
    array = objects(["a", b"b", 0.1], (3,))
    decoded = plain_representation(array)
    raw = MsgPack2Codec(raw=True)
    assert raw.decode(MsgPack2Codec().encode(array, decoded), decoded).tolist() == [b"a", b"b", 0.1]
    codec = MsgPack2Codec(use_single_float=True, use_bin_type=False)
    assert bytes(codec.encode(array, decoded)) == bytes(theirs(codec).encode(array))


# --- pickle ---


class Bang:
    def __reduce__(self):
        return (exec, ("raise SystemError('unpickled')",))


def test_pickle_has_no_name_of_its_own():
    with pytest.raises(UnknownExtensionError) as caught:
        create_extension(
            "codec", ExtensionDefinition("numcodecs.pickle", {"protocol": 5}), Location("a")
        )
    assert "can execute arbitrary code" in str(caught.value)
    assert "from zarr_codecs.pickle import PickleCodec" in str(caught.value)


@pytest.mark.parametrize(
    "content", [[1, 2], np.empty(3, object), np.zeros(2), np.array(5, object), Bang()]
)
def test_pickled_objects_that_do_not_match_the_chunk(content):
    with pytest.raises(ChunkDecodeError):
        PickleCodec().decode(pickle.dumps(content), plain_representation(np.empty(2, object)))


@pytest.mark.parametrize("protocol", [-1, 6, 2.0, None])
def test_pickle_rejects_protocol(protocol):
    with pytest.raises(ValueError, match="protocol must be an integer from 0 to 5"):
        PickleCodec(protocol)


@pytest.mark.parametrize(
    ("module", "program"),
    [
        ("msgpack", "from zarr_codecs.msgpack2 import MsgPack2Codec as C; a=np.array([1, 2])"),
        ("zfpy", "from zarr_codecs.zfpy import ZfpyCodec as C; a=np.array([1.0, 2.0])"),
        ("pcodec", "from zarr_codecs.pcodec import PcodecCodec as C; a=np.array([1.0, 2.0])"),
    ],
)
def test_missing_library_is_named_with_its_extra(module, program):
    program = f"""
import sys
sys.modules[{module!r}] = None
import numpy as np
from plain_data_type import plain_representation
{program}
r = plain_representation(a)
from zarr_core.extension import ChunkDecodeError, CodecError
for call in (lambda: C().encode(a, r), lambda: C().decode(bytes(16), r)):
    try:
        call()
    except CodecError as error:
        assert not isinstance(error, ChunkDecodeError)
        print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=TESTS, check=True
    )
    assert run.stdout.count(f"pip install 'zarr-codecs[{module}]'") == 2


def test_values_that_cannot_be_encoded():
    array = objects([object()], (1,))
    for codec in (Json2Codec(), MsgPack2Codec()):
        with pytest.raises((CodecError, TypeError)):
            codec.encode(array, plain_representation(array))
