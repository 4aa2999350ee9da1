"""null_terminated_bytes: byte strings up to a length."""

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import MetadataValidationError
from zarr_core.extension import data_type_for
from zarr_dtypes.null_terminated_bytes import NullTerminatedBytes


def test_numpy():
    data_type = data_type_for(np.dtype("S7"))
    assert data_type == NullTerminatedBytes(7)
    assert data_type.numpy_dtype == np.dtype("S7")
    assert data_type.item_size == 7
    assert not data_type.has_byte_order


@settings(max_examples=40, deadline=None)
@given(items=st.lists(st.binary(max_size=5), min_size=1, max_size=9))
def test_bytes_round_trip(items):
    values = np.array(items, "S5")
    array = zarr.create_array(data=values, chunks=4, fill_value=items[0])
    assert array[...].tobytes() == values.tobytes()
    assert zarr.open(array.store).fill_value == values[0]
    assert array.metadata.codecs[0].configuration == {}


def test_fill_values_in_json():
    data_type = NullTerminatedBytes(4)
    for form in ("AQID", [1, 2, 3], "AQIDAA==", "AQIDAAAA", [1, 2, 3, 0, 0, 0]):
        value = data_type.fill_value_from_json(form)
        assert value.tobytes() == b"\1\2\3\0"
        assert data_type.fill_value_to_json(value) == "AQID"
    assert data_type.fill_value_to_json(data_type.default_fill_value()) == ""
    inner = data_type.fill_value_from_json([0, 1])
    assert data_type.fill_value_to_json(inner) == "AAE="


@pytest.mark.parametrize(
    "value", ["AQIDBAU=", "not base64", "AQI", [256], [1.0], [True], 5, None, {}, "ä"]
)
def test_invalid_fill_value(value):
    with pytest.raises(ValueError, match="null_terminated_bytes"):
        NullTerminatedBytes(4).fill_value_from_json(value)


def test_arguments():
    for value in (b"ab", "ab", np.bytes_(b"ab"), bytearray(b"ab"), np.array(b"ab")):
        assert zarr.create_array(shape=1, dtype="S3", fill_value=value)[0] == b"ab"
    assert zarr.zeros(2, dtype="S3")[...].tolist() == [b"", b""]
    for value in (b"abcd", "ä", 1, 1.5, True, ["a"]):
        with pytest.raises(MetadataValidationError, match="/fill_value"):
            zarr.create_array(shape=1, dtype="S3", fill_value=value)
