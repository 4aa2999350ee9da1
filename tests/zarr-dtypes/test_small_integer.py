"""Integers of 2 and 4 bits, one a byte."""

import ml_dtypes
import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError, SelectionError
from zarr_dtypes.small_integer import SmallInteger

RANGES = {"int2": (-2, 1), "int4": (-8, 7), "uint2": (0, 3), "uint4": (0, 15)}


@pytest.mark.parametrize(("name", "limits"), RANGES.items())
def test_fill_values(name, limits):
    made = SmallInteger(name)
    low, high = limits
    assert made.range == limits == (ml_dtypes.iinfo(name).min, ml_dtypes.iinfo(name).max)
    for number in range(low, high + 1):
        value = made.fill_value_from_json(number)
        assert int(value[()]) == number
        assert value.tobytes() == np.array(number, made.numpy_dtype).tobytes()
        written = made.fill_value_to_json(value)
        assert type(written) is int
        assert written == number
        for given in (number, float(number), np.int64(number), np.array(number, "f4"), value,
                      value[()], np.array(number, ml_dtypes.bfloat16)):  # fmt: skip
            assert made.cast(given).tobytes() == value.tobytes()
    for value in (low - 1, high + 1, 10**30):
        with pytest.raises(ValueError, match=rf"out of range for {name} \({low} to {high}"):
            made.fill_value_from_json(value)
        with pytest.raises(ValueError, match=f"out of range for {name}"):
            made.cast(value)


@pytest.mark.parametrize(
    "value", [0.5, 1j, "1", b"1", None, [1], np.zeros(1, "i1"), np.void(b"a"), float("nan")]
)
def test_rejected_arguments(value):
    with pytest.raises(ValueError, match="int4 requires an integer"):
        SmallInteger("int4").cast(value)


def test_names_and_dtypes():
    for name in RANGES:
        made = SmallInteger(name)
        dtype = np.dtype(getattr(ml_dtypes, name))
        assert made.numpy_dtype == dtype
        assert (made.item_size, made.has_byte_order) == (1, False)
        for order in "<>=":
            assert SmallInteger.from_numpy(dtype.newbyteorder(order)) == made
        assert made.to_definition().to_json() == name
        assert bool(made.cast(True)[()]) is True
    for dtype in ("i1", "u1", "?", "V1", ml_dtypes.float8_e5m2, [("a", ml_dtypes.int4)]):
        assert SmallInteger.from_numpy(np.dtype(dtype)) is None
    with pytest.raises(ValueError, match="unknown data type 'int3'; expected one of int2, int4"):
        SmallInteger("int3")


def test_python_numbers_that_do_not_fit_are_rejected():
    array = zarr.create_array(shape=4, dtype="int4", chunks=2)
    for value in (8, -9, [0, 1, 2, 8], 2**70, 8.0, 1e300, float("nan"), float("-inf")):
        with pytest.raises(SelectionError, match=r"out of range for int4 \(-8 to 7"):
            array[...] = value
    with pytest.raises(SelectionError, match="9 is out of range"):
        array.append([9])
    array[...] = [-8, 7, 0, True]
    assert array[...].astype(int).tolist() == [-8, 7, 0, 1]
    array[:2] = 3.0
    assert array[...].astype(int).tolist() == [3, 3, 0, 1]
    # Of arrays, the lowest bits are kept, as NumPy does it.
    array[...] = np.array([8, 9, -9, 16])
    assert array[...].astype(int).tolist() == [-8, -7, 7, 0]
    assert zarr.zeros(2, dtype="uint2")[...].astype(int).tolist() == [0, 0]
    assert zarr.ones(2, dtype="uint2")[...].astype(int).tolist() == [1, 1]
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        zarr.create_array(shape=1, dtype="uint2", fill_value=4)
