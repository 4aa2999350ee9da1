"""``"fill_value": null`` in version 3, which zarrita.js stores if no fill value is given."""

import json
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError


def with_null(data_type, **options):
    store = zarr.MemoryStore()
    zarr.create_array(store, shape=4, chunks=2, dtype=data_type, **options)
    document = json.loads(bytes(store.get("zarr.json")))
    document["fill_value"] = None
    store.set("zarr.json", json.dumps(document).encode())
    return store


@pytest.mark.parametrize(
    "data_type", ["bool", "int8", "uint64", "float16", "float64", "complex64", "r16"]
)
def test_missing_chunks_are_zero_with_a_warning(data_type):
    store = with_null(data_type)
    with pytest.warns(UserWarning, match=f"fill value is null.*'{data_type}'") as caught:
        array = zarr.open_array(store)
    assert str(store) in str(caught[0].message)
    assert array[...].tobytes() == bytes(4 * array.dtype.itemsize)


@pytest.mark.filterwarnings("ignore:.*fill value is null")
def test_every_chunk_is_stored():
    # Other readers may use any value for a missing chunk.
    store = with_null("int32")
    array = zarr.open_array(store, mode="r+")
    array[:2] = 0
    assert store.exists("c/0")
    assert not store.exists("c/1")
    array[3] = 7
    assert zarr.open_array(store)[...].tolist() == [0, 0, 0, 7]


@pytest.mark.filterwarnings("ignore:.*fill value is null")
def test_a_copy_reads_the_same():
    copied = zarr.copy(zarr.open_array(with_null("int32")), {})
    assert copied[...].tolist() == [0] * 4


def test_new_arrays_have_a_fill_value():
    for fill_value in (None, ...):
        store = zarr.MemoryStore()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            zarr.create_array(store, shape=4, dtype="int32", fill_value=fill_value)
            zarr.open_array(store)
        assert json.loads(bytes(store.get("zarr.json")))["fill_value"] == 0


@pytest.mark.parametrize("wrong", ["", [], {}, "null", [None]])
def test_nothing_else_is_accepted(wrong):
    store = with_null("int32")
    document = json.loads(bytes(store.get("zarr.json"))) | {"fill_value": wrong}
    store.set("zarr.json", json.dumps(document).encode())
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        zarr.open_array(store)


@pytest.mark.filterwarnings("ignore:.*fill value is null")
def test_metadata_stays_as_it_was_read():
    store = with_null("int32")
    zarr.open_array(store, mode="r+").attrs["changed"] = True
    assert json.loads(bytes(store.get("zarr.json")))["fill_value"] is None
    assert np.array_equal(zarr.open_array(store)[...], np.zeros(4, "int32"))
