"""The array -> array codecs of numcodecs: the same elements in both directions."""

import numcodecs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from plain_data_type import Plain
from zarr_codecs.astype import AsTypeCodec
from zarr_codecs.categorize import CategorizeCodec
from zarr_codecs.delta import DeltaCodec
from zarr_codecs.fixedscaleoffset import FixedScaleOffsetCodec
from zarr_codecs.numcodecs_bitround import NumcodecsBitRoundCodec
from zarr_codecs.numcodecs_packbits import NumcodecsPackBitsCodec
from zarr_codecs.quantize import QuantizeCodec
from zarr_core.extension import (
    ArrayRepresentation,
    ChunkDecodeError,
    ExtensionDefinition,
    create_extension,
    data_type_for,
)

NUMBERS = (np.arange(60).reshape(5, 4, 3) ** 2 % 251 - 20) * 1.01


def ours(name, configuration):
    return create_extension("codec", ExtensionDefinition(f"numcodecs.{name}", configuration))


def representation(array):
    dtype = array.dtype
    data_type = Plain(dtype) if dtype.kind in "OTUSMm" else data_type_for(dtype)
    return ArrayRepresentation(array.shape, data_type, np.zeros((), dtype))


def run(codec, array):
    """Encode, compare with the encoded representation, decode."""
    decoded = representation(array)
    frozen = array.view()
    frozen.flags.writeable = False
    encoded = codec.encode(frozen, representation(frozen))
    announced = codec.encoded_representation(decoded)
    assert encoded.shape == announced.shape
    assert encoded.dtype == announced.data_type.numpy_dtype == announced.fill_value.dtype
    encoded.flags.writeable = False
    back = codec.decode(encoded, decoded)
    assert (back.shape, back.dtype) == (array.shape, decoded.data_type.numpy_dtype)
    return encoded, back


CASES = [
    ("delta", {"dtype": "<i4"}, "i4"),
    ("delta", {"dtype": "int64", "astype": "<i2"}, "i8"),
    ("delta", {"dtype": "<u2", "astype": "|u1"}, "u2"),
    ("delta", {"dtype": "<u4", "astype": "<i8"}, "u4"),
    ("delta", {"dtype": "<f8", "astype": "<f4"}, "f8"),
    ("delta", {"dtype": "<f4", "astype": "<f4"}, "f4"),
    ("delta", {"dtype": "<c16"}, "c16"),
    ("fixedscaleoffset", {"scale": 10, "offset": -30, "dtype": "<f8", "astype": "<u2"}, "f8"),
    ("fixedscaleoffset", {"scale": 10.0, "offset": 1.5, "dtype": "<f4"}, "f4"),
    ("fixedscaleoffset", {"scale": 2, "offset": 7, "dtype": "<i4", "astype": "<i8"}, "i4"),
    ("fixedscaleoffset", {"scale": 0.5, "offset": 7, "dtype": "<i2", "astype": "|i1"}, "i2"),
    ("fixedscaleoffset", {"scale": 3, "offset": 1, "dtype": "<f2", "astype": "<i2"}, "f2"),
    ("quantize", {"digits": 1, "dtype": "<f8"}, "f8"),
    ("quantize", {"digits": 0, "dtype": "float32", "astype": "<f8"}, "f4"),
    ("quantize", {"digits": -1, "dtype": "<f8", "astype": "<f2"}, "f8"),
    ("bitround", {"keepbits": 0}, "f4"),
    ("bitround", {"keepbits": 5}, "f2"),
    ("bitround", {"keepbits": 30}, "f8"),
    ("bitround", {"keepbits": 52}, "f8"),
    ("astype", {"encode_dtype": "<f4", "decode_dtype": "<f8"}, "f8"),
    ("astype", {"encode_dtype": "|i1", "decode_dtype": "<i8"}, "i8"),
    ("packbits", {}, "?"),
]


@pytest.mark.parametrize(("name", "configuration", "dtype"), CASES, ids=str)
def test_as_numcodecs(name, configuration, dtype):
    array = NUMBERS > 0 if dtype == "?" else NUMBERS.astype(dtype)
    if dtype[0] == "u":
        array = np.abs(NUMBERS).astype(dtype)
    theirs = numcodecs.get_codec({"id": name} | configuration)
    encoded, back = run(ours(name, configuration), array)
    expected = theirs.encode(array)
    assert encoded.tobytes() == expected.tobytes()
    decoded = theirs.decode(expected).reshape(array.shape)
    assert (back.tobytes(), back.dtype) == (decoded.tobytes(), decoded.dtype)


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("delta", {"dtype": "|b1"}),
        ("delta", {"dtype": "|b1", "astype": "|i1"}),
        ("fixedscaleoffset", {"scale": 1.0, "offset": 0, "dtype": "|b1"}),
        ("fixedscaleoffset", {"scale": 2, "offset": 3, "dtype": "|b1", "astype": "<f4"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(), (1,), (5, 4, 3)], ids=str)
def test_booleans_are_stored_as_by_numcodecs(name, configuration, shape):
    """numcodecs does not decode all of them: Delta returns other elements."""
    array = np.random.default_rng(0).random(shape) > 0.5
    array = np.asarray(array, "?")
    encoded, back = run(ours(name, configuration), array)
    theirs = numcodecs.get_codec({"id": name} | configuration)
    assert encoded.tobytes() == theirs.encode(np.atleast_1d(array)).tobytes()
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64])
def test_packs_any_number_of_bits(size):
    array = np.arange(size) % 3 == 1
    encoded, back = run(NumcodecsPackBitsCodec(), array)
    assert bytes(encoded) == numcodecs.PackBits().encode(array).tobytes()
    assert (back == array).all()


def test_packed_bits_start_with_the_padding():
    array = np.ones(11, bool)
    encoded = NumcodecsPackBitsCodec().encode(array, representation(array))
    encoded[0] = 4
    with pytest.raises(ChunkDecodeError, match="declares 4 padding bits instead of 5"):
        NumcodecsPackBitsCodec().decode(encoded, representation(array))


integers = npst.arrays(
    st.sampled_from(["i1", "u2", "i4", "u8"]), npst.array_shapes(max_dims=3, max_side=5)
)


@settings(max_examples=60, deadline=None)
@given(array=integers)
def test_delta_of_any_integers_is_exact(array):
    codec = DeltaCodec(array.dtype.str)
    encoded, back = run(codec, array)
    assert (back == array).all()
    assert encoded.tobytes() == numcodecs.Delta(array.dtype.str).encode(array).tobytes()


@settings(max_examples=60, deadline=None)
@given(
    array=npst.arrays(st.sampled_from(["f2", "f4", "f8"]), npst.array_shapes(max_side=5)),
    keepbits=st.integers(0, 10),
)
def test_bitround_of_any_floats_is_that_of_numcodecs(array, keepbits):
    encoded, _ = run(NumcodecsBitRoundCodec(keepbits), array)
    assert encoded.tobytes() == numcodecs.BitRound(keepbits).encode(array).tobytes()


@settings(max_examples=60, deadline=None)
@given(
    array=npst.arrays(
        "f8", npst.array_shapes(max_side=5), elements=st.floats(-1e6, 1e6, allow_nan=False)
    ),
    digits=st.integers(-3, 12),
)
def test_quantize_keeps_the_digits(array, digits):
    _, back = run(QuantizeCodec(digits), array)
    assert np.abs(back - array).max(initial=0) <= 0.5 * 10.0**-digits * (1 + 1e-9)
    assert back.tobytes() == numcodecs.Quantize(digits, "f8").encode(array).tobytes()


STRINGS = ["male", "female", "", "unexpected", "male"]


@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType(), "U10"], ids=str)
@pytest.mark.parametrize("astype", ["|u1", "<i4"])
def test_categorize(dtype, astype):
    array = np.array([STRINGS, STRINGS[::-1]], dtype)
    named = "|O" if array.dtype.kind in "OT" else array.dtype.str
    encoded, back = run(CategorizeCodec(["female", "male", "x"], named, astype), array)
    theirs = numcodecs.Categorize(["female", "male", "x"], named, astype)
    plain = array if array.dtype.kind != "T" else array.astype(object)
    assert encoded.tobytes() == theirs.encode(plain).tobytes()
    assert back.tolist() == theirs.decode(theirs.encode(plain)).reshape(2, 5).tolist()
    assert encoded.tolist()[0] == [2, 1, 0, 0, 2]
    wrong = encoded.copy()
    wrong[0] = [200 % (np.iinfo(astype).max + 1), 4, 3, 0, 1]
    assert CategorizeCodec(["a", "b", "c"], named, astype).decode(
        wrong, representation(array)
    ).tolist()[0] == ["", "", "c", "", "a"]


@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType(), "U10"], ids=str)
@pytest.mark.parametrize("labels", [["a", "b", "a"], [*"abcdefgh", "a", "i"]], ids=len)
def test_the_last_of_equal_labels_counts(labels, dtype):
    array = np.array([*"abhiz", "", "ab"], dtype)
    named = "|O" if array.dtype.kind in "OT" else array.dtype.str
    encoded, back = run(CategorizeCodec(labels, named), array)
    theirs = numcodecs.Categorize(labels, named).encode(array.astype(object).astype(named))
    assert encoded.tolist() == theirs.tolist()
    assert back.tolist() == [text if text in labels else "" for text in array.tolist()]


@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType()], ids=str)
@pytest.mark.parametrize(
    ("labels", "items", "codes"),
    [
        (["a\0b"], ["a\0b", "a\0c", "a", "a\0", "ab\0"], [1, 0, 0, 0, 0]),
        (["a", "ab"], ["a\0b", "a\0c", "a", "a\0", "ab\0"], [0, 0, 1, 0, 0]),
        (["a"], ["a", None, 1, 2.5], [1, 0, 0, 0]),
    ],
)
def test_labels_are_equal_strings(dtype, labels, items, codes):
    array = np.array(items, dtype if None not in items else object)
    assert CategorizeCodec(labels, "|O").encode(array, representation(array)).tolist() == codes


@pytest.mark.parametrize(("dtype", "unit"), [("M8[ns]", "<i8"), ("m8[s]", "<i8")])
def test_dates_as_the_integers_that_they_are(dtype, unit):
    array = np.array([5, 7, 100, 3], dtype)
    encoded, back = run(DeltaCodec(unit), array)
    assert encoded.tolist() == [5, 2, 93, -97]
    assert (back == array).all()
    encoded, back = run(AsTypeCodec("<i4", unit), array)
    assert encoded.tolist() == [5, 7, 100, 3]
    assert (back == array).all()


@pytest.mark.parametrize("mark", "<>=")
def test_byte_order_of_the_configuration_is_ignored(mark):
    array = np.arange(5, dtype="i4") * 300
    encoded, back = run(DeltaCodec(f"{mark}i4", f"{mark}i2"), array)
    assert encoded.tolist() == [0, 300, 300, 300, 300]
    assert (back == array).all()


OTHER = "the codec is configured for dtype"


@pytest.mark.parametrize(
    ("codec", "dtype", "message"),
    [
        (DeltaCodec("<i2"), "i4", OTHER),
        (DeltaCodec("<u4"), "i4", OTHER),
        (DeltaCodec("<i4"), "f4", OTHER),
        (DeltaCodec("<i4"), "M8[s]", OTHER),
        (FixedScaleOffsetCodec(1, 1, "<f8"), "f4", OTHER),
        (QuantizeCodec(3, "<f4"), "f8", OTHER),
        (AsTypeCodec("<i4", "<i8"), "u8", OTHER),
        (CategorizeCodec(["a"], "<U3"), "U4", OTHER),
        (CategorizeCodec(["a"], "|O"), "U4", OTHER),
        (CategorizeCodec(["a"], "<U3"), "O", OTHER),
        (NumcodecsPackBitsCodec(), "u1", "only the data type bool"),
        (NumcodecsBitRoundCodec(3), "i4", "only float16, float32 and float64"),
        (NumcodecsBitRoundCodec(11), "f2", "the mantissa of float16 has 10 bits"),
        (QuantizeCodec(3), "i4", "is not supported by the codec"),
        (FixedScaleOffsetCodec(1, 0, None, "|b1"), "i4", "only booleans can be stored as booleans"),
        (FixedScaleOffsetCodec(1, 1, None, "|b1"), "?", "only booleans can be stored as booleans"),
    ],
    ids=repr,
)
def test_rejects_elements(codec, dtype, message):
    with pytest.raises(ValueError, match=message):
        codec.encoded_representation(representation(np.zeros(3, dtype)))


@pytest.mark.parametrize(
    ("codec", "member"),
    [
        (FixedScaleOffsetCodec(10, 0), "dtype"),
        (QuantizeCodec(3), "dtype"),
        (AsTypeCodec("<f4"), "decode_dtype"),
    ],
    ids=repr,
)
def test_type_of_the_elements_is_recorded_for_a_new_array(codec, member):
    decoded = representation(np.zeros(2, "f8"))
    resolved = codec.complete(decoded)
    assert resolved.to_configuration()[member] == np.dtype("f8").str
    assert resolved.complete(representation(np.zeros(2, "f4"))) == resolved
    array = np.array([1.25, 3.0])
    assert (
        codec.encode(array, representation(array)) == resolved.encode(array, representation(array))
    ).all()
