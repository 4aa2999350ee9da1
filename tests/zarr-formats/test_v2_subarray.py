"""Subarrays in the fields of structured data types."""

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.extension import (
    ExtensionConfigurationError,
    ExtensionDefinition,
    Location,
    MetadataValidationError,
    create_extension,
)
from zarr_formats.v2.subarray import Subarray

DEFINITION = ExtensionDefinition("v2.subarray", {"data_type": "int16", "shape": [2, 3]})
RECORD = np.dtype([("x", "<f4"), ("y", ">i2", (2, 3)), ("z", [("a", "S3", (2,))])])


def made(definition=DEFINITION):
    return create_extension("data_type", definition, Location("here", pointer="/data_type"))


def test_it_is_numpys():
    data_type = made()
    assert data_type.numpy_dtype == np.dtype(("i2", (2, 3)))
    assert data_type.item_size == 12
    assert data_type.has_byte_order
    assert data_type.to_definition() == DEFINITION
    assert Subarray.from_numpy(np.dtype(("i2", (2, 3)))) == data_type
    assert Subarray.from_numpy(np.dtype("V12")) is None


def test_fill_values_are_nested_lists():
    data_type = made()
    value = data_type.fill_value_from_json([[1, 2, 3], [4, 5, 6]])
    assert data_type.fill_value_to_json(value) == [[1, 2, 3], [4, 5, 6]]
    assert data_type.fill_value_to_json(data_type.default_fill_value()) == [[0] * 3] * 2
    assert data_type.fill_value_to_json(data_type.cast(7)) == [[7] * 3] * 2


@pytest.mark.parametrize(
    "value", [0, [1, 2], [[1, 2, 3]], [[1, 2, 3], [1, 2]], [[1, 2, 3], [1, 2, 2**15]]]
)
def test_fill_values_of_another_shape(value):
    with pytest.raises(ValueError, match=r"."):
        made().fill_value_from_json(value)


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"data_type": "int8"},
        {"data_type": "int8", "shape": []},
        {"data_type": "int8", "shape": [0]},
        {"data_type": "int8", "shape": [2], "more": 1},
        {"data_type": "string", "shape": [2]},
    ],
)
def test_configurations_that_are_none(configuration):
    with pytest.raises(ExtensionConfigurationError):
        made(ExtensionDefinition("v2.subarray", configuration))


@settings(max_examples=30, deadline=None)
@given(st.binary(min_size=22 * 6, max_size=22 * 6), st.sampled_from("CF"))
def test_records_with_sub_arrays_round_trip(data, order):
    assert RECORD.itemsize == 22
    native = RECORD.newbyteorder("=")
    values = np.frombuffer(data, RECORD).astype(native).reshape(2, 3)
    values["x"] = np.nan_to_num(values["x"])
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, shape=(2, 4), chunks=(2, 2), dtype=native, order=order, zarr_format=2
    )
    array[:, :3] = values
    found = zarr.open(store)
    assert found.dtype == native
    assert (found[:, :3] == values).all()
    assert found["y"].shape == (2, 4, 2, 3)


def test_fields_of_several_byte_orders_stay_as_they_are_stored(tmp_path):
    import json

    # Written directly, because the data type of a new array has one byte order.
    values = np.zeros(4, RECORD)
    values["x"], values["y"], values["z"]["a"] = 1.5, 258, b"ab"
    document = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "order": "C", "filters": None, "compressor": None,
        "dtype": [["x", "<f4"], ["y", ">i2", [2, 3]], ["z", [["a", "|S3", [2]]]]], "fill_value": None,
    }  # fmt: skip
    (tmp_path / ".zarray").write_text(json.dumps(document))
    (tmp_path / "0").write_bytes(values.tobytes())
    array = zarr.open(tmp_path)
    assert (array[...] == values).all()
    array[1] = array[0]
    assert (tmp_path / "0").read_bytes() == values.tobytes()


def test_version_3_has_no_sub_arrays():
    with pytest.raises(MetadataValidationError, match="fields that are arrays"):
        zarr.create_array(shape=3, dtype=RECORD.newbyteorder("="), zarr_format=3)
