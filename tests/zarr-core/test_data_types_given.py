"""Data types as arguments, in addition to test_create.py."""

import json
import sys

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.data_types.raw import RawBits
from zarr_core.errors import MetadataValidationError, SelectionError
from zarr_core.extension import DataType, ExtensionDefinition
from zarr_core.normalize.data_types import parse_data_type

CORE = [*"?bBhHiIlLqQefdFD", "V2"]


@pytest.mark.parametrize("code", CORE)
@pytest.mark.parametrize("order", "<>=")
def test_every_numpy_dtype_that_core_has(code, order):
    dtype = np.dtype(code).newbyteorder(order)
    data_type, byte_order = parse_data_type(dtype)
    assert data_type.numpy_dtype == np.dtype(code)
    swapped = not dtype.isnative
    assert byte_order == (("big" if dtype.str[0] == ">" else "little") if swapped else None)
    assert parse_data_type(data_type) == (data_type, None)
    assert parse_data_type(data_type.to_definition()) == (data_type, None)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([("a", ">i4"), ("b", ">f8"), ("c", "S3")], "big"),
        ([("a", ">i4"), ("b", "<f8")], None),  # stored in the byte order of the machine
        ([("a", "<i4"), ("b", "<f8")], None),
        ([("n", [("a", ">i4")]), ("c", "u1")], "big"),
    ],
)
@pytest.mark.skipif(sys.byteorder == "big", reason="asks for the order that is not the machine's")
def test_byte_order_of_fields(fields, expected):
    assert parse_data_type(fields)[1] == expected


def test_assigned_values_are_converted_by_the_data_type():
    """Before NumPy casts it: complete elements, but not single fields."""

    class Halves(RawBits):
        @classmethod
        def from_definition(cls, definition):
            return cls(2)

        @property
        def numpy_dtype(self):
            return np.dtype([("low", "u1"), ("high", "u1")])

        def as_elements(self, value):
            number = np.asarray(value)
            if number.dtype.names:
                return number
            if (number > 0xFFFF).any():
                raise OverflowError("two bytes hold less")
            return number.astype("<u2").view(self.numpy_dtype)

    array = zarr.open_array(
        shape=4, chunks=3, dtype="r16", mode="w", extensions={"data_type": {"r16": Halves}}
    )
    array[0] = 0x201
    array[1:3] = np.array([0x403, 0x605])
    array.vindex[[3]] = [7]
    array["low"] = np.uint8(9)
    array.append([0xFFFF])
    assert array[...].tobytes() == bytes([9, 2, 9, 4, 9, 6, 9, 0, 255, 255])
    for write in (lambda: array.append([1 << 16]), lambda: array.__setitem__(0, 1 << 16)):
        with pytest.raises(SelectionError, match="cannot be stored: two bytes hold less"):
            write()


class Address(DataType):
    """An IPv4 address, whose fill value is text in metadata."""

    @classmethod
    def from_definition(cls, definition):
        return cls()

    def to_definition(self):
        return ExtensionDefinition("acme.ipv4")

    @property
    def numpy_dtype(self):
        return np.dtype("uint32")

    def fill_value_from_json(self, value):
        parts = [int(part) for part in value.split(".")]
        if len(parts) != 4:
            raise ValueError(f"an address has four parts, not {value!r}")
        return np.array(int.from_bytes(bytes(parts), "big"), "uint32")

    def fill_value_to_json(self, value):
        return ".".join(map(str, int(value).to_bytes(4, "big")))


def test_fill_values_as_the_text_of_metadata():
    with zarr.override_extensions({"data_type": {"acme.ipv4": Address}}):
        for given in ("10.0.0.1", 0x0A000001, np.uint32(0x0A000001)):
            store = {}
            array = zarr.create_array(store, shape=2, dtype={"name": "acme.ipv4"}, fill_value=given)
            assert json.loads(bytes(store["zarr.json"]))["fill_value"] == "10.0.0.1"
            assert array[...].tolist() == [0x0A000001] * 2
        with pytest.raises(
            MetadataValidationError, match=r"/fill_value: an address has four parts"
        ):
            zarr.create_array({}, shape=2, dtype={"name": "acme.ipv4"}, fill_value="10")
