"""Floating-point numbers of 4 to 16 bits: layouts, fill values, what users give."""

import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core import strictjson
from zarr_dtypes._float_bits import LAYOUTS
from zarr_dtypes.small_float import SmallFloat

NAMES = list(LAYOUTS)
# What the texts say "NaN" stands for; None where they say that it is not supported.
NAN = {
    "bfloat16": 0x7FC0, "float8_e3m4": 0x78, "float8_e4m3": 0x7C, "float8_e4m3b11fnuz": 0x80,
    "float8_e4m3fn": 0x7F, "float8_e4m3fnuz": 0x80, "float8_e5m2": 0x7E, "float8_e5m2fnuz": 0x80,
    "float8_e8m0fnu": 0xFF, "float6_e2m3fn": None, "float6_e3m2fn": None, "float4_e2m1fn": None,
}  # fmt: skip
IEEE = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e5m2"]


def bits_of(value):
    return int(value.view(f"u{value.dtype.itemsize}")[()])


def all_bits(name):
    return np.arange(1 << LAYOUTS[name].bits, dtype=f"u{SmallFloat(name).numpy_dtype.itemsize}")


def all_values(name):
    return all_bits(name).view(getattr(ml_dtypes, name))


@cache
def all_numbers(name):
    with np.errstate(invalid="ignore"):  # signalling NaN
        return all_values(name).astype("f8").tolist()


@pytest.mark.parametrize("name", NAMES)
def test_every_value_comes_back_from_json(name):
    made = SmallFloat(name)
    for bits, value in enumerate(all_values(name)):
        if name == "bfloat16" and bits % 7 and bits & 0x7F80 != 0x7F80:
            continue  # one in seven of those that are ordinary
        written = json.loads(json.dumps(made.fill_value_to_json(np.asarray(value))))
        assert bits_of(made.fill_value_from_json(written)) == bits, (bits, written)
        number = float(value)
        if math.isnan(number):
            assert (written == "NaN") == (bits == NAN[name])
        elif math.isinf(number):
            assert written == ("Infinity" if number > 0 else "-Infinity")
        else:
            assert written == number  # exact, not the fewest digits


@pytest.mark.parametrize("name", NAMES)
def test_between_two_values_the_nearer_one_is_taken(name):
    layout = LAYOUTS[name]
    positive = all_numbers(name)[: layout.largest + 1]
    assert positive == sorted(positive)
    for bits, (low, high) in enumerate(pairwise(positive)):
        if name == "bfloat16" and bits % 11:
            continue
        middle = low + (high - low) / 2  # exact: there are bits enough
        assert layout.nearest(math.nextafter(middle, 0)) == bits
        assert layout.nearest(math.nextafter(middle, math.inf)) == bits + 1
        if name != "float8_e8m0fnu":
            assert layout.nearest(middle) == bits + bits % 2
            assert layout.nearest(-middle) in (layout.sign | bits + bits % 2, 0)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(number=st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_numbers_are_rounded_as_ml_dtypes_rounds(name, number):
    layout, made = LAYOUTS[name], SmallFloat(name)
    number = number or abs(number)
    if name == "float8_e8m0fnu":
        number = abs(number) or 1.0
    theirs = np.array(number, "f4").astype(made.numpy_dtype)
    try:
        bits = layout.nearest(number)
    except OverflowError:
        # Theirs are NaN there, or the largest number.
        assert math.isnan(float(theirs)) or abs(bits_of(theirs)) & ~layout.sign == layout.largest
    else:
        assert bits == bits_of(theirs) or (name == "float8_e8m0fnu" and number < 2**-126)


@cache
def positive_neighbours(name):
    return list(pairwise(sorted({it for it in all_numbers(name) if 0 < it < math.inf})))


@settings(max_examples=300)
@given(st.sampled_from(sorted(LAYOUTS)), st.data())
def test_texts_next_to_half_ways_are_rounded_once(name, data):
    low, high = data.draw(st.sampled_from(positive_neighbours(name)))
    side = data.draw(st.sampled_from([1, 0, -1]))
    with localcontext(prec=400):
        half = Decimal((low + high) / 2)
        number = half + side * half * Decimal(10) ** -data.draw(st.integers(17, 60))
    value = SmallFloat(name).fill_value_from_json(strictjson.loads(str(number)))
    if side:
        assert float(value[()]) == (high if side > 0 else low)
    else:
        assert float(value[()]) in (low, high)
        assert bits_of(value) % 2 == 0 or name == "float8_e8m0fnu"


def test_integers_of_any_size_are_rounded_once():
    layout = LAYOUTS["bfloat16"]
    assert layout.nearest(2**100 + 2**92) == layout.nearest(2.0**100)  # half way, to even
    assert layout.nearest(2**100 + 2**92 + 1) == layout.nearest(2.0**100) + 1
    assert layout.nearest(10**400) == layout.infinity
    assert layout.nearest(-(10**400)) == layout.infinity | 0x8000


@pytest.mark.parametrize("name", NAMES)
def test_constants(name):
    made, layout = SmallFloat(name), LAYOUTS[name]
    values = {"NaN": NAN[name], "Infinity": None, "-Infinity": None}
    if name in IEEE:
        values["Infinity"] = bits_of(np.array(math.inf, made.numpy_dtype))
        values["-Infinity"] = bits_of(np.array(-math.inf, made.numpy_dtype))
    for word, bits in values.items():
        if bits is None:
            with pytest.raises(ValueError, match=f"fill value of type {name} must be a number"):
                made.fill_value_from_json(word)
            with pytest.raises(ValueError, match=name):
                made.cast(float(word))
        else:
            assert bits_of(made.fill_value_from_json(word)) == bits
            assert bits_of(made.cast(float(word))) == bits
            assert made.cast(word) == made.cast(word) or word == "NaN"
    assert (layout.infinity is not None) == (name in IEEE)


@pytest.mark.parametrize("name", NAMES)
def test_hexadecimal_bits(name):
    made, layout = SmallFloat(name), LAYOUTS[name]
    digits = 4 if name == "bfloat16" else 2
    top = (1 << layout.bits) - 1
    for bits in (0, 1, layout.largest, top):
        for form in (f"0x{bits:0{digits}x}", f"0x{bits:0{digits}X}"):
            assert bits_of(made.fill_value_from_json(form)) == bits
    refused = ["0x", "0X01", "01", "0x+1", "0x 1", f"0x{'0' * (digits + 1)}", "0x1g"]
    if layout.bits % 8:
        refused.append(f"0x{top + 1:02x}")
    if name == "float4_e2m1fn":
        assert bits_of(made.fill_value_from_json("0xf")) == 15
    else:
        refused.append("0x" + "1" * (digits - 1))
    for form in refused:
        with pytest.raises(ValueError, match=f"type {name}"):
            made.fill_value_from_json(form)


def test_zeros():
    for name in NAMES:
        made = SmallFloat(name)
        assert bits_of(made.default_fill_value()) == 0
        assert bits_of(made.cast(0)) == 0
        negative = made.fill_value_from_json(-0.0)
        if NAN[name] == 0x80 or name == "float8_e8m0fnu":
            assert bits_of(negative) == 0  # the sign alone is NaN
        else:
            assert bits_of(negative) == 1 << (LAYOUTS[name].bits - 1)
            assert json.dumps(made.fill_value_to_json(negative)) == "-0.0"
    # There is no zero: the nearest is the smallest number, which NumPy's zeros are too.
    scale = SmallFloat("float8_e8m0fnu")
    assert scale.fill_value_to_json(scale.default_fill_value()) == 2.0**-127
    for value in (-1, -0.5, -math.inf):
        with pytest.raises(ValueError, match="only positive numbers"):
            scale.cast(value)


LARGEST = {
    "float8_e4m3b11fnuz": 30, "float8_e4m3fn": 448, "float8_e4m3fnuz": 240,
    "float8_e5m2fnuz": 57344, "float8_e8m0fnu": 2.0**127, "float6_e2m3fn": 7.5,
    "float6_e3m2fn": 28, "float4_e2m1fn": 6, "float8_e3m4": 15.5, "float8_e4m3": 240,
    "float8_e5m2": 57344,
}  # fmt: skip


@pytest.mark.parametrize(("name", "largest"), LARGEST.items())
def test_beyond_the_range(name, largest):
    made = SmallFloat(name)
    assert float(made.cast(largest)) == float(made.fill_value_from_json(largest)) == largest
    assert float(made.cast(float(Fraction(largest) * 257 / 256))) == largest  # rounded down
    for value in (largest * 2, float(largest) * 2, 10**400):
        with pytest.raises(ValueError, match=f"out of range for {name}"):
            made.cast(value)
        if name in IEEE:
            assert float(made.fill_value_from_json(value)) == math.inf
        else:
            with pytest.raises(ValueError, match=f"out of range for {name}"):
                made.fill_value_from_json(value)


def test_arguments():
    made = SmallFloat("bfloat16")
    payload = np.array(0xFF81, "u2").view(ml_dtypes.bfloat16)
    swapped = payload.astype(payload.dtype.newbyteorder("S"))
    for value in (payload, payload[()], swapped):
        cast = made.cast(value)
        assert bits_of(cast) == 0xFF81
        assert cast.dtype.isnative
        assert made.fill_value_to_json(value if value is not payload[()] else payload) == "0xff81"
    for value in (
        1.5, np.float32(1.5), np.float64(1.5), np.array(1.5, ">f8"), ml_dtypes.float8_e4m3(1.5),
        ml_dtypes.float4_e2m1fn(1.5), np.longdouble(1.5), "0x3fc0",
    ):  # fmt: skip
        assert bits_of(made.cast(value)) == 0x3FC0
    assert float(made.cast(True)) == float(made.cast(np.uint8(1))) == 1
    assert float(made.cast(ml_dtypes.int4(-3))) == -3
    for value in (
        1j, np.complex64(1), ml_dtypes.complex32(1), [1.0], np.zeros(1), None, b"1",
        np.datetime64(1, "s"), np.timedelta64(1, "s"), np.void(b"ab"), object(), "x",
    ):  # fmt: skip
        with pytest.raises(ValueError, match="bfloat16"):
            made.cast(value)


def test_bits_above_the_number_are_cleared():
    garbage = np.arange(256, dtype="u1")
    for name in NAMES:
        made = SmallFloat(name)
        bits = LAYOUTS[name].bits
        assert made.unused_bits == (bits < 8)
        if bits < 8:
            given = garbage.view(made.numpy_dtype)
            cleared = made.clear_unused_bits(given[::-1].reshape(16, 16).T)
            assert cleared.shape == (16, 16)
            expected = garbage[::-1].reshape(16, 16).T & ((1 << bits) - 1)
            assert np.array_equal(cleared.view("u1"), expected)
            assert np.array_equal(given.view("u1"), garbage)  # stays as it is
            assert bits_of(made.cast(given[255])) == (1 << bits) - 1


def test_names_and_dtypes():
    for name in NAMES:
        made = SmallFloat(name)
        dtype = np.dtype(getattr(ml_dtypes, name))
        assert made.numpy_dtype == dtype
        assert made.item_size == dtype.itemsize
        assert made.has_byte_order == (name == "bfloat16")
        for order in "<>=":
            assert SmallFloat.from_numpy(dtype.newbyteorder(order)) == made
        assert made.to_definition().to_json() == name
    for dtype in ("f4", "f2", "V2", "V1", "u1", ml_dtypes.int4, ml_dtypes.complex32, [("a", "f2")]):
        assert SmallFloat.from_numpy(np.dtype(dtype)) is None
    with pytest.raises(ValueError, match="unknown data type 'float8'; expected one of bfloat16, "):
        SmallFloat("float8")
