"""cast_value: every pair of real data types against exact arithmetic, and its special rules."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from registered_codecs import chain, data_type, made, round_trip
from zarr_codecs._conversion import ROUNDINGS, Rule, cast
from zarr_codecs._number_types import _TYPES, Floats, Integers
from zarr_codecs.cast_value import CastValueCodec
from zarr_core.errors import CodecChainError

RULES = (None, "clamp", "wrap")
INTERESTING = [
    0, 1, 2, 3, 5, 6, 7, 8, 15, 16, 127, 128, 129, 240, 248, 255, 256, 448, 464, 2047, 2049, 4097,
    32768, 32769, 65504, 65519, 65520, 2**24 + 1, 2**31, 2**53 + 1, 2**53 + 3, 2**62 + 2**9 + 1,
    2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2**10, 2**64 - 2**10 - 1,
]  # fmt: skip
FRACTIONS = [
    0.1, 0.25, 0.5, 0.75, 1.25, 1.5, 2.5, 3.5, 6.5, 7.75, 15.75, 127.5, 255.5, 65519.99, 1e10, 1e300,
    2.0**-127, 1.5 * 2.0**-127, 3 * 2.0**-127, 2.0**-128, 2.0**-149, 1.5 * 2.0**-149, 5e-324,
    2.0**64, 2.0**63, math.inf, math.nan, -0.0,
]  # fmt: skip


def exact(value, target, rule):
    """What the specification says, with fractions; None where it says: an error."""
    if not math.isfinite(value):
        if isinstance(target, Integers):
            return None
        return value if (target.nan if math.isnan(value) else target.infinite) else None
    number, unit = Fraction(value), Fraction(1)
    exponent = 0
    if isinstance(target, Floats):
        exponent = target.low_exponent
        if number:
            size = abs(number)
            found = size.numerator.bit_length() - size.denominator.bit_length()
            found -= Fraction(2) ** found > size
            exponent = max(found, target.low_exponent)
        unit = Fraction(2) ** (exponent - target.precision + 1)
    below = number / unit // 1
    rest = number / unit - below
    even = below % 2 == 0
    if isinstance(target, Floats) and target.precision == 1:
        even = below == 0 or (exponent - target.low_exponent) % 2 == 0
    up = {
        "nearest-even": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and not even),
        "nearest-away": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and number > 0),
        "towards-zero": number < 0,
        "towards-positive": True,
        "towards-negative": False,
    }[rule.rounding]
    result = (below + (1 if rest and up else 0)) * unit
    low, high = (
        (target.low, target.high)
        if isinstance(target, Integers)
        else (target.lowest, target.largest)
    )
    if Fraction(low) <= result <= Fraction(high):
        return int(result) if isinstance(target, Integers) else float(result)
    if rule.out_of_range == "clamp":
        if isinstance(target, Floats) and target.infinite:
            return math.inf if result > 0 else -math.inf  # it may be too large for a float
        return high if result > high else low
    if rule.out_of_range is None or isinstance(target, Floats):
        return None
    wrapped = int(result) % (1 << target.bits)
    return wrapped - (wrapped > target.high) * (1 << target.bits)


def samples(kind, dtype):
    if isinstance(kind, Integers):
        numbers = {n for v in INTERESTING for n in (v, -v) if kind.low <= n <= kind.high}
        numbers |= {kind.low, kind.high}
        return (
            np.array(sorted(numbers), object)
            .astype(np.int64 if kind.signed else np.uint64)
            .astype(dtype)
        )
    numbers = np.array([*map(float, INTERESTING), *FRACTIONS])
    with np.errstate(all="ignore"):
        return np.concatenate([numbers, -numbers]).astype(dtype)


@pytest.mark.parametrize("target", _TYPES)
@pytest.mark.parametrize("source", _TYPES)
def test_every_pair(source, target):
    before, after = _TYPES[source], _TYPES[target]
    dtype = data_type(target).numpy_dtype
    array = samples(before, data_type(source).numpy_dtype)
    plain = [(int if isinstance(before, Integers) else float)(value) for value in array]
    for place, rounding in enumerate(ROUNDINGS):
        # Each rule with every rounding, for one pair or another.
        rule = Rule(rounding, RULES[(place + len(source) + len(target)) % 3])
        expected = [exact(value, after, rule) for value in plain]
        good = [n for n, value in enumerate(expected) if value is not None]
        got = cast(array[good], before, after, dtype, rule)
        assert got.dtype == dtype
        wanted = np.array([expected[n] for n in good], object)
        numbers = np.array(
            [(int if isinstance(after, Integers) else float)(v) for v in got], object
        )
        same = (numbers == wanted) | ((numbers != numbers) & (wanted != wanted))
        assert same.all(), (rule, array[good][~same], got[~same], wanted[~same])
        bad = [n for n, value in enumerate(expected) if value is None]
        for n in bad[:3]:
            with pytest.raises(ValueError, match="out of range|does not have|to an integer"):
                cast(array[n : n + 1], before, after, dtype, rule)


@settings(max_examples=60, deadline=None)
@given(
    value=st.floats() | st.integers(-(2**70), 2**70).map(float),
    rounding=st.sampled_from(ROUNDINGS),
    target=st.sampled_from(["float32", "float16", "int64", "uint64", "int32", "uint8"]),
)
@example(float.fromhex("0x1.ffffffp1023"), "towards-positive", "float32")  # rounds beyond float64
@example(float.fromhex("-0x1.ffffffp1023"), "nearest-away", "float16")
def test_any_float(value, rounding, target):
    rule = Rule(rounding, "clamp")
    kind, dtype = _TYPES[target], np.dtype(target)
    expected = exact(value, kind, rule)
    if expected is None:
        with pytest.raises(ValueError, match="to an integer"):
            cast(np.array([value]), _TYPES["float64"], kind, dtype, rule)
        return
    (got,) = cast(np.array([value]), _TYPES["float64"], kind, dtype, rule).tolist()
    assert got == expected or (math.isnan(got) and math.isnan(expected))
    if isinstance(kind, Floats) and not math.isnan(value):
        assert math.copysign(1, got) == math.copysign(1, value)


@settings(max_examples=60, deadline=None)
@given(
    value=st.integers(0, 2**64 - 1),
    rounding=st.sampled_from(ROUNDINGS),
    target=st.sampled_from(["float64", "float32"]),
    signed=st.booleans(),
)
def test_any_large_integer(value, rounding, target, signed):
    name = "int64" if signed else "uint64"
    value -= 2**63 if signed else 0
    rule = Rule(rounding)
    (got,) = cast(np.array([value], name), _TYPES[name], _TYPES[target], np.dtype(target), rule)
    assert float(got) == exact(value, _TYPES[target], rule)


@pytest.mark.parametrize("target", ["float16", "float32", "float64", "bfloat16", "float8_e4m3"])
def test_signed_zero_and_nan_are_kept(target):
    codec = made("cast_value", data_type=target)
    array = np.array([0.0, -0.0, np.nan])
    data_type(target)
    assert str(round_trip(codec, array)[1].tolist()) == "[0.0, -0.0, nan]"


def test_rejects_numbers_of_the_map_that_the_data_type_lacks():
    codec = CastValueCodec("uint8", scalar_map={"decode": [[256, 1]]})
    with pytest.raises(CodecChainError, match="scalar_map/decode/0: .*256"):
        chain(codec, np.zeros(3))
