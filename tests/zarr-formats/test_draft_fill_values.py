"""Fill values of the core data types in the form of the text."""

import struct

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import SPEC, array_store, document_of, metadata_of, open_a, store_of
from hypothesis import given
from hypothesis import strategies as st
from zarr_core.errors import MetadataError
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_formats.draft.fill_values import read_fill_value, write_fill_value

NUMBERS = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128", "r8", "r24",
]  # fmt: skip


def fill_of(name, value):
    return open_a(array_store(data_type=name, fill_value=value)).fill_value


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("bool", True, True),
        ("bool", "0b00000001", True),
        ("bool", "0x00", False),
        ("int8", -128, -128),
        ("int8", "0b10000000", -128),
        ("int16", "0xffFE", -2),
        ("uint16", "0x0102", 0x0102),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("int64", -(2**63), -(2**63)),
        ("float64", 0.1, 0.1),
        ("float32", 7, 7.0),
        ("float64", "+Infinity", np.inf),
        ("float16", "-Infinity", -np.inf),
        ("float64", "0x400921fb54442d18", np.pi),
        ("float16", "0b0011110000000001", np.float16(1.001)),
        ("complex128", [1.5, -2], 1.5 - 2j),
        ("complex64", ["+Infinity", "0xbf800000"], complex(np.inf, -1)),
        ("complex64", "0x3f800000c0000000", 1 - 2j),
    ],
)
def test_forms_of_fill_values(name, value, expected):
    found = fill_of(name, value)
    assert found == expected
    assert np.asarray(found).dtype == np.dtype(name)


def test_not_a_number_and_its_payloads():
    assert np.isnan(fill_of("float32", "NaN"))
    for name, digits in (("float32", "ffc00001"), ("float64", "7ff4000000000001")):
        found = np.asarray(fill_of(name, f"0x{digits}"))
        assert found.tobytes()[::-1].hex() == digits


def test_raw_bits_are_digits():
    assert bytes(fill_of("r24", "0x01ff01")) == b"\x01\xff\x01"
    assert bytes(fill_of("r16", "0b0000000111111111")) == b"\x01\xff"


INVALID = {
    "int32": ["0x7", "0x0000000007", 2**31, 1.5, 1.0, True, "7", "NaN", "0xgg000000"],
    "int8": ["0b1"],
    "uint8": [-1],
    "bool": ["0x02", 1, "true"],
    "float32": [True, "nan", [1]],
    "float64": ["0x7fc00000"],
    "complex64": ["0x3f800000", 1, [1], [1, None]],
    "r24": ["0x0102", "abc", {"a": 1}],
    "r80000000": ["0x00"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name in INVALID for value in INVALID[name]]
)
def test_invalid_value_of_the_type(name, value):
    with pytest.raises(MetadataError, match="/fill_value"):
        open_a(array_store(data_type=name, fill_value=value))


@pytest.mark.parametrize(
    ("dtype", "value", "written"),
    [
        ("f4", np.inf, "+Infinity"),
        ("f8", -np.inf, "-Infinity"),
        ("f8", np.nan, "NaN"),
        ("f8", 0.5, 0.5),
        ("f4", np.array(0x7FC00001, "<u4").view("<f4")[()], "0x7fc00001"),
        ("c8", complex(np.inf, 1), ["+Infinity", 1.0]),
        ("i2", -5, -5),
        ("?", True, True),
        ("V3", b"\1\2\3", "0x010203"),
        ("V200", bytes(range(200)), "0x" + bytes(range(200)).hex()),
    ],
)
def test_written_metadata(dtype, value, written):
    store = store_of({}, None)
    array = zarr.create_array(
        store, path="a", shape=2, dtype=dtype, fill_value=value, zarr_format="draft"
    )
    assert document_of(store, "meta/a.array.json")["fill_value"] == written
    again = np.asarray(open_a(store).fill_value)
    assert again.tobytes() == np.asarray(array.fill_value).tobytes()
    assert again.tobytes() == np.array(value, dtype).tobytes()


@given(st.sampled_from(NUMBERS), st.binary(min_size=16, max_size=16))
def test_all_bits_there_and_back(name, data):
    data_type = create_extension("data_type", ExtensionDefinition(name))
    data = data[: data_type.item_size] if name != "bool" else bytes([data[0] & 1])
    value = np.frombuffer(data, data_type.numpy_dtype).reshape(())
    form = data_type.fill_value_to_json(value)
    read = read_fill_value(write_fill_value(form, name), name)
    assert data_type.fill_value_from_json(read).tobytes() == value.tobytes()
    if name[0] in "iuf":  # the digits of a number are those of its bits
        digits = data[::-1].hex()
        for text in (f"0x{digits}", f"0b{int(digits, 16):0{4 * len(digits)}b}"):
            found = data_type.fill_value_from_json(read_fill_value(text, name))
            assert found.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    ("name", "kind", "value", "expected"),
    [
        ("datetime", "<M8[s]", 7, np.datetime64(7, "s")),
        ("datetime", "<m8[s]", "NaT", np.timedelta64("NaT", "s")),
        ("string", "S3", "YWI=", b"ab"),
        ("string", "<U3", "ab", "ab"),
        ("struct", [["x", "<i2"], ["y", "|u1"]], "AQAC", (1, 2)),
    ],
)
def test_extensions_read_their_own(name, kind, value, expected):
    """As written by zarr-python 2; the texts of the extensions do not define them."""
    described = {"extension": f"{SPEC}extensions/data-types/{name}/1.0", "type": kind}
    found = fill_of(described, value)
    assert (
        np.isnat(found)
        if value == "NaT"
        else found.item() == getattr(expected, "item", lambda: expected)()
    )
    assert metadata_of(data_type=described, fill_value=None).fill_value_undefined


def test_without_fill_value_all_chunks_are_stored():
    described = {"extension": f"{SPEC}extensions/data-types/datetime/1.0", "type": "<M8[s]"}
    array = open_a(array_store(data_type=described, fill_value=None))
    assert array.fill_value is None
    array[...] = np.zeros((4, 6), "M8[s]")
    assert array.nchunks_initialized == 4
    assert struct.unpack("<q", bytes(array.store.get("data/a/c0/0"))[:8]) == (0,)


def test_no_fill_value_means_the_default_in_a_new_array():
    store = {}
    array = zarr.create_array(store, shape=3, dtype="u2", fill_value=None, zarr_format="draft")
    assert array.fill_value == 0
    assert zarr.open_array(store)[...].tolist() == [0, 0, 0]
