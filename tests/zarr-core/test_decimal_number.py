"""Decimal numbers in metadata: rounded once to narrower types, written as read."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import zarr_core as zarr
from core_data_types import data_type
from hypothesis import example, given
from hypothesis import strategies as st
from zarr_core import strictjson

ABOVE, EXACT, BELOW = 1, 0, -1
HALF_OF_FLOAT32 = "1.00000017881393432617187499"


def text_near(number: float, side: int, digits: int) -> str:
    """A number slightly above or below a float64, or equal to it, with all digits."""
    with localcontext(prec=1200):
        exact = Decimal(number)
        return str(exact + side * abs(exact) * Decimal(10) ** -digits)


def nearest(text: str, name: str) -> int:
    """The bits of the value nearest to a text, by comparing fractions."""
    dtype = data_type(name).numpy_dtype
    unsigned = f"u{dtype.itemsize}"
    exact = Fraction(text)
    sign = 1 << (8 * dtype.itemsize - 1) if exact < 0 or text.startswith("-") else 0
    largest = int(np.asarray(np.finfo(dtype).max).view(unsigned))
    beyond = 2 ** Fraction(np.finfo(dtype).maxexp)

    def value(bits):
        if bits > largest:
            return beyond
        return Fraction(float(np.asarray(bits, unsigned).view(dtype)))

    low, high = 0, largest + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle) <= abs(exact) else (low, middle)
    return sign | min(
        (low, high), key=lambda bits: (abs(value(bits) - abs(exact)), bits & 1, bits > largest)
    )


def bits_of_text(text: str, name: str) -> int:
    value = data_type(name).fill_value_from_json(strictjson.loads(text))
    return int(value.view(f"u{value.itemsize}"))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("2049", "float16", 2048),
        ("2049.0", "float16", 2048),
        ("2049.0000000000000000001", "float16", 2050),
        ("2048.9999999999999999999", "float16", 2048),
        ("2051.0", "float16", 2052),
        ("2050.9999999999999999999", "float16", 2050),
        ("-2049.0000000000000000001", "float16", -2050),
        ("2.0490000000000000000001e3", "float16", 2050),
        ("65519.9999999999999999999", "float16", 65504),
        ("65520.0", "float16", np.inf),
        (HALF_OF_FLOAT32, "float32", 1.00000011920928955078125),
        ("1.0000000596046448", "float32", 1.00000011920928955078125),  # repr of a tie
        ("3.40282356779733661637539395458142568447e38", "float32", 3.4028234663852886e38),
        ("3.40282356779733661637539395458142568449e38", "float32", np.inf),
        # Half of the smallest number, slightly more, and both with the other sign.
        ("2.98023223876953125e-8", "float16", 0),
        ("2.980232238769531250000001e-8", "float16", 2.0**-24),
        ("-2.98023223876953125e-8", "float16", -0.0),
        (
            "7.00649232162408535461864791644958065640130970938257885878534141944895e-46",
            "float32",
            0,
        ),
        (
            "7.0064923216240853546186479164495806564013097093825788587853414194489554176e-46",
            "float32",
            2.0**-149,
        ),
    ],
)
def test_a_text_is_rounded_once(text, name, value):
    dtype = data_type(name).numpy_dtype
    expected = np.asarray(value, dtype)
    assert bits_of_text(text, name) == int(expected.view(f"u{dtype.itemsize}"))
    assert bits_of_text(text, name) == nearest(text, name)


@given(
    st.sampled_from(["float16", "float32"]),
    st.integers(0, 0x7F7FFFFF),
    st.sampled_from([ABOVE, EXACT, BELOW]),
    st.integers(17, 60),
    st.booleans(),
)
def test_texts_next_to_half_ways_are_rounded_once(name, bits, side, digits, negative):
    dtype = data_type(name).numpy_dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")
    largest = int(np.asarray(np.finfo(dtype).max).view(unsigned))
    bits %= largest
    ends = np.asarray([bits, bits + 1], unsigned).view(dtype).astype(np.float64)
    text = text_near(float(ends.sum() / 2), side, digits)
    text = f"-{text}" if negative else text
    assert bits_of_text(text, name) == nearest(text, name)


@given(
    st.sampled_from(["float16", "float32", "float64"]),
    st.integers(-(2**140), 2**140).map(str)
    | st.from_regex(r"-?(0|[1-9][0-9]{0,6})(\.[0-9]{1,25})?(e[+-]?[0-9]{1,2})?", fullmatch=True),
)
@example("float64", str(2**53 + 1))
@example("float32", str(2**60 + 2**36 + 1))  # float64 rounds it to a tie, float32 rounds that down
@example("float16", "65519")
@example("float16", "65520")
@example("float32", str(2**128 - 2**103 - 1))  # the largest finite value
@example("float32", str(2**128 - 2**103))
def test_any_text_is_rounded_once(name, text):
    text = "0" if text == "-0" else text  # an integer, which has no sign of zero
    assert bits_of_text(text, name) == nearest(text, name)


def test_parts_of_complex_numbers_are_rounded_once():
    form = strictjson.loads(f"[{HALF_OF_FLOAT32}, -{HALF_OF_FLOAT32}]")
    value = data_type("complex64").fill_value_from_json(form)
    half = np.float32(1.00000011920928955078125)
    assert (value.real, value.imag) == (half, -half)


# --- documents ---


def test_numbers_are_floats_to_users_and_keep_their_text_when_written():
    text = '{\n  "a": 2049.0000000000000000001,\n  "b": [\n    {},\n    [],\n    1000.0,\n    "\u00e9"\n  ]\n}'
    document = strictjson.loads(text)
    assert document["a"] == 2049.0
    assert strictjson.encode(document) == text.encode()
    assert strictjson.dumps(document) == text.encode()
    assert strictjson.encode(pickle.loads(pickle.dumps(document))) == text.encode()
    assert strictjson.encode(copy.deepcopy(document)) == text.encode()


def test_a_broken_surrogate_next_to_a_text_is_escaped():
    document = strictjson.loads('["\\ud800", 2049.0000000000000000001]')
    assert strictjson.encode(document) == b'[\n  "\\ud800",\n  2049.0000000000000000001\n]'


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,9})\.[0-9]{1,9}(e[0-9])?", fullmatch=True))
def test_a_number_of_few_digits_needs_no_text(text):
    number = strictjson.loads(text)
    if type(number) is float:
        bits = number.as_integer_ratio()[0].bit_length()
        assert bits > 25 or Decimal(repr(number)) == Decimal(text)
    else:
        assert len(text) > 16


def test_numbers_with_equal_text_are_identical():
    def identical(one, other):
        return strictjson.identical(strictjson.loads(one), strictjson.loads(other))

    assert identical("2049.0000000000000000001", "2.0490000000000000000001e3")
    assert identical("2049.00000000000000", "2049.0")
    assert not identical("2049.0000000000000000001", "2049.0")
    assert not identical("2049.0", "2049.0000000000000000001")
    assert not identical("2049.00000000000000", "2049")


def document_of(fill_value: str, data_type: str = "float16", **members) -> bytes:
    members = {
        "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], **members,
    }  # fmt: skip
    return (json.dumps(members)[:-1] + f', "fill_value": {fill_value}}}').encode()


def test_an_array_keeps_its_fill_value_when_its_document_is_written_again():
    store = zarr.MemoryStore({"zarr.json": document_of("2049.0000000000000000001")})
    array = zarr.open_array(store)
    assert array[:].tolist() == [2050, 2050]
    array.attrs["a"] = 1
    assert b'"fill_value": 2049.0000000000000000001' in bytes(store.get("zarr.json"))
    array.resize((3,))
    assert zarr.open_array(store)[:].tolist() == [2050] * 3


def test_consolidated_metadata_keep_the_text_of_fill_values():
    store = zarr.MemoryStore(
        {
            "zarr.json": b'{"zarr_format": 3, "node_type": "group"}',
            "a/zarr.json": document_of("2049.0000000000000000001"),
        }
    )
    zarr.consolidate_metadata(store)
    group = zarr.open_group(store)
    assert group["a"][0] == 2050


def test_attributes_are_plain_floats_and_keep_their_text():
    stored = document_of("0.0", attributes={"x": 1}).replace(
        b'{"x": 1}', b'{"x": 9.969209968386869e+36, "y": [0.50000000000000000000001]}'
    )
    store = zarr.MemoryStore({"zarr.json": stored})
    array = zarr.open_array(store)
    assert type(array.attrs["x"]) is float
    assert type(array.attrs["y"][0]) is type(array.attrs.asdict()["y"][0]) is float
    array.attrs["z"] = 1
    assert b"0.50000000000000000000001" in bytes(store.get("zarr.json"))


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [("2049.0", "2049.0000000000000000001", 2050.0), ("0.0", "-0.0", -0.0)],
)
def test_refresh_sees_a_fill_value_that_differs_in_its_text_only(before, after, value):
    store = zarr.MemoryStore({"zarr.json": document_of(before)})
    array = zarr.open_array(store)
    store.set("zarr.json", document_of(after))
    array.refresh()
    assert array.fill_value == value
    assert np.signbit(array[0]) == np.signbit(value)
