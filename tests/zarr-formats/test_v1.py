"""Version 1: conversion of meta and attrs, and arrays through the public functions."""

import json

import numpy as np
import pytest
import zarr_core
from zarr_core.errors import (
    MetadataDecodeError,
    MetadataError,
    MetadataValidationError,
    NodeNotFoundError,
)
from zarr_core.extension import (
    ExtensionDefinition,
    Location,
    create_extension,
)
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_formats.v1.document import encode, is_version_1
from zarr_formats.v1.format import V1

META = {
    "shape": [20, 30],
    "zarr_format": 1,
    "chunks": [10, 10],
    "dtype": "<i4",
    "compression": "zlib",
    "compression_opts": 1,
    "more": {"kept": True},
    "fill_value": 42,
    "order": "C",
}
BLOSC = {"compression": "blosc", "compression_opts": {"cname": "lz4", "clevel": 5, "shuffle": 1}}
LZMA = {"check": 0, "filters": None, "format": 1, "preset": 1}


def read(**changes):
    return V1().from_json({"meta": META | changes, "attrs": {"a": 1}}, Location("here"))


def fill_of(**changes):
    metadata = read(**changes)
    data_type = create_extension("data_type", metadata.data_type)
    return data_type.fill_value_from_json(metadata.fill_value)


def test_metadata_of_document():
    metadata = read()
    assert metadata.shape == (20, 30)
    assert metadata.data_type.name == "int32"
    assert metadata.chunk_grid == ExtensionDefinition("regular", {"chunk_shape": [10, 10]})
    assert metadata.chunk_key_encoding == ExtensionDefinition("v2", {"separator": "."})
    assert metadata.codecs == (
        ExtensionDefinition("bytes", {"endian": "little"}),
        ExtensionDefinition("numcodecs.zlib", {"level": 1}),
    )
    assert (metadata.fill_value, metadata.fill_value_undefined) == (42, False)
    assert metadata.attributes == {"a": 1}
    assert metadata.additional_fields == {}


@pytest.mark.parametrize(
    ("changes", "codec"),
    [
        ({"compression": "gzip"}, ("numcodecs.zlib", {"level": 1})),
        ({"compression": "bz2", "compression_opts": 9}, ("numcodecs.bz2", {"level": 9})),
        ({"compression": "lzma", "compression_opts": LZMA}, ("numcodecs.lzma", LZMA)),
        ({"compression": "none", "compression_opts": None}, None),
        ({"compression": None, "compression_opts": None}, None),
        (
            BLOSC,
            (
                "blosc",
                {
                    "cname": "lz4", "clevel": 5, "shuffle": "shuffle",
                    "typesize": 4, "blocksize": 0,
                },
            ),
        ),
    ],
)  # fmt: skip
def test_compressions_are_codecs(changes, codec):
    after = read(**changes).codecs[1:]
    assert after == (() if codec is None else (ExtensionDefinition(*codec),))


def test_the_order_is_that_of_blosc_alone():
    transpose = ExtensionDefinition("transpose", {"order": [1, 0]})
    assert read(order="F", **BLOSC).codecs[0] == transpose
    assert read(order="F").codecs == read().codecs
    assert read(order="F", shape=[5], chunks=[2], **BLOSC).codecs[0].name == "bytes"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fill_value": None},
        {"dtype": ">f8", "fill_value": float("nan")},
        {"dtype": "<f4", "fill_value": float("-inf")},
        {"dtype": "<f4", "fill_value": "NaN"},
        {"dtype": "|b1", "fill_value": 1},
        {"dtype": [["a", "|u1"], ["b", [["c", "<f4"], ["d", "|S3"]]]], "fill_value": None},
        {"order": "F"},
        {"order": "F", **BLOSC},
        {"compression": "gzip"},
        {"compression": None, "compression_opts": None},
        {"compression": "lzma", "compression_opts": LZMA | {"more": 1}},
        {"compression": "blosc", "compression_opts": BLOSC["compression_opts"] | {"cname": "zstd"}},
    ],
)
def test_unchanged_metadata_is_preserved(changes):
    metadata = read(**changes)
    document = {"meta": META | changes, "attrs": {"a": 1}}
    assert json.dumps(V1().to_json(metadata)) == json.dumps(document)
    grown = V1().to_json(metadata.replace(shape=(40, 30)))
    assert json.dumps(grown["meta"]) == json.dumps(META | changes | {"shape": [40, 30]})
    named = V1().to_json(metadata.replace(attributes={"b": None}))
    assert json.dumps(named) == json.dumps(document | {"attrs": {"b": None}})


def test_attributes_may_be_missing():
    metadata = V1().from_json({"meta": META}, Location("here"))
    assert metadata.attributes == {}
    assert V1().to_json(metadata) == {"meta": META}
    assert V1().to_json(metadata.replace(attributes={"a": 1}))["attrs"] == {"a": 1}


def test_documents_are_ascii():
    assert encode({"é": "Ω\ud800", "nan": float("nan")}).isascii()
    assert b"NaN" in encode({"nan": float("nan")})


# --- fill values ---


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("<f8", float("nan"), np.nan),
        ("<f4", "NaN", np.nan),
        ("<f8", float("inf"), np.inf),
        ("<f4", 1e300, np.inf),
        ("<f8", -0.0, -0.0),
        ("<f8", 3, 3.0),
        ("<i4", 1.5, 1),
        ("|i1", 300, 44),
        ("|u1", -1, 255),
        (">u8", 2**64 - 1, 2**64 - 1),
        ("|b1", True, True),
        ("|b1", 0, False),
        ("<c8", 2.5, 2.5),
        ("|S3", "ab", b"ab"),
        ("|S3", "abcdef", b"abc"),
        ("<U3", "Ωz", "Ωz"),
        ("<M8[s]", 5, np.datetime64(5, "s")),
        ("<M8[s]", -(2**63), np.datetime64("NaT", "s")),
        ("<m8[D]", 0, np.timedelta64(0, "D")),
        ("|V3", 0, b"\0\0\0"),
    ],
)
def test_fill_values_are_what_numpy_makes_of_them(dtype, value, expected):
    element = fill_of(dtype=dtype, fill_value=value)
    wanted = np.array(expected, np.dtype(dtype).newbyteorder("="))
    assert element.tobytes() == wanted.tobytes()
    document = V1().to_json(read(dtype=dtype, fill_value=value).replace(document=None))
    again = V1().from_json(document, Location("here"))
    assert fill_of(dtype=dtype, fill_value=document["meta"]["fill_value"]) == element or (
        element != element
    )
    assert again.fill_value == read(dtype=dtype, fill_value=value).fill_value


def test_a_record_is_filled_with_the_same_in_each_field():
    fields = [["a", "<i4"], ["b", "<f8"]]
    element = fill_of(dtype=fields, fill_value=5)
    assert (element["a"], element["b"]) == (5, 5.0)
    # In text, 0 is the character, so zero bytes can only be represented by no fill value.
    fields = [["a", "<i4"], ["b", "|S2"]]
    assert fill_of(dtype=fields, fill_value=0)["b"] == b"0"
    open_ = read(dtype=fields, fill_value=None)
    new = V1().to_json(open_.replace(document=None, fill_value_undefined=False))
    assert new["meta"]["fill_value"] is None


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("<i4", float("nan")), ("<i4", "many"), ("<f8", "many"), ("<f8", 10**400), ("|S3", "é"),
     ("|V3", 1), ("|V3", "AAAA"), ("<M8[s]", "yesterday"), ([["a", "<i4"]], "x")],
)  # fmt: skip
def test_fill_values_that_are_none(dtype, value):
    with pytest.raises(MetadataValidationError, match="/fill_value"):
        read(dtype=dtype, fill_value=value)


# --- not supported by version 1 ---


def test_text_of_any_length_is_rejected():
    with pytest.raises(MetadataValidationError):
        zarr_core.create_array(zarr_format=1, shape=(2,), dtype="string", serializer="vlen-utf8")


def test_fields_that_are_arrays_are_rejected():
    with pytest.raises(MetadataValidationError, match="fields that are arrays"):
        zarr_core.create_array(zarr_format=1, shape=(2,), dtype=[("a", "i4"), ("b", "i2", (2,))])


@pytest.mark.parametrize("document", [None, [], {}, {"attrs": {}}])
def test_metadata_keys_of_no_node(document):
    with pytest.raises(MetadataValidationError, match="meta"):
        V1().from_json(document, Location("here"))


@pytest.mark.parametrize(
    "content", [None, 1, [], {}, {"zarr_format": 2}, {"zarr_format": True}, {"zarr_format": "1"},
                {"zarr_format": 1.0}],
)  # fmt: skip
def test_metadata_of_other_versions(content):
    assert not is_version_1(content)
    assert is_version_1(META)


# --- arrays through the public functions ---

VALUES = np.arange(35, dtype="<i2").reshape(7, 5)
STORED = {
    "zarr_format": 1,
    "shape": [4],
    "chunks": [2],
    "dtype": "<i2",
    "compression": "none",
    "compression_opts": None,
    "fill_value": 7,
    "order": "C",
}


@pytest.fixture(params=["memory", "local"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "store")


def make(store, name="", **options):
    options = {"data": VALUES, "chunks": (3, 2), "zarr_format": 1, **options}
    return zarr_core.create_array(store, path=name, **options)


def content(store, key):
    return json.loads(bytes(store.get(key)))


@pytest.mark.parametrize("path", ["", "a", "a/b"])
def test_an_array_is_created_and_filled(store, path):
    prefix = f"{path}/" if path else ""
    array = make(store, path, attributes={"unit": "m"}, fill_value=9)
    assert content(store, f"{prefix}meta") == {
        "zarr_format": 1,
        "shape": [7, 5],
        "chunks": [3, 2],
        "dtype": "<i2",
        "compression": "blosc",
        "compression_opts": {"cname": "lz4", "clevel": 5, "shuffle": 1},
        "fill_value": 9,
        "order": "C",
    }
    assert content(store, f"{prefix}attrs") == {"unit": "m"}
    assert store.exists(f"{prefix}2.0")
    array.resize(4, 9)
    expected = np.full((4, 9), 9, "i2")
    expected[:, :5] = VALUES[:4]
    assert np.array_equal(zarr_core.open(store, path=path)[...], expected)


def test_a_change_writes_only_what_changed(store):
    store.set("meta", json.dumps(STORED, indent=1).encode())
    array = zarr_core.open(store)
    array.attrs["a"] = 1
    assert store.get("meta") == json.dumps(STORED, indent=1).encode()
    store.set("attrs", b'{"a":   1}')
    array.resize(6)
    assert store.get("attrs") == b'{"a":   1}'
    assert content(store, "meta") == STORED | {"shape": [6]}


def test_nothing_says_what_is_undefined(store):
    store.set("meta", json.dumps(STORED | {"fill_value": None}).encode())
    array = zarr_core.open(store)
    assert array.fill_value is None
    assert array[...].tolist() == [0, 0, 0, 0]
    array[:2] = 0
    assert store.exists("0")  # other types could have any value


def test_groups_are_not_supported(store):
    with pytest.raises(MetadataValidationError, match="does not support groups"):
        zarr_core.create_group(store, zarr_format=1)
    make(store, "a/b")
    for path in ("", "a"):
        with pytest.raises(NodeNotFoundError):
            zarr_core.open(store, path=path)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff\xfe", b"not JSON", b"{", b"[]", b"3", b"{}", b'{"zarr_format": 2}',
        b'{"zarr_format": 3, "node_type": "group"}', b'{"zarr_format": "1"}',
        b'{"zarr_format": true}', b'{"author": "me"}', b"key: value\n",
    ],
)  # fmt: skip
def test_a_meta_of_others_is_not_ours(store, data):
    store.set("meta", data)
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store)
    store.set("zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
    assert isinstance(zarr_core.open(store), zarr_core.Group)


def test_a_meta_that_is_far_too_large_is_not_ours(store):
    store.set("meta", json.dumps(STORED).encode() + b" " * (1 << 24))
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store)


def test_keys_below_meta_are_not_ours(store):
    store.set("meta/root.array.json", b"{}")
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store, zarr_format=1)


def test_a_damaged_meta_is_reported(store):
    data = json.dumps(STORED).encode()
    for cut in (20, len(data) - 1):
        store.set("meta", data[:cut])
        with pytest.raises(MetadataDecodeError):
            zarr_core.open(store, zarr_format=1)
    store.set("meta", data)
    for attributes in (b"", b"{", b"[]", b"1"):
        store.set("attrs", attributes)
        with pytest.raises(MetadataError):
            zarr_core.open(store)
