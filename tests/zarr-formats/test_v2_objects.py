"""The data type of any Python object."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError
from zarr_formats.v2.objects import PythonObject

numcodecs = pytest.importorskip("numcodecs")
VALUES = np.array(["a", None, 1, [2, {"x": 3.5}]], object)


@pytest.mark.parametrize("value", [None, 0, "", "x", 1.5, [1, [2]], {"a": None}])
def test_fill_values_are_any_json(value):
    data_type = PythonObject()
    element = data_type.fill_value_from_json(value)
    assert element.shape == ()
    assert data_type.fill_value_to_json(element) == value
    assert data_type.cast(element)[()] == value


def test_fill_values_that_have_no_json():
    with pytest.raises(ValueError, match="cannot be represented in JSON"):
        PythonObject().fill_value_to_json(PythonObject().cast(object()))


def test_numpys_objects():
    assert PythonObject.from_numpy(np.dtype(object)) == PythonObject()
    assert PythonObject.from_numpy(np.dtype("i4")) is None
    assert PythonObject().item_size is None


@pytest.mark.parametrize("codec", [numcodecs.JSON(), numcodecs.MsgPack()])
@pytest.mark.parametrize("order", ["C", "F"])
def test_objects_are_stored_by_an_object_codec(codec, order):
    store = zarr.MemoryStore()
    values = VALUES.reshape(2, 2)
    made = zarr.create_array(
        store,
        shape=(3, 2),
        chunks=(2, 2),
        dtype=object,
        filters=[codec],
        zarr_format=2,
        order=order,
    )
    made[:2] = values
    found = zarr.open(store)
    assert found.dtype == object
    assert found[:2].tolist() == values.tolist()
    assert found.fill_value is None
    assert found[2].tolist() == [None, None]
    assert found.metadata.data_type.name == "v2.object"


def test_a_fill_value_that_is_given():
    made = zarr.create_array(
        shape=4,
        chunks=2,
        dtype=object,
        filters=[numcodecs.JSON()],
        fill_value="none",
        zarr_format=2,
    )
    made[0] = {"a": 1}
    assert made[...].tolist() == [{"a": 1}, "none", "none", "none"]
    made[0] = "none"
    assert made.nchunks_initialized in (0, 1)


def test_ragged_arrays():
    values = np.empty(3, object)
    values[:] = [np.arange(3), np.arange(0), np.arange(1)]
    made = zarr.create_array(
        shape=5, chunks=2, dtype=object, filters=[numcodecs.VLenArray("<i4")], zarr_format=2
    )
    made[:3] = values
    assert [list(item) for item in made[:3]] == [[0, 1, 2], [], [0]]


def test_objects_need_a_codec():
    with pytest.raises(MetadataValidationError, match="/codecs/0: (?s:.)*vlen-utf8"):
        zarr.create_array(shape=3, dtype=object, zarr_format=2)


def test_version_3_has_no_objects():
    with pytest.raises(
        MetadataValidationError, match="/data_type: .* no data type for Python objects"
    ):
        zarr.create_array(shape=3, dtype=object, filters=[numcodecs.JSON()], zarr_format=3)
