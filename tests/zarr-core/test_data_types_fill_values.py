"""Fill values of the core data types: forms in metadata and as arguments."""

from __future__ import annotations

import base64
import json
import math
import struct

import numpy as np
import pytest
from core_data_types import COMPLEX, bits_of, data_type, from_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core import strictjson

# --- forms ---


@pytest.mark.parametrize(
    ("name", "form", "bits"),
    [
        ("float16", "NaN", 0x7E00),
        ("float32", "NaN", 0x7FC00000),
        ("float64", "NaN", 0x7FF8000000000000),
        ("float16", "Infinity", 0x7C00),
        ("float32", "-Infinity", 0xFF800000),
        ("float64", "-Infinity", 0xFFF0000000000000),
        ("float32", "0x7f800001", 0x7F800001),  # a signalling NaN
        ("float64", "0xfff0000000000001", 0xFFF0000000000001),
        ("float16", "0xfe00", 0xFE00),
        ("float64", 0.1, 0x3FB999999999999A),
        ("float32", 0.1, 0x3DCCCCCD),
        ("float16", 0.1, 0x2E66),
        ("float32", -0.0, 0x80000000),
        ("float32", 1.0, 0x3F800000),
        ("float64", 5e-324, 1),
    ],
)
def test_forms_of_floating_point_numbers_in_both_directions(name, form, bits):
    made = data_type(name)
    assert bits_of(made.fill_value_from_json(form)) == bits_of(from_bits(bits, name))
    assert strictjson.identical(made.fill_value_to_json(from_bits(bits, name)), form)


@pytest.mark.parametrize(
    ("name", "form", "bits"),
    [
        ("float32", "0x7FC00000", 0x7FC00000),
        ("float32", "0x3f800000", 0x3F800000),
        ("float64", 1, 0x3FF0000000000000),
        ("float32", 1e39, 0x7F800000),
        ("float64", 10**400, 0x7FF0000000000000),
        ("float64", -(10**400), 0xFFF0000000000000),
    ],
)
def test_forms_that_are_read_and_not_written(name, form, bits):
    assert bits_of(data_type(name).fill_value_from_json(form)) == bits_of(from_bits(bits, name))


@settings(max_examples=100)
@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_float32_is_written_as_short_as_it_is(number):
    text = json.dumps(data_type("float32").fill_value_to_json(np.float32(number).reshape(())))
    assert (
        len(text.replace("-", "").rstrip("0.").split("e")[0].strip("0.")) <= 10
    )  # 9 digits, a dot
    assert struct.pack("f", float(text)) == struct.pack("f", number)


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ([1, -0.5], 1 - 0.5j),
        (["NaN", 0.0], complex(math.nan, 0)),
        (["Infinity", "-Infinity"], complex(math.inf, -math.inf)),
    ],
)
@pytest.mark.parametrize("name", COMPLEX)
def test_forms_of_complex_numbers(name, form, value):
    made = data_type(name)
    read = made.fill_value_from_json(form)
    assert bits_of(read) == bits_of(np.array(value, name))
    assert made.fill_value_to_json(read) == form


def test_complex_parts_keep_their_bits():
    form = ["0x7f800001", -0.0]
    value = data_type("complex64").fill_value_from_json(form)
    assert value.tobytes() == np.array([0x7F800001, 0x80000000], "u4").tobytes()
    assert strictjson.identical(data_type("complex64").fill_value_to_json(value), form)


def test_raw_bytes_as_list_and_in_base64():
    made = data_type("r24")
    data = bytes([0, 128, 255])
    assert made.fill_value_from_json([0, 128, 255]).tobytes() == data
    assert made.fill_value_from_json(base64.b64encode(data).decode()).tobytes() == data
    assert made.fill_value_to_json(np.frombuffer(data, "V3").reshape(())) == [0, 128, 255]


def test_the_permitted_range_is_in_the_message():
    with pytest.raises(ValueError, match="300 is out of range for uint8"):
        data_type("uint8").fill_value_from_json(300)


# --- arguments ---


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("bool", True, True),
        ("bool", np.False_, False),
        ("bool", 1, True),
        ("bool", np.array(0.0), False),
        ("uint8", 255, 255),
        ("uint8", np.int64(7), 7),
        ("uint8", True, 1),
        ("int16", 3.0, 3),
        ("int16", np.float32(-3), -3),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("int64", np.uint64(5), 5),
        ("float32", 0.1, np.float32(0.1)),
        ("float32", np.float64(0.1), np.float32(0.1)),
        ("float16", 3, 3),
        ("float64", 2**53 + 1, 2.0**53),
        ("float64", np.int8(-1), -1),
        ("float64", True, 1),
        ("float64", "-Infinity", -np.inf),
        ("float32", math.inf, np.inf),
        ("float32", np.float64(-math.inf), -np.inf),
        ("complex64", 1 + 2j, 1 + 2j),
        ("complex64", np.complex128(1 + 2j), 1 + 2j),
        ("complex128", 3, 3),
        ("complex128", np.float32(0.5), 0.5),
        ("complex128", [1, "Infinity"], complex(1, math.inf)),
    ],
)
def test_values_that_users_give(name, value, expected):
    result = data_type(name).cast(value)
    assert bits_of(result) == bits_of(np.array(expected, name))
    assert result.dtype == np.dtype(name)
    assert result.shape == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bool", 2),
        ("bool", "True"),
        ("bool", None),
        ("bool", math.nan),
        ("uint8", 300),
        ("uint8", -1),
        ("uint8", 1.5),
        ("uint8", np.int16(256)),
        ("int32", math.nan),
        ("int32", math.inf),
        ("int32", "1"),
        ("int32", None),
        ("int32", 1j),
        ("int32", [1]),
        ("int32", np.datetime64("2020-01-01")),
        ("float32", 1e39),
        ("float32", np.float64(1e39)),
        ("float16", 70000),
        ("float64", 10**400),
        ("float64", "zero"),
        ("float64", None),
        ("float64", 1j),
        ("float64", np.complex64(1)),
        ("float64", np.array([1.0])),
        ("complex64", 1e39),
        ("complex64", np.complex128(1e39)),
        ("complex64", "1"),
        ("complex64", np.array([1j])),
        ("complex64", [1]),
        ("r16", b"abc"),
        ("r16", 1),
        ("r16", "ab"),
        ("r16", np.void(b"abc")),
        ("r16", np.int16(1)),
    ],
)
def test_values_that_do_not_fit_are_rejected(name, value):
    with pytest.raises(ValueError, match=rf"{name}|must be"):
        data_type(name).cast(value)


def test_arrays_of_several_values_are_rejected():
    for name in ("bool", "int32"):
        with pytest.raises(ValueError, match="requires"):
            data_type(name).cast(np.array([1, 2]))
        with pytest.raises(ValueError, match="requires"):
            data_type(name).cast(np.array([1]))


@pytest.mark.parametrize(
    ("name", "bits"),
    [("float32", 0x7F800001), ("float64", 0xFFF0000000000001), ("float16", 0xFC01)],
)
def test_bits_of_a_value_of_the_same_type_are_kept(name, bits):
    value = from_bits(bits, name)
    assert bits_of(data_type(name).cast(value)) == bits_of(value)
    swapped = value.byteswap().view(value.dtype.newbyteorder("S"))
    assert bits_of(data_type(name).cast(swapped)) == bits_of(value)


def test_bits_of_a_complex_value_are_kept():
    value = np.array([0x7F800001, 0x80000000], "u4").view("complex64").reshape(())
    assert bits_of(data_type("complex64").cast(value)) == bits_of(value)


@pytest.mark.parametrize(
    "value",
    [
        b"ab",
        bytearray(b"ab"),
        memoryview(b"ab"),
        np.void(b"ab"),
        np.array(b"ab", "V2"),
        np.bytes_(b"ab"),
    ],
)
def test_raw_bytes_that_users_give(value):
    assert data_type("r16").cast(value).tobytes() == b"ab"
    assert data_type("r16").cast(0).tobytes() == b"\0\0"


def test_arguments_are_copied():
    given = np.array(1.5)
    kept = data_type("float64").cast(given)
    given[()] = 2
    assert kept == 1.5
