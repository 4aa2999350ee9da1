"""The core data types: names, NumPy dtypes, and the family of raw types.

tests/kit has the requirements of data types, such as that all fill values survive JSON.
"""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest
from core_data_types import CLASSES, COMPLEX, FLOATS, INTEGERS, bits_of, data_type
from zarr_core.data_types.complex import Complex
from zarr_core.data_types.floating import Floating
from zarr_core.data_types.integer import Integer
from zarr_core.data_types.raw import RawBits
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError, UnknownExtensionError
from zarr_core.registry.resolve import create_extension

# --- definitions ---


@pytest.mark.parametrize("name", CLASSES)
def test_a_data_type_is_its_name(name):
    made = data_type(name)
    assert made.to_definition() == ExtensionDefinition(name)
    # The specification: "the value must be the data type identifier provided as a string".
    assert made.to_definition().to_json() == name
    assert made == data_type(name)
    assert hash(made) == hash(data_type(name))
    assert pickle.loads(pickle.dumps(made)) == made
    assert made != data_type("bool") or name == "bool"


@pytest.mark.parametrize("name", CLASSES)
def test_numpy_dtypes_in_both_byte_orders(name):
    made = data_type(name)
    assert made.numpy_dtype.isnative
    assert made.item_size == made.numpy_dtype.itemsize
    for order in "=<>":
        assert type(made).from_numpy(made.numpy_dtype.newbyteorder(order)) == made
    if not name.startswith("r"):
        assert made.numpy_dtype == np.dtype(name)


def test_each_dtype_has_one_data_type():
    for dtype in map(np.dtype, ["?", *"bBhHiIlLqQefdFD", "V5"]):
        found = [
            made for cls in set(CLASSES.values()) if (made := cls.from_numpy(dtype)) is not None
        ]
        assert [made.numpy_dtype for made in found] == [dtype]


@pytest.mark.parametrize(
    "dtype",
    [
        np.longdouble,
        np.clongdouble,
        "M8[ns]",
        "m8[s]",
        "S3",
        "U3",
        "O",
        "V0",
        [("a", "i4")],
        ("i4", (2,)),
    ],
)
def test_other_dtypes_have_none(dtype):
    assert all(cls.from_numpy(np.dtype(dtype)) is None for cls in set(CLASSES.values()))


def test_numbers_that_others_have_registered_are_not_raw_bytes():
    """NumPy dtypes of kind V, without fields."""
    dtypes = [ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
    for dtype in map(np.dtype, dtypes):
        assert all(cls.from_numpy(dtype) is None for cls in set(CLASSES.values()))


def test_byte_order_matters_for_numbers_of_several_bytes():
    with_order = {name for name in CLASSES if data_type(name).has_byte_order}
    assert with_order == {*INTEGERS, *FLOATS, *COMPLEX} - {"int8", "uint8"}


@pytest.mark.parametrize("cls", [Integer, Floating, Complex])
def test_other_names_are_rejected(cls):
    with pytest.raises(ValueError, match="unknown data type 'int128'"):
        cls("int128")


@pytest.mark.parametrize("name", CLASSES)
def test_the_default_fill_value_is_zero(name):
    made = data_type(name)
    value = made.default_fill_value()
    assert value.shape == ()
    assert not any(value.tobytes())
    assert bits_of(made.fill_value_from_json(made.fill_value_to_json(value))) == bits_of(value)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, *COMPLEX])
def test_values_in_the_other_byte_order_are_encoded_alike(name):
    made = data_type(name)
    value = np.array(3, name)
    swapped = value.astype(value.dtype.newbyteorder("S"))
    assert made.fill_value_to_json(swapped) == made.fill_value_to_json(value)
    assert bits_of(made.cast(swapped)) == bits_of(value)


# --- the family of raw types ---


@pytest.mark.parametrize(
    "name", ["r", "r0", "r08", "r-8", "r8 ", "r8\n", "R8", "r٨", "raw", "r8x", "ar8"]
)
def test_names_of_others(name):
    with pytest.raises(UnknownExtensionError):
        create_extension("data_type", ExtensionDefinition(name))


@pytest.mark.parametrize("name", ["r12", "r1", "r17179869184", "r" + "8" * 5000, "int8"])
def test_sizes_that_cannot_be(name):
    with pytest.raises(ExtensionConfigurationError, match="multiple of 8"):
        RawBits.from_definition(ExtensionDefinition(name))


def test_sizes_that_can_be():
    assert RawBits.from_definition(ExtensionDefinition("r24")) == RawBits(3)
    largest = RawBits.from_definition(ExtensionDefinition("r17179869176"))
    assert largest.numpy_dtype.itemsize == 2**31 - 1
    with pytest.raises(ValueError, match="an element must have 1 to 2147483647 bytes"):
        RawBits(0)
    with pytest.raises(ExtensionConfigurationError, match="/configuration/unit: is not a member"):
        create_extension("data_type", ExtensionDefinition("r24", {"unit": "m"}))
