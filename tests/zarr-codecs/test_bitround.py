"""bitround: the examples of its specification, all data types, NaN and limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from registered_codecs import data_type, encode, made, representation, round_trip
from zarr_codecs.bitround import BitroundCodec
from zarr_codecs.numcodecs_bitround import NumcodecsBitRoundCodec

FLOATS = [0.0, 0.1, 1.2, 12.3, 123.4, 1234.5, np.nan, np.inf, -np.inf]
ROUNDED_FLOATS = [0.0, 0.1015625, 1.25, 12.0, 120.0, 1280.0, np.nan, np.inf, -np.inf]


def exact(value, keepbits, width):
    """The rule for one integer, in Python's."""
    drop = max(value.bit_length() - keepbits, 0)
    if not drop:
        return value
    half = (1 << (drop - 1)) - 1 + (value >> drop & 1)
    return min(value + half, (1 << width) - 1) >> drop << drop


integers = npst.arrays(
    st.sampled_from(["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"]),
    npst.array_shapes(max_side=4),
)


@settings(max_examples=60, deadline=None)
@given(array=integers, keepbits=st.integers(1, 70))
def test_integers(array, keepbits):
    data, _ = round_trip(BitroundCodec(keepbits), array)
    size = array.itemsize
    bits = array.astype(array.dtype.newbyteorder("<")).view(f"<u{size}")
    expected = [exact(value, keepbits, 8 * size) for value in bits.reshape(-1).tolist()]
    assert np.frombuffer(data, f"<u{size}").tolist() == expected


@settings(max_examples=60, deadline=None)
@given(
    array=npst.arrays(
        st.sampled_from(["f2", "f4", "f8"]),
        npst.array_shapes(max_side=5),
        elements=st.floats(width=16),
    ),
    keepbits=st.integers(1, 10),
)
def test_floats_as_numcodecs(array, keepbits):
    _, back = round_trip(BitroundCodec(keepbits), array)
    assert np.isnan(back).tolist() == np.isnan(array).tolist()
    theirs = encode(NumcodecsBitRoundCodec(keepbits), array)
    number = ~np.isnan(array)
    assert back[number].tobytes() == theirs[number].tobytes()


def test_every_nan_stays_one():
    # By adding, the last ones would become -0.0 and infinity.
    bits = np.array([0x7FC00001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001], np.uint32)
    _, back = round_trip(BitroundCodec(3), bits.view(np.float32))
    assert (back.view(np.uint32) == bits).all()


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_parts_of_complex_numbers_are_rounded_each(dtype):
    part = f"f{np.dtype(dtype).itemsize // 2}"
    array = (np.array(FLOATS[:6], part) - 1j * np.array(FLOATS[:6], part)[::-1]).astype(dtype)
    _, back = round_trip(BitroundCodec(3), array)
    for side in ("real", "imag"):
        _, alone = round_trip(BitroundCodec(3), getattr(array, side).copy())
        assert (getattr(back, side) == alone).all()


def test_small_floats():
    array = np.array(FLOATS).astype(data_type("bfloat16").numpy_dtype)
    _, back = round_trip(made("bitround", keepbits=3), array)
    assert back[:6].astype(float).tolist() == ROUNDED_FLOATS[:6]
    pair = np.zeros(9, data_type("complex_bfloat16").numpy_dtype)
    pair["imag"] = array
    _, back = round_trip(made("bitround", keepbits=3), pair, name="complex_bfloat16")
    assert back["imag"][:6].astype(float).tolist() == ROUNDED_FLOATS[:6]
    assert not back["real"].astype(float).any()


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]"])
def test_times_are_the_integers_in_which_they_are_kept(dtype):
    values = np.array([5, 1023, 1 << 40, np.iinfo(np.int64).min])
    _, back = round_trip(made("bitround", keepbits=4), values.view(dtype))
    assert back.view(np.int64).tolist() == [5, 1024, 1 << 40, np.iinfo(np.int64).min]
    assert np.isnat(back[3])


def test_keeping_all_bits_changes_nothing():
    array = np.arange(100, dtype="f4") / 7
    assert encode(BitroundCodec(23), array) is array
    assert encode(BitroundCodec(99), array) is array
    assert encode(BitroundCodec(7), np.arange(100)).tolist() == list(range(100))


def test_rejects_data_types_without_mantissa_or_integers():
    with pytest.raises(ValueError, match="only integers, floats"):
        BitroundCodec(3).encoded_representation(representation(np.zeros(2, bool)))
