"""fixed_length_utf32: strings that fit, in both byte orders."""

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import ChunkDecodeError, CodecChainError, MetadataValidationError
from zarr_core.extension import data_type_for
from zarr_dtypes.fixed_length_utf32 import FixedLengthUTF32

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@pytest.mark.parametrize("order", "<>")
def test_numpy(order):
    data_type = data_type_for(np.dtype(f"{order}U7"))
    assert data_type == FixedLengthUTF32(7)
    assert data_type.numpy_dtype == np.dtype("U7")
    assert data_type.item_size == 28
    assert data_type.has_byte_order


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=9), order=st.sampled_from("<>"))
def test_strings_round_trip(texts, order):
    values = np.array(texts, f"{order}U4")
    array = zarr.create_array(data=values, chunks=4, fill_value=texts[0].rstrip("\0"))
    assert array[...].tolist() == values.tolist()
    assert array[...].dtype == "U4"
    assert zarr.open(array.store).fill_value == values[0]


def test_the_bytes_are_those_of_the_specification():
    array = zarr.create_array(data=np.array(["Hi"], ">U3"), compressors=None)
    assert array.store.get("c/0") == b"\0\0\0H\0\0\0i\0\0\0\0"
    assert array.metadata.codecs[0].configuration == {"endian": "big"}


def test_a_byte_order_is_needed():
    array = zarr.create_array(shape=2, dtype="U3", compressors=None)
    document = array.store.get("zarr.json").replace(b'"endian"', b'"indian"')
    array.store.set("zarr.json", document)
    with pytest.raises((CodecChainError, ValueError)):
        zarr.open(array.store)


@pytest.mark.parametrize("value", ["abcd", "abc\0", 3, None, ["a"], b"abc"])
def test_invalid_fill_value(value):
    with pytest.raises(ValueError, match="fixed_length_utf32"):
        FixedLengthUTF32(3).fill_value_from_json(value)


@pytest.mark.parametrize("value", ["abcd", 1, b"abc", "\ud800", 0.0, True])
def test_rejected_arguments(value):
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        zarr.create_array(shape=1, dtype="U3", fill_value=value)


def test_accepted_arguments():
    for value in ("ab", np.str_("ab"), np.array("ab"), "ab\0\0\0"):
        assert zarr.create_array(shape=1, dtype="U3", fill_value=value)[0] == "ab"
    assert zarr.zeros(2, dtype="U3")[...].tolist() == ["", ""]


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
