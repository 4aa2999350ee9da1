"""Array metadata as written by zarrita (2021) and zarr-python 2.12 to 2.18."""

import json

import numcodecs
import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import (
    DIALECT,
    EXTENSION,
    OLD_ARRAY,
    SPEC,
    array_store,
    document_of,
    metadata_of,
    open_a,
    ramp,
    store_of,
)
from zarr_core.errors import (
    MetadataError,
    MetadataValidationError,
    UnknownExtensionError,
)
from zarr_core.extension import ExtensionDefinition, Location
from zarr_core.registry.resolve import format_named

KEY = "meta/root/a.array.json"
STRING_URL = "TODO: bytestring array protocol URL"
TIMES = "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html"
COMPLEX = (
    "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/"
    "complex-dtypes/v1.0.html"
)


def compressor(name, **configuration):
    return {"codec": f"{SPEC}codec/{name}/1.0", "configuration": configuration}


GZIP = compressor("gzip", level=1)


def store_2021(**changes):
    return array_store(DIALECT, **changes)


def made(**options):
    """A new array, and its metadata document."""
    store = store_of({}, None)
    options = {"data": ramp((4, 6)), "chunks": (2, 3), **options}
    array = zarr.create_array(store, path="a", zarr_format="draft-2021", **options)
    return array, document_of(store, KEY)


# As written by zarrita: order of members, null for attributes and fill values.
ZARRITA_ARRAY = {
    "shape": [4, 6],
    "data_type": "<i4",
    "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "/"},
    "chunk_memory_layout": "C",
    "fill_value": None,
    "extensions": [],
    "attributes": {"answer": 42},
    "compressor": GZIP,
}


def test_zarrita_data_is_read():
    store = store_of(
        {KEY: ZARRITA_ARRAY, "meta/root/g.group.json": {"extensions": [], "attributes": None}},
        DIALECT,
    )
    store.set("data/root/a/c1/1", numcodecs.GZip(1).encode(ramp((2, 3)) + 1))
    array = open_a(store)
    assert array.fill_value is None
    assert array[...].sum() == 21
    assert dict(zarr.open_group(store, path="g").attrs) == {}
    group = zarr.open_group(store, path="g")
    group.attrs["x"] = 1
    assert document_of(store, "meta/root/g.group.json") == {
        "extensions": [], "attributes": {"x": 1},
    }  # fmt: skip
    array.attrs["answer"] = 43
    expected = {**ZARRITA_ARRAY, "attributes": {"answer": 43}}
    assert json.dumps(document_of(store, KEY)) == json.dumps(expected)


def test_the_chunk_of_a_scalar_is_called_otherwise_by_zarrita():
    grid = {"type": "regular", "chunk_shape": [], "separator": "/"}
    store = store_2021(shape=[], chunk_grid=grid)
    store.set("data/root/a/c", b"\5\0\0\0")
    array = open_a(store)
    assert array[...] == 5
    assert (
        format_named("draft-2021").from_json(
            array.stored.format.to_json(array.metadata), Location()
        )
        == array.metadata
    )
    array.attrs["x"] = 1
    array[...] = 6
    assert open_a(store)[...] == 6
    assert bytes(store.get("data/root/a/c")) == b"\6\0\0\0"
    store.set("data/root/a/c0", b"\7\0\0\0")
    assert open_a(store)[...] == 7, "zarr-python's comes first"


@pytest.mark.parametrize("attributes", [..., 1, [], None])
def test_arrays_have_attributes(attributes):
    with pytest.raises(MetadataValidationError, match="/attributes"):
        open_a(store_2021(attributes=attributes))


def test_unknown_members_are_ignored_and_kept():
    store = store_2021(dimension_separator="/", colour="blue")
    array = open_a(store)
    array[...] = 1
    array.attrs["x"] = 1
    assert document_of(store, KEY)["colour"] == "blue"
    assert document_of(store, KEY)["dimension_separator"] == "/"
    store = store_of({"meta/root/a.group.json": {"attributes": {}, "colour": "blue"}}, DIALECT)
    open_a(store).attrs["x"] = 1
    assert document_of(store, "meta/root/a.group.json")["colour"] == "blue"


def test_the_separator_is_that_of_the_grid():
    """As in zarr-python, which ignores dimension_separator."""
    array = open_a(store_2021(dimension_separator="."))
    array[...] = 1
    assert array.store.get("data/root/a/c1/1")


def test_attributes_may_hold_what_json_has_not():
    text = json.dumps({**OLD_ARRAY, "attributes": {"x": float("nan"), "y": float("-inf")}})
    array = open_a(store_of({KEY: text.encode()}, DIALECT))
    assert np.isnan(array.attrs["x"])
    array.resize((8, 6))
    assert b"NaN" in bytes(array.store.get(KEY))
    assert open_a(array.store).attrs["y"] == -np.inf


@pytest.mark.parametrize("name", ["int33", "<i3", "|O", 3, {"type": "<i4"}, {"extension": "x"}])
def test_data_types_that_are_none(name):
    with pytest.raises(MetadataValidationError, match=r"data_type|filters"):
        open_a(store_2021(data_type=name))


@pytest.mark.parametrize(
    ("dtype", "written"),
    [
        ("?", "bool"),
        ("i1", "i1"),
        ("u1", "u1"),
        (">i4", ">i4"),
        ("f2", "<f2"),
        ("<c8", {"extension": COMPLEX, "type": "<c8"}),
        ("S3", {"extension": STRING_URL, "type": "|S3"}),
        (">U3", {"extension": "TODO: unicode array protocol URL", "type": ">U3"}),
        ("<M8[ns]", {"extension": TIMES, "type": "<M8[ns]"}),
        (">m8[D]", {"extension": TIMES, "type": ">m8[D]"}),
        ("V3", {"extension": "TODO: structured array protocol URL", "type": [["", "|V3"]]}),
    ],
)
def test_written_data_types(dtype, written):
    values = np.zeros((4, 6), dtype)
    values[0, 0] = b"abc" if dtype == "V3" else "x" if values.dtype.kind in "SU" else 1
    array, document = made(data=values, dtype=dtype)
    if isinstance(written, dict):
        written = {**written, "fallback": None}
    assert document["data_type"] == written
    assert open_a(array.store)[...].tobytes() == array[...].tobytes()
    assert array[...].tobytes() == values.astype(array.dtype).tobytes()


def test_the_uri_of_an_extension_does_not_matter():
    for uri in ("TODO: anything", EXTENSION, ""):
        described = {"extension": uri, "type": "<M8[s]", "fallback": None}
        assert open_a(store_2021(data_type=described)).dtype == "M8[s]"


def test_a_compressor_may_be_missing_or_null():
    for given in (..., None):
        array = open_a(store_2021(compressor=given))
        array[...] = 1
        assert len(array.store.get("data/root/a/c0/0")) == 24


@pytest.mark.parametrize(
    "uri", [f"{SPEC}codec/zip/1.0", EXTENSION, f"{SPEC}codec/", f"{SPEC}codec/endian/1.0"]
)
def test_unknown_compressors_are_rejected(uri):
    with pytest.raises(UnknownExtensionError, match=uri):
        open_a(store_2021(compressor={"codec": uri, "configuration": {}}))


@pytest.mark.parametrize(
    "given", ["gzip", {"codec": "gzip", "configuration": {}}, {"codec": EXTENSION}, {"id": "zlib"}]
)
def test_compressors_of_no_form(given):
    with pytest.raises(MetadataValidationError, match="/compressor"):
        open_a(store_2021(compressor=given))


def test_the_example_of_the_other_text_is_read_here_too():
    found = metadata_of("draft-2021", compressor={**GZIP, "codec": f"{SPEC}codecs/gzip/1.0"})
    assert found.codecs[-1] == ExtensionDefinition("gzip", {"level": 1})


def test_the_layout_is_C_or_F():
    with pytest.raises(MetadataValidationError, match="/chunk_memory_layout"):
        open_a(store_2021(chunk_memory_layout={"extension": EXTENSION, "type": "z"}))
    metadata = metadata_of("draft-2021").replace(
        chunk_memory_layout=ExtensionDefinition(EXTENSION, {"type": "z"})
    )
    with pytest.raises(MetadataError, match="/chunk_memory_layout"):
        format_named("draft-2021").to_json(metadata)
    with pytest.raises(MetadataValidationError, match="/chunk_grid"):
        open_a(store_2021(chunk_grid={"extension": EXTENSION, "type": "z"}))


def test_new_documents():
    array, document = made(attributes={"x": 1}, fill_value=7)
    assert document == {
        **OLD_ARRAY,
        "fill_value": 7,
        "attributes": {"x": 1},
        "compressor": compressor("blosc", cname="lz4", clevel=5, shuffle=1, blocksize=0),
    }
    assert array[...].tolist() == ramp((4, 6)).tolist()


# --- filters, which this draft stores in the attributes ---

FILTERS = [{"id": "delta", "dtype": "<i4", "astype": "<i4"}, {"id": "shuffle", "elementsize": 4}]


def test_filters_stand_in_the_attributes():
    store = store_2021(attributes={"filters": FILTERS, "x": 1}, compressor=GZIP)
    chunk = ramp((2, 3)) + 1
    for config in (*FILTERS, {"id": "gzip"}):
        chunk = numcodecs.get_codec(dict(config)).encode(chunk)
    store.set("data/root/a/c1/1", bytes(chunk))
    array = open_a(store)
    assert dict(array.attrs) == {"x": 1}
    assert array[...].sum() == 21
    array.attrs.put({"y": 2})
    assert document_of(store, KEY)["attributes"] == {"filters": FILTERS, "y": 2}
    array[...] = ramp((4, 6))
    assert open_a(store)[...].tolist() == ramp((4, 6)).tolist()


def test_filters_are_written_there():
    filters = [ExtensionDefinition("numcodecs.delta", {"dtype": "<i4", "astype": "<i4"})]
    array, document = made(
        filters=filters, compressors=[{"name": "numcodecs.shuffle"}], attributes={"x": 1}
    )
    assert document["attributes"]["filters"] == [
        {"id": "delta", "dtype": "<i4", "astype": "<i4"},
        document["attributes"]["filters"][1],
    ]
    assert document["attributes"]["filters"][1]["id"] == "shuffle"
    assert "compressor" not in document, "it has no URI for this one"
    assert open_a(array.store)[...].tolist() == ramp((4, 6)).tolist()
    assert dict(array.attrs) == {"x": 1}


@pytest.mark.parametrize("value", [None, [], "butterworth", {"id": "delta"}, ["delta"], 5])
def test_an_attribute_of_that_name_that_is_not_a_list_of_codecs(value):
    store = store_2021(attributes={"filters": value})
    array = open_a(store)
    assert array.attrs["filters"] == value
    array.attrs["x"] = 1
    assert document_of(store, KEY)["attributes"] == {"filters": value, "x": 1}
    group = {"attributes": {"filters": FILTERS}}
    opened = open_a(store_of({"meta/root/a.group.json": group}, DIALECT))
    assert opened.attrs["filters"] == FILTERS, "groups have no codecs"


def test_users_cannot_take_the_name():
    array, _ = made()
    before = bytes(array.store.get(KEY))
    with pytest.raises(MetadataError, match="/attributes/filters"):
        array.attrs["filters"] = FILTERS
    assert bytes(array.store.get(KEY)) == before
    with pytest.raises(MetadataError, match="/attributes/filters"):
        made(attributes={"filters": "x"})


def test_codecs_without_id_are_rejected():
    with pytest.raises(MetadataValidationError, match="/attributes/filters/1/id"):
        open_a(store_2021(attributes={"filters": [FILTERS[0], {"dtype": "<i4"}]}))
    with pytest.raises(MetadataValidationError, match="/attributes/filters/0/dtype"):
        open_a(store_2021(attributes={"filters": [{"id": "delta", "dtype": "<f8"}]}))


@pytest.mark.parametrize(
    ("codec", "values"),
    [
        ("vlen-utf8", ["", "ä", "x" * 20, "5"]),
        ("vlen-bytes", [b"", b"\0a", b"x" * 20, b"5"]),
        ("json2", [1, "a", None, [1, {"b": 2}]]),
    ],
)
def test_objects(codec, values):
    described = {"extension": "TODO: object array protocol URL", "type": "|O", "fallback": None}
    config = numcodecs.get_codec({"id": codec}).get_config()
    grid = {"type": "regular", "chunk_shape": [4], "separator": "/"}
    store = store_2021(
        data_type=described, shape=[4], chunk_grid=grid, fill_value=None, compressor=GZIP,
        attributes={"filters": [config]},
    )  # fmt: skip
    elements = np.empty(4, object)
    elements[:] = values
    encoded = numcodecs.get_codec(dict(config)).encode(elements)
    store.set("data/root/a/c0", numcodecs.GZip(1).encode(encoded))
    array = open_a(store)
    assert array[...].tolist() == values
    array[...] = elements[::-1]
    assert open_a(store)[...].tolist() == values[::-1]
    array.attrs["x"] = 1
    written = document_of(store, KEY)
    assert written["attributes"] == json.loads(json.dumps({"filters": [config], "x": 1}))
    assert written["data_type"] == described


def test_texts_are_written_as_objects():
    values = np.array(["", "ä", "xyz"], np.dtypes.StringDType())
    array, document = made(data=values, chunks=3)
    assert document["data_type"]["type"] == "|O"
    assert document["attributes"]["filters"] == [{"id": "vlen-utf8"}]
    assert open_a(array.store)[...].tolist() == values.tolist()
