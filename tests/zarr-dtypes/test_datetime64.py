"""numpy.datetime64 and numpy.timedelta64: units, fill values to the step, what users give."""

import datetime
import sys

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError
from zarr_core.extension import ExtensionDefinition, create_extension, data_type_for
from zarr_dtypes.datetime64 import DateTime64
from zarr_dtypes.timedelta64 import TimeDelta64

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"]


@pytest.mark.parametrize("scale_factor", [1, 10, 2**31 - 1])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("cls", [DateTime64, TimeDelta64])
def test_every_unit(cls, unit, scale_factor):
    data_type = cls(unit, scale_factor)
    dtype = data_type.numpy_dtype
    assert np.datetime_data(dtype) == (unit, scale_factor)
    assert dtype.kind == ("M" if cls is DateTime64 else "m")
    if unit == "generic":  # stored ones are read; new ones could not be filled
        with pytest.raises(ValueError, match="no unit"):
            data_type_for(dtype)
    else:
        assert data_type_for(dtype) == data_type
        assert data_type_for(dtype.newbyteorder()) == data_type
    assert create_extension("data_type", data_type.to_definition()) == data_type
    assert data_type.item_size == 8
    assert data_type.has_byte_order


@pytest.mark.parametrize("cls", [DateTime64, TimeDelta64])
def test_both_spellings_of_microseconds(cls):
    assert cls("μs") == cls("us")
    name = cls("us").to_definition().name
    document = ExtensionDefinition(name, {"unit": "μs", "scale_factor": 3})
    assert create_extension("data_type", document).to_definition().configuration["unit"] == "us"


def test_the_spelling_of_a_document_stays():
    array = zarr.create_array(shape=2, dtype="M8[us]")
    document = array.store.get("zarr.json").replace(b'"us"', '"μs"'.encode())
    array.store.set("zarr.json", document)
    array = zarr.open(array.store)
    array.attrs["a"] = 1
    assert '"μs"'.encode() in array.store.get("zarr.json")
    assert array.dtype == "M8[us]"


def test_unwritten_times_are_not_a_time():
    array = zarr.create_array(shape=3, dtype="M8[s]")
    assert array.metadata.fill_value == "NaT"
    assert np.isnat(array[...]).all()
    array[...] = np.datetime64("NaT", "s")
    assert array.nchunks_initialized == 0
    assert zarr.zeros(2, dtype="M8[s]")[0] == np.datetime64(0, "s")


@pytest.mark.parametrize(
    ("given_", "dtype", "count"),
    [
        (np.datetime64("2020-01-01"), "M8[s]", 1577836800),
        ("2020-01-01T00:00:01", "M8[s]", 1577836801),
        (datetime.datetime(1970, 1, 2), "M8[h]", 24),
        (datetime.date(1970, 1, 3), "M8[D]", 2),
        (np.datetime64("1980", "Y"), "M8[10Y]", 1),
        (5, "M8[10us]", 5),
        (np.int64(-5), "M8[us]", -5),
        ("NaT", "M8[us]", -(2**63)),
        (np.datetime64("NaT", "ns"), "M8[Y]", -(2**63)),
        (np.array("2020-01-01", "M8[D]"), "M8[D]", 18262),
        (np.timedelta64(3, "m"), "m8[s]", 180),
        (datetime.timedelta(seconds=2), "m8[ms]", 2000),
        (np.timedelta64("NaT", "s"), "m8[ms]", -(2**63)),
    ],
)
def test_fill_values_that_users_give(given_, dtype, count):
    array = zarr.create_array(shape=1, dtype=dtype, fill_value=given_)
    assert array[...].view("i8").tolist() == [count]


@pytest.mark.parametrize(
    ("given_", "dtype"),
    [
        (np.datetime64("2020-01-01T00:00:00.5"), "M8[s]"),  # half a step
        (np.datetime64("1985", "Y"), "M8[10Y]"),
        (np.datetime64("9999-01-01"), "M8[as]"),  # beyond the range
        (2**63, "M8[s]"), (1.5, "M8[s]"), (True, "M8[s]"), ("soon", "M8[s]"),
        (np.timedelta64(1, "s"), "M8[s]"), (np.datetime64("2020"), "m8[s]"),
        (np.timedelta64(1, "Y"), "m8[D]"),  # of unknown length
        ("5", "m8[s]"), (["2020", "2021"], "M8[Y]"),
    ],
)  # fmt: skip
def test_oversized_values_are_rejected(given_, dtype):
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        zarr.create_array(shape=1, dtype=dtype, fill_value=given_)


GENERIC = {"unit": "generic", "scale_factor": 1}
TIMES = {
    "M8": {"name": "numpy.datetime64", "configuration": GENERIC},
    "m8": {"name": "numpy.timedelta64", "configuration": GENERIC},
}


@pytest.mark.parametrize("layout", [{"chunks": 3}, {"chunks": 2, "shards": 4}, {"chunks": 9}])
@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("dtype", TIMES)
def test_generic_times_in_the_order_of_no_machine(dtype, order, layout):
    # NumPy says that it swaps the bytes of times without a unit, and copies them.
    values = np.arange(9 * np.dtype(dtype).itemsize, dtype="u1").view(dtype)
    serializer = {"name": "bytes", "configuration": {"endian": order}}
    array = zarr.create_array(
        shape=9, dtype=TIMES[dtype], serializer=serializer, compressors=None, **layout
    )
    array[...] = values
    assert array[...].tobytes() == values.tobytes()
    assert array[2:7:2].tobytes() == values[2:7:2].tobytes()
    if layout == {"chunks": 9}:
        swapped = values if order == sys.byteorder else values.byteswap()
        assert array.store.get("c/0") == swapped.tobytes()
    array[1:3] = values[4:6]
    assert array[1:3].tobytes() == values[4:6].tobytes()
    assert array[3:].tobytes() == values[3:].tobytes()


def test_parts_of_large_raw_chunks_of_generic_times():
    values = np.arange(1 << 16, dtype="i8").view("M8")
    serializer = {"name": "bytes", "configuration": {"endian": "big"}}
    array = zarr.create_array(
        shape=values.shape,
        dtype=TIMES["M8"],
        serializer=serializer,
        compressors=None,
        chunks=1 << 15,
    )
    array[...] = values
    assert array[5:9].view("i8").tolist() == [5, 6, 7, 8]
    assert array.vindex[[40000, 3]].view("i8").tolist() == [40000, 3]


def test_units_are_converted_as_numpy_does():
    array = zarr.create_array(shape=3, dtype="m8[s]")
    array[...] = np.array([1, 2, 3], "m8[m]")
    assert array[...].tolist() == np.array([60, 120, 180], "m8[s]").tolist()
    assert array.fill_value.dtype == "m8[s]"
