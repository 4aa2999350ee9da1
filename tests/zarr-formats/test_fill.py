"""Conversion of fill values of versions 1 and 2 from and to version 3."""

import base64
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.extension import MetadataValidationError, create_extension
from zarr_formats.fill import fill_from_v2, fill_to_v2
from zarr_formats.typestr import read_dtype

RECORD = [["a", ">i2"], ["b", "<f4", [2]], ["c", "|S3"]]


def base64_of(data):
    return base64.b64encode(data).decode()


READ = [
    # dtype, version 2, version 3
    ("|b1", True, True),
    ("|b1", 0, False),
    ("|b1", 1, True),
    ("<i4", -5, -5),
    ("<i4", 5.0, 5),
    ("<u8", 2**64 - 1, 2**64 - 1),
    ("<f8", 1.5, 1.5),
    ("<f8", 3, 3),
    ("<f8", "NaN", "NaN"),
    ("<f8", "Infinity", "Infinity"),
    ("<f8", "-Infinity", "-Infinity"),
    ("<f8", math.nan, "NaN"),
    ("<f8", math.inf, "Infinity"),
    ("<f8", -math.inf, "-Infinity"),
    ("<c16", [1, "NaN"], [1, "NaN"]),
    ("<c16", 2.0, [2.0, 0.0]),
    ("<M8[ns]", 7, 7),
    ("<M8[ns]", -(2**63), -(2**63)),
    ("<M8[ns]", "NaT", "NaT"),
    ("<m8[s]", 0.0, 0),
    ("<U4", "ab", "ab"),
    ("<U4", 0, ""),
    ("|V3", base64_of(b"abc"), [97, 98, 99]),
    ("|V100", base64_of(bytes(100)), base64_of(bytes(100))),
    ("|V3", 0, [0, 0, 0]),
]


@pytest.mark.parametrize(("text", "value", "expected"), READ)
def test_values_are_read(text, value, expected):
    found, undefined = fill_from_v2(value, read_dtype(text))
    assert (found, undefined) == (expected, False)
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text", ["|b1", "<i4", "<f8", "<c16", "<U4", "|S4", "|V3", "|V500", "<M8[ns]", "<m8[s]", "|O"]
)
def test_null_is_undefined_and_reads_as_the_default(text):
    dtype = read_dtype(text)
    found, undefined = fill_from_v2(None, dtype)
    assert undefined
    data_type = create_extension("data_type", dtype.data_type)
    value = data_type.fill_value_from_json(found)
    assert value.tobytes() == data_type.default_fill_value().tobytes()
    assert fill_to_v2(found, dtype, undefined=True) is None


def test_bytes_are_base64_and_may_be_short():
    dtype = read_dtype("|S4")
    data_type = create_extension("data_type", dtype.data_type)
    for data in (b"", b"ab", b"abcd"):
        found, _ = fill_from_v2(base64_of(data), dtype)
        assert data_type.fill_value_from_json(found)[()] == data
        assert fill_to_v2(found, dtype) == base64_of(data)
    assert fill_from_v2(0, dtype)[0] == fill_from_v2("", dtype)[0]


@pytest.mark.parametrize("order", ["<", ">"])
def test_records_are_base64_of_their_bytes_in_their_byte_order(order):
    dtype = read_dtype([["a", f"{order}i2"], ["b", f"{order}f4", [2]], ["c", "|S3"]])
    value = np.array((7, [1.5, -0.0], b"xy"), dtype.numpy_dtype())
    found, _ = fill_from_v2(base64_of(value.tobytes()), dtype)
    assert found["a"] == 7
    assert found["b"] == [1.5, 0.0]
    data_type = create_extension("data_type", dtype.data_type)
    assert data_type.fill_value_from_json(found)["a"] == 7
    assert fill_to_v2(found, dtype) == base64_of(value.tobytes())


def test_objects():
    text, data = (read_dtype("|O", object_codec=name) for name in ("vlen-utf8", "vlen-bytes"))
    assert fill_from_v2("ab", text) == ("ab", False)
    # The default of zarr-python.
    assert fill_from_v2(0, text) == ("", False)
    assert fill_from_v2(0, data) == ("", False)
    assert fill_from_v2(base64_of(b"ab"), data) == (base64_of(b"ab"), False)
    assert fill_to_v2([97, 98], data) == base64_of(b"ab")
    anything = read_dtype("|O")
    for value in (0, "", [1], {"a": 1}):
        assert fill_from_v2(value, anything) == (value, False)


REFUSED = [
    ("|b1", ["NaN", 2, []]),
    ("<i4", [1.5, "x", True, "NaN", math.nan]),
    ("<f8", [[], "x", "nan", "0x7fc00000", True]),
    ("<c16", [[1], [1, "x"], {}]),
    ("<M8[ns]", ["2020-01-01"]),
    ("<U4", [5]),
    ("|S4", ["not base64!", "\u0391\u0391\u0391\u0391", base64_of(b"abcde"), 5]),
    ("|V3", [base64_of(b"ab"), "YWJ"]),
    (RECORD, [base64_of(b"abc"), {"a": 1}]),
]


@pytest.mark.parametrize(
    ("text", "value"), [(text, value) for text, values in REFUSED for value in values]
)
def test_invalid_value_error_has_pointer(text, value):
    with pytest.raises(MetadataValidationError) as caught:
        fill_from_v2(value, read_dtype(text), "/here")
    assert [problem.pointer for problem in caught.value.problems] == ["/here"]


WRITTEN = [
    ("<f4", "0x3fc00000", 1.5),
    ("<f4", "0x7fc00000", "NaN"),
    ("<f4", "0xff800000", "-Infinity"),
    ("<f2", "0x3e00", 1.5),
    ("<c8", ["0x3fc00000", "NaN"], [1.5, "NaN"]),
    ("<M8[ns]", "NaT", -(2**63)),
]


@pytest.mark.parametrize(("text", "value", "expected"), WRITTEN)
def test_forms_of_version_3_are_written_in_words_of_version_2(text, value, expected):
    assert fill_to_v2(value, read_dtype(text)) == expected


@pytest.mark.parametrize("value", ["0x7fc00001", "0xffc00000", "0x7f800001", "0x12", "abc", "0xzz"])
def test_other_nans_cannot_be_said(value):
    # "NaN" would be read as other bits.
    with pytest.raises(MetadataValidationError) as caught:
        fill_to_v2(value, read_dtype("<f4"))
    assert caught.value.problems[0].pointer == "/fill_value"


def test_complex_numbers_are_pairs():
    with pytest.raises(MetadataValidationError, match="pair"):
        fill_to_v2(1.5, read_dtype("<c8"))


@settings(max_examples=60)
@given(st.data())
def test_any_bits_round_trip(data):
    dtype = read_dtype(
        data.draw(
            st.sampled_from(["<i2", ">u4", "<f4", ">f8", "<c8", "|S5", "|V7", "<M8[us]", RECORD])
        )
    )
    raw = data.draw(st.binary(min_size=dtype.item_size, max_size=dtype.item_size))
    data_type = create_extension("data_type", dtype.data_type)
    value = np.frombuffer(raw, dtype.numpy_dtype()).reshape(()).astype(data_type.numpy_dtype)
    form = data_type.fill_value_to_json(value)
    try:
        written = fill_to_v2(form, dtype)
    except MetadataValidationError:
        assert np.isnan(value)
        return
    again = data_type.fill_value_from_json(fill_from_v2(written, dtype)[0])
    assert again.tobytes() == value.tobytes()
