"""scale_offset: exact for integers, as NumPy computes for floats, never silently out of range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from registered_codecs import chain, data_type, encode, made, representation, round_trip
from zarr_core.errors import CodecChainError
from zarr_core.extension import (
    ChunkDecodeError,
    CodecError,
)

WIDTHS = st.sampled_from(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])


@settings(max_examples=60, deadline=None)
@given(data=st.data(), dtype=WIDTHS)
def test_integers(data, dtype):
    """Exact, or an error; as Python computes."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    numbers = st.integers(low, high) | st.integers(max(low, -20), 20)
    values = data.draw(st.lists(numbers, min_size=1, max_size=4))
    offset = data.draw(numbers)
    scale = data.draw(st.integers(max(low, -5), 5).filter(bool))
    codec = made("scale_offset", offset=offset, scale=scale)
    array = np.array(values, dtype)
    steps = [(value - offset, (value - offset) * scale) for value in values]
    if all(low <= step <= high for both in steps for step in both):
        encoded = encode(codec, array)
        assert encoded.tolist() == [step for _, step in steps]
        assert encoded.dtype == array.dtype
        assert codec.decode(encoded, representation(array)).tolist() == values
    else:
        with pytest.raises(ValueError, match="is out of range: the data type has"):
            encode(codec, array)
    steps = [(value // scale, value // scale + offset) for value in values]
    possible = all(low <= step <= high for both in steps for step in both)
    if possible and not any(value % scale for value in values):
        assert codec.decode(array, representation(array)).tolist() == [step for _, step in steps]
    else:
        with pytest.raises(ChunkDecodeError, match="out of range|not divisible by the scale"):
            codec.decode(array, representation(array))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_are_computed_in_their_type(dtype):
    array = (np.arange(100) / 7).astype(dtype)
    codec = made("scale_offset", offset=5, scale=0.1)
    offset, scale = np.dtype(dtype).type(5), np.dtype(dtype).type(0.1)
    data, back = round_trip(codec, array.reshape(10, 10).T)
    assert data == ((array - offset) * scale).reshape(10, 10).T.astype(f"<{dtype}").tobytes()
    assert back.T.tobytes() == ((array - offset) * scale / scale + offset).tobytes()
    assert encode(codec, np.array(7, dtype)).shape == ()
    assert encode(codec, np.empty((0, 2), dtype)).shape == (0, 2)


def test_small_types():
    kind = data_type("float4_e2m1fn")
    array = np.array([0, 1, 3, -2]).astype(kind.numpy_dtype)
    codec = made("scale_offset", offset=1, scale=2)
    encoded = encode(codec, array)
    assert encoded.dtype == kind.numpy_dtype
    assert encoded.astype(float).tolist() == [-2, 0, 4, -6]
    with pytest.raises(ValueError, match="12.0 is out of range"):
        encode(made("scale_offset", scale=2), np.array([6.0]).astype(kind.numpy_dtype))
    kind = data_type("int4")
    array = np.array([-3, 0, 2]).astype(kind.numpy_dtype)
    codec = made("scale_offset", offset=1, scale=2)
    assert encode(codec, array).astype(int).tolist() == [-8, -2, 2]
    with pytest.raises(ValueError, match="-9 is out of range: the data type has -8 to 7"):
        encode(codec, np.array([-8]).astype(kind.numpy_dtype))


def test_infinity_and_nan_are_preserved():
    codec = made("scale_offset", scale=10)
    assert str(encode(codec, np.array([np.inf, np.nan, 1])).tolist()) == "[inf, nan, 10.0]"
    array = np.array([1.0, 1e308])
    with pytest.raises(CodecError, match="a result is out of the range of float64"):
        chain(codec, array).encode(array)
    bound = chain(made("scale_offset", scale=0.1), np.zeros(1))
    with pytest.raises(ChunkDecodeError, match="out of the range"):
        bound.decode(np.array([1e308], "<f8").tobytes())


def test_fill_value_is_converted():
    codec = made("scale_offset", offset=10, scale=0.1)
    encoded = codec.encoded_representation(representation(np.zeros(2, "f4"), fill=10))
    assert encoded.fill_value == 0
    with pytest.raises(CodecChainError, match="the fill value 0 cannot be encoded: -1000 is out"):
        chain(made("scale_offset", offset=1000), np.zeros(2, "u2"))


@pytest.mark.parametrize(
    ("configuration", "dtype", "message"),
    [
        ({"scale": "0x00000000"}, "f4", "scale must not be 0"),
        ({"scale": "NaN"}, "f4", "must be finite"),
        ({"offset": "Infinity"}, "f4", "must be finite"),
    ],
    ids=str,
)
def test_rejects_numbers_out_of_range(configuration, dtype, message):
    with pytest.raises(CodecChainError, match=message):
        chain(made("scale_offset", **configuration), np.zeros(2, dtype))
