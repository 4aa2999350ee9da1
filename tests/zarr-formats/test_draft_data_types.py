"""Data types of the text and their fill values, and fallbacks of unknown types."""

import struct
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import (
    EXTENSION,
    SPEC,
    array_store,
    document_of,
    metadata_of,
    open_a,
    ramp,
    store_of,
)
from hypothesis import given
from hypothesis import strategies as st
from zarr_core import messages
from zarr_core.config import config
from zarr_core.errors import (
    MetadataError,
    StoreReadOnlyError,
    UnknownExtensionError,
)
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_formats.draft.fill_values import read_fill_value, write_fill_value

TYPES = f"{SPEC}extensions/data-types/"
BIG = {"type": f"{SPEC}codecs/endian/1.0", "configuration": {"endian": "big"}}


def extension(name, kind, **more):
    return {"extension": f"{TYPES}{name}/1.0", "type": kind, **more}


def some(dtype):
    """Different elements of a data type, shape (4, 6)."""
    if dtype.kind in "SU":
        return np.array([f"{number}é" if dtype.kind == "U" else f"{number}" for number in range(24)],
                        dtype).reshape(4, 6)  # fmt: skip
    if dtype.kind == "V" and dtype.fields:
        values = np.zeros(24, dtype)
        for name in dtype.names:
            field = dtype[name]
            values[name] = some(field).ravel() if field.kind != "U" else "x"
        return values.reshape(4, 6)
    if dtype.kind == "V":
        return np.arange(24 * dtype.itemsize, dtype="u1").view(dtype).reshape(4, 6)
    return np.arange(24).astype("i8").astype(dtype).reshape(4, 6)


def check(store, dtype, values, **options):
    """Elements are stored in a byte order and read back."""
    array = open_a(store, **options)
    assert array.dtype == dtype.newbyteorder("=")
    array[...] = values
    assert open_a(store, **options)[...].tobytes() == values.astype(array.dtype).tobytes()
    assert bytes(store.get("data/a/c0/0")) == np.ascontiguousarray(values[:2, :3]).tobytes()


@pytest.mark.parametrize("typestr", ["<f8", ">f8", "<i2", ">u4", "|b1", "|u1", ">c16", "|V3"])
def test_typestrs_of_the_examples_are_read(typestr):
    dtype = np.dtype(typestr)
    fill = {"b": False, "c": [0, 0], "V": "0x000000"}.get(dtype.kind, 0)
    check(array_store(data_type=typestr, fill_value=fill), dtype, some(dtype))


def test_the_endian_codec_outweighs_a_typestr():
    values = some(np.dtype("<i4"))
    little = {"type": f"{SPEC}codecs/endian/1.0", "configuration": {"endian": "little"}}
    check(array_store(data_type=">i4", codecs=[little]), values.dtype, values)


@pytest.mark.parametrize(
    ("fields", "dtype"),
    [
        (
            [["name", "<U10"], ["age", "<i4"], ["weight", "<f4"]],
            [("name", "<U10"), ("age", "<i4"), ("weight", "<f4")],
        ),
        ([["a", ">i2"], ["b", ">f8"]], [("a", ">i2"), ("b", ">f8")]),
        ([["a", ">i2"], ["b", "<f8"]], [("a", ">i2"), ("b", "<f8")]),
        ([["a", "int16"], ["b", "S4"], ["c", "r24"]], [("a", "<i2"), ("b", "S4"), ("c", "V3")]),
        (
            [["when", {"extension": f"{TYPES}datetime/1.0", "type": "<M8[s]"}]],
            [("when", "<M8[s]")],
        ),
        ([["in", [["x", "<f4"], ["y", "|u1"]]]], [("in", [("x", "<f4"), ("y", "u1")])]),
    ],
)
def test_structures(fields, dtype):
    dtype = np.dtype(dtype)
    store = array_store(data_type=extension("struct", fields), fill_value=None)
    check(store, dtype, some(dtype))


@pytest.mark.parametrize("kind", ["<c8", ">c16", "complex64"])
def test_the_complex_extension_defines_no_identifiers_and_gets_those_of_the_core(kind):
    dtype = np.dtype(kind)
    store = array_store(data_type=extension("complex", kind), fill_value=[0, 0])
    check(store, dtype, some(dtype))


def test_later_minor_versions_of_an_extension_are_understood():
    described = {"extension": f"{TYPES}datetime/1.3", "type": "<M8[ns]"}
    assert metadata_of(data_type=described).data_type.name == "numpy.datetime64"
    described["extension"] = f"{TYPES}datetime/2.0"
    assert metadata_of(data_type=described).data_type.name == described["extension"]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("i4", "int32"),
        ("c16", "complex128"),
        ("?", "bool"),
        ("V3", "r24"),
        ("M8[ns]", extension("datetime", "{}M8[ns]", fallback="r64")),
        ("m8[D]", extension("datetime", "{}m8[D]", fallback="r64")),
        ("S7", extension("string", "S7", fallback="r56")),
        ("U2", extension("string", "{}U2", fallback="r64")),
    ],
)
def test_written_numpy_data_types(order, code, expected):
    dtype = np.dtype(f"{order}{code}")
    store = store_of({}, None)
    array = zarr.create_array(
        store, path="a", data=some(dtype), chunks=(2, 3), dtype=dtype, zarr_format="draft",
        compressors=None, attributes={"x": 1},
    )  # fmt: skip
    written = document_of(store, "meta/a.array.json")
    if isinstance(expected, dict):
        fallback = "int64" if dtype.kind in "mM" and order == "<" else expected["fallback"]
        expected = {**expected, "type": expected["type"].format(order), "fallback": fallback}
    assert written["data_type"] == expected
    big = order == ">" and dtype.kind in "ic"
    assert written.get("codecs", []) == ([BIG] if big else [])
    assert bytes(store.get("data/a/c0/0")) == np.ascontiguousarray(some(dtype)[:2, :3]).tobytes()
    assert open_a(store)[...].tobytes() == array[...].tobytes() == some(array.dtype).tobytes()


def test_written_structure():
    dtype = np.dtype([("n", "<U2"), ("in", [("s", "S3"), ("v", "V2")])])
    store = store_of({}, None)
    zarr.create_array(store, path="a", shape=4, dtype=dtype, zarr_format="draft")
    assert document_of(store, "meta/a.array.json")["data_type"] == extension(
        "struct", [["n", "<U2"], ["in", [["s", "S3"], ["v", "r16"]]]], fallback="r104"
    )
    values = np.array([("ab", ("xyz", b"\1\2"))] * 4, dtype)
    open_a(store)[...] = values
    assert open_a(store)[...].tobytes() == values.tobytes()


def test_a_data_type_of_a_uri_is_found_by_it():
    from zarr_core.data_types.integer import Integer

    class Mine(Integer):
        @classmethod
        def from_definition(cls, definition):
            assert dict(definition.configuration) == {"type": [1], "unit": "m"}
            return cls("int16")

    given = {"data_type": {EXTENSION: Mine}}
    described = {"extension": EXTENSION, "type": [1], "configuration": {"unit": "m"}}
    store = array_store(data_type=described, fill_value=3)
    array = open_a(store, extensions=given)
    assert (array.dtype, array[0, 0]) == ("int16", 3)
    array.attrs["x"] = 1
    assert document_of(store, "meta/a.array.json")["data_type"] == described


NUMBERS = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128", "r8", "r24",
]  # fmt: skip


def fill_of(name, value):
    return open_a(array_store(data_type=name, fill_value=value)).fill_value


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


@pytest.fixture(autouse=True)
def _forget():
    messages._issued.clear()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("bool", "0b00000001", True),
        ("int8", "0b10000000", -128),
        ("complex64", "0x3f800000c0000000", 1 - 2j),
    ],
)
def test_fill_values_are_digits(name, value, expected):
    assert fill_of(name, value) == expected


@pytest.mark.parametrize(
    ("described", "value"),
    [
        ("<U4", None), ("|S5", None), ("bool", "0x02"), ("r24", "0x0102"),
        (extension("datetime", "<i8"), None), (extension("datetime", "<M8[x]"), None),
        (extension("string", "|V3"), None), (extension("struct", "<i4"), None),
    ],
)  # fmt: skip
def test_types_and_values_of_no_form(described, value):
    with pytest.raises(MetadataError, match="/data_type|/fill_value"):
        open_a(array_store(data_type=described, fill_value=value))


def unknown(*fallbacks, **changes):
    given = fallbacks[0] if len(fallbacks) == 1 else list(fallbacks)
    described = {"extension": EXTENSION, "type": "quaternion", "fallback": given}
    store = array_store(data_type=described, **changes)
    for i in range(2):
        for j in range(2):
            chunk = ramp((4, 6))[2 * i : 2 * i + 2, 3 * j : 3 * j + 3]
            store.set(f"data/a/c{i}/{j}", chunk.astype("<i4").tobytes())
    return store


def test_one_fallback():
    with pytest.warns(UserWarning, match=f"'{EXTENSION}' is not installed.*read as 'int32'"):
        array = open_a(unknown("int32"))
    assert array.dtype == "int32"
    assert array[...].tolist() == ramp((4, 6)).tolist()


def test_the_fill_value_of_an_unknown_type_is_that_of_the_fallback():
    with config.set(fallback="use"):
        for fill_value, expected in ((7, 7), ({"w": 1}, 0), (None, 0)):
            store = unknown("int32", fill_value=fill_value)
            store.erase("data/a/c0/0")
            assert open_a(store)[0, 0] == expected


def test_the_warning_comes_once_for_each_array():
    for store in (unknown("int32"), unknown("int32")):
        with pytest.warns(UserWarning, match="read as 'int32'") as said:
            open_a(store)
        assert len(said) == 1
        with warnings.catch_warnings(action="error"):
            open_a(store)


def test_the_policy_error_rejects():
    with config.set(fallback="error"), pytest.raises(UnknownExtensionError, match=EXTENSION):
        open_a(unknown("int32"))


def test_the_policy_use_is_silent():
    with config.set(fallback="use"), warnings.catch_warnings(action="error"):
        assert open_a(unknown("int32")).dtype == "int32"


def test_without_a_known_fallback_the_array_is_rejected():
    for fallbacks in (("int33",), ("int33", {"extension": EXTENSION, "type": 1}), ([],)):
        with pytest.raises(UnknownExtensionError, match=EXTENSION):
            open_a(unknown(*fallbacks))


def test_fallback_array_is_not_written():
    store = unknown("int32")
    with config.set(fallback="use"):
        array = open_a(store, mode="r+")
    before = bytes(store.get("data/a/c0/0"))
    with pytest.raises(StoreReadOnlyError):
        array[0, 0] = 5
    assert bytes(store.get("data/a/c0/0")) == before
