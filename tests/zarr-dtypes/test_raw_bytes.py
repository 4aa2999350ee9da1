"""raw_bytes: zarr-python's name for what the specification calls r24."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError
from zarr_dtypes.raw_bytes import RawBytes

THREE = {"name": "raw_bytes", "configuration": {"length_bytes": 3}}


def test_elements_round_trip():
    values = np.frombuffer(bytes(range(30)), "V3")
    array = zarr.create_array(shape=10, dtype=THREE, chunks=4, fill_value=b"\0\1\2")
    assert array.dtype == "V3"
    assert array.metadata.data_type.name == "raw_bytes"
    assert array.metadata.codecs[0].configuration == {}
    array[1:] = values[1:]
    assert array[...].tobytes() == values.tobytes()


def test_new_arrays_have_the_name_of_the_specification():
    assert zarr.create_array(shape=1, dtype="V3").metadata.data_type.name == "r24"


def test_fill_values_in_json():
    data_type = RawBytes(3)
    for form in ("AAEC", [0, 1, 2]):
        value = data_type.fill_value_from_json(form)
        assert value.tobytes() == b"\0\1\2"
        assert data_type.fill_value_to_json(value) == "AAEC"


@pytest.mark.parametrize("value", ["AAE=", "AAECAw==", "", [0, 1], [0, 1, 256], 0, None, "a b"])
def test_invalid_fill_value(value):
    with pytest.raises(ValueError, match="raw_bytes"):
        RawBytes(3).fill_value_from_json(value)


def test_arguments():
    for value in (b"abc", bytearray(b"abc"), np.void(b"abc"), np.bytes_(b"abc")):
        assert zarr.create_array(shape=1, dtype=THREE, fill_value=value)[...].tobytes() == b"abc"
    assert zarr.zeros(1, dtype=THREE)[...].tobytes() == b"\0\0\0"
    for value in (b"ab", b"abcd", "abc", 1, True, np.zeros(3, "u1")):
        with pytest.raises(MetadataValidationError, match="/fill_value"):
            zarr.create_array(shape=1, dtype=THREE, fill_value=value)
