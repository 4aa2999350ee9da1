"""Data types of the text: names, raw bits, extensions."""

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import EXTENSION, SPEC, array_store, document_of, metadata_of, open_a, store_of
from zarr_core.errors import ExtensionError, MetadataValidationError

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
    "name",
    ["int128", "<M8[ns]", "<U4", "|S5", "|O", "text", "<f16", "f8", "string", "r", "float8_e4m3"],
)
def test_names_of_no_core_data_type(name):
    with pytest.raises((ExtensionError, MetadataValidationError), match="data.type"):
        open_a(array_store(data_type=name))


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


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("datetime", ["M8[ns]", "<M8", "<M8[]", "<M8[x]", "|M8[ns]", "<i8", 8, None, []]),
        ("string", ["S", "S0", "U3", "<S3x", "<f8", "<U99999999", "|V3"]),
        ("struct", [[], [["a"]], [["a", "<i4"], ["a", "<i4"]], [["a", "|O"]], "<i4"]),
    ],
)
def test_types_of_no_form(name, kinds):
    for kind in kinds:
        with pytest.raises(MetadataValidationError, match="/data_type/type"):
            open_a(array_store(data_type=extension(name, kind), fill_value=None))


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
