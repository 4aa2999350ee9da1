"""Strings and byte strings of any length, up to a length, and of one length."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    ChunkDecodeError,
    CodecError,
    ExtensionConfigurationError,
    MetadataValidationError,
)
from zarr_core.extension import data_type_for
from zarr_dtypes.fixed_length_utf32 import FixedLengthUTF32
from zarr_dtypes.null_terminated_bytes import NullTerminatedBytes
from zarr_dtypes.raw_bytes import RawBytes
from zarr_dtypes.string import String
from zarr_dtypes.variable_bytes import VariableBytes

STRINGS = np.dtypes.StringDType()
RAW = {"name": "raw_bytes", "configuration": {"length_bytes": 3}}


@pytest.mark.parametrize(
    ("dtype", "name", "codec", "numpy_dtype"),
    [
        *((dtype, "string", "vlen-utf8", STRINGS) for dtype in (str, "str", "string", np.str_)),
        *((dtype, "string", "vlen-utf8", STRINGS) for dtype in (STRINGS, "U", np.dtype("U"))),
        *((dtype, "bytes", "vlen-bytes", object) for dtype in (bytes, "bytes", np.bytes_, "S")),
        ("variable_length_bytes", "bytes", "vlen-bytes", object),
    ],
)
def test_dtypes_of_variable_length(dtype, name, codec, numpy_dtype):
    array = zarr.create_array(shape=(2, 2), dtype=dtype)
    assert array.metadata.data_type.to_json() == name
    assert array.metadata.fill_value == ""
    assert [item.name for item in array.metadata.codecs] == [codec, "zstd"]
    assert array.dtype == numpy_dtype
    row = ["a", "ä𝄞" * 50] if name == "string" else [b"\xff\0", b"b" * 500]
    array[0] = row
    assert array[...].tolist() == [row, ["", ""] if name == "string" else [b"", b""]]
    assert type(array[0, 0]) is type(row[0])


def test_elements_of_fixed_length_are_stored_as_they_are():
    array = zarr.create_array(data=np.array(["Hi"], ">U3"), compressors=None)
    assert array.store.get("c/0") == b"\0\0\0H\0\0\0i\0\0\0\0"
    assert array.metadata.codecs[0].configuration == {"endian": "big"}
    values = np.frombuffer(bytes(range(30)), "V3")
    array = zarr.create_array(shape=10, dtype=RAW, chunks=4, fill_value=b"\0\1\2")
    assert array.metadata.data_type.name == "raw_bytes"
    assert array.metadata.codecs[0].configuration == {}
    array[1:] = values[1:]
    assert array[...].tobytes() == values.tobytes()
    assert zarr.create_array(shape=1, dtype="V3").metadata.data_type.name == "r24"


@pytest.mark.parametrize(
    ("data_type", "forms", "element", "written"),
    [
        (VariableBytes(), ["AQID", [1, 2, 3]], b"\1\2\3", "AQID"),
        (
            NullTerminatedBytes(4),
            ["AQID", [1, 2, 3], "AQIDAA==", "AQIDAAAA", [1, 2, 3, 0, 0, 0]],
            b"\1\2\3",
            "AQID",
        ),
        (NullTerminatedBytes(4), [[0, 1]], b"\0\1", "AAE="),
        (RawBytes(3), ["AAEC", [0, 1, 2]], b"\0\1\2", "AAEC"),
    ],
)
def test_fill_values_in_json(data_type, forms, element, written):
    for form in forms:
        value = data_type.fill_value_from_json(form)
        assert bytes(value[()]) == element
        assert data_type.fill_value_to_json(value) == written


@pytest.mark.parametrize(
    ("data_type", "values", "message"),
    [
        (String(), ["\ud800"], "surrogates"),
        (FixedLengthUTF32(3), ["abc\0", b"abc"], "fixed_length_utf32"),
        (
            NullTerminatedBytes(4),
            ["AQIDBAU=", "not base64", "AQI", [256], [1.0], [True], 5, None, {}, "ä"],
            "null_terminated_bytes",
        ),
        (
            RawBytes(3),
            ["AAE=", "AAECAw==", "", [0, 1], [0, 1, 256], 0, None, "a b"],
            "raw_bytes",
        ),
    ],
)
def test_invalid_fill_value(data_type, values, message):
    for value in values:
        with pytest.raises(ValueError, match=message):
            data_type.fill_value_from_json(value)


BYTES = [b"ab", np.bytes_(b"ab"), bytearray(b"ab"), np.array(b"ab")]


@pytest.mark.parametrize(
    ("dtype", "values", "element", "zero", "invalid"),
    [
        (
            str, ["ab", np.str_("ab"), np.array("ab"), np.array("ab", STRINGS)], "ab", "",
            [b"ab", 1, 0.0, True, "\ud800", ["a"]],
        ),
        (bytes, [*BYTES, memoryview(b"ab")], b"ab", b"", ["ab", 1, 0.0, True, [b"a"]]),
        (
            "U3", ["ab", np.str_("ab"), np.array("ab"), "ab\0\0\0"], "ab", "",
            ["abcd", 1, b"abc", "\ud800", 0.0, True],
        ),
        ("S3", [*BYTES, "ab"], b"ab", b"", [b"abcd", "ä", 1, 1.5, True, ["a"]]),
        (
            RAW, [b"abc", bytearray(b"abc"), np.void(b"abc"), np.bytes_(b"abc")], b"abc",
            b"\0\0\0", [b"ab", b"abcd", "abc", 1, True, np.zeros(3, "u1")],
        ),
    ],
)  # fmt: skip
def test_arguments(dtype, values, element, zero, invalid):
    for value in values:
        array = zarr.create_array(shape=1, dtype=dtype, fill_value=value)
        assert type(element)(array[0]) == element
    assert [type(zero)(item) for item in zarr.zeros(2, dtype=dtype)[...]] == [zero, zero]
    for value in invalid:
        with pytest.raises(MetadataValidationError, match="/fill_value"):
            zarr.create_array(shape=1, dtype=dtype, fill_value=value)


# --- strings of any length ---


def test_strings_that_may_be_missing_are_rejected():
    with pytest.raises(ExtensionConfigurationError, match="missing value"):
        data_type_for(np.dtypes.StringDType(na_object=None))
    assert data_type_for(np.dtypes.StringDType(coerce=False)) == String()


def test_arrays_of_objects_are_cast():
    array = zarr.create_array(shape=2, dtype=str)
    array[...] = np.array(["a", "b" * 20], object)
    assert array[...].tolist() == ["a", "b" * 20]


def test_names_of_python_objects_must_be_said():
    with pytest.raises(zarr.errors.ZarrError):
        zarr.create_array(data=np.array(["a", 1], object))


@pytest.mark.parametrize(
    "missing",
    [
        ["a", None],
        ["a", float("nan")],
        np.array(["a", None], object),
        np.array(["a", np.datetime64("NaT", "s")], object),
        np.array(["a", None], np.dtypes.StringDType(na_object=None)),
        np.array(["a", np.nan], np.dtypes.StringDType(na_object=np.nan)),
    ],
)
def test_missing_values_are_not_text(missing):
    array = zarr.create_array(shape=2, dtype="string")
    with pytest.raises(ValueError, match="cannot be stored.*replace missing values"):
        array[...] = missing
    assert array[...].tolist() == ["", ""]
    array[...] = np.array(["a", "b"], np.dtypes.StringDType(na_object=None))
    assert array[...].tolist() == ["a", "b"]


@pytest.mark.parametrize("fill", ["", "\0", "a", "a\0", "a\0\0", "\0a"])
def test_null_characters_are_reported_apart(fill):
    # NumPy compares no further than to the first, and leaves them out at the end of a str.
    texts = ["", "\0", "\0\0", "a", "a\0", "a\0\0", "\0a", "\0a\0"]
    array = zarr.create_array(shape=len(texts), dtype="string", chunks=1, fill_value=fill)
    array[...] = np.array(texts, np.dtypes.StringDType())
    assert zarr.open_array(array.store)[...].tolist() == texts
    assert array.nchunks_initialized == len(texts) - texts.count(fill)


# --- byte strings of any length ---


def test_writing_non_bytes_raises():
    array = zarr.create_array(shape=2, dtype=bytes)
    with pytest.raises(CodecError, match="vlen-bytes"):
        array[0] = "text"
    array[...] = np.array([b"a", b"bc"], "S2")
    assert array[...].tolist() == [b"a", b"bc"]


def test_the_name_of_a_document_stays():
    array = zarr.create_array(shape=1, dtype=bytes)
    document = array.store.get("zarr.json")
    array.store.set("zarr.json", document.replace(b'"bytes"', b'"variable_length_bytes"'))
    array = zarr.open(array.store)
    array.attrs["a"] = 1
    assert b'"variable_length_bytes"' in array.store.get("zarr.json")


# --- strings of a fixed length ---


def test_invalid_code_points():
    array = zarr.create_array(shape=2, dtype="<U1", compressors=None, chunks=1)
    array.store.set("c/0", b"\xff\xff\xff\xff")
    array.store.set("c/1", b"\xff\xff\xff")
    with pytest.raises(ChunkDecodeError, match="3 bytes"):
        array[1]
    # NumPy takes the bytes, and refuses only to make a string of them.
    assert array[:1].tobytes() == b"\xff\xff\xff\xff"


def test_large_elements_take_no_memory_before_they_are_touched():
    data_type = FixedLengthUTF32((2**31 - 4) // 4)
    assert data_type.fill_value_from_json("").dtype.itemsize == 2**31 - 4
    with pytest.raises(ValueError, match="1 to 2147483647"):
        FixedLengthUTF32(2**29)
