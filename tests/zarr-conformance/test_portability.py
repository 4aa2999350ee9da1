"""Features of metadata, and the table of what libraries read."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr_conformance.portability.describe import describe, remedy
from zarr_conformance.portability.features import node_features
from zarr_conformance.portability.report import library_name, library_names, report, table
from zarr_conformance.portability.support import TABLE, Support

SCHEMA = (
    Path(sys.modules[Support.__module__].__file__).parents[1] / "schemas/conformance/support.json"
)


def features(path="", **options):
    store = {}
    zarr.create_array(store, **({"shape": (4, 4), "dtype": "int32"} | options))
    documents = {key: json.loads(bytes(value)) for key, value in store.items()}
    return {it.id: it.pointer for it in node_features(path, documents)}


def test_each_feature_has_the_pointer_of_its_member():
    found = features(
        compressors=["gzip"], dimension_names=["y", None], shards=(4, 4), chunks=(2, 2)
    )
    assert found["v3"] == "/zarr_format"
    assert found["v3/data_type/int32"] == "/data_type"
    assert found["v3/codec/gzip"] == "/codecs/0/configuration/codecs/1"
    assert found["v3/index codec/crc32c"] == "/codecs/0/configuration/index_codecs/1"
    assert found["v3/dimension_names/null entry"] == "/dimension_names/1"


def test_features_of_version_2():
    found = features(zarr_format=2, dtype=">f8", order="F", fill_value=np.nan, compressors=None)
    expected = {
        *("v2", "v2/dtype/f8", "v2/byte order/>", "v2/fill_value/NaN", "v2/order/F"),
        *("v2/compressor/null", "v2/filters/null"),
    }
    assert expected <= found.keys()


@pytest.mark.parametrize(
    ("name", "feature"),
    [
        ("a b", "name/space"),
        ("é", "name/non-ASCII"),
        ("a#b", "name/character #"),
        ("0", "name/digits"),
    ],
)
def test_features_of_names(name, feature):
    assert feature in features(f"group/{name}")


@pytest.mark.parametrize(
    "documents", [{"meta": {}}, {"zarr.json": {"zarr_format": "https://"}}, {}]
)
def test_older_formats_are_features(documents):
    assert node_features("", documents)[0].id in ("v1", "draft")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    [
        "shape",
        "data_type",
        "codecs",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "dimension_names",
        "storage_transformers",
        "attributes",
        "consolidated_metadata",
    ]
)


@given(st.dictionaries(MEMBERS, JSON), st.sampled_from(["array", "group"]))
def test_invalid_documents_have_features(members, node_type):
    document = {"zarr_format": 3, "node_type": node_type, **members}
    assert node_features("", {"zarr.json": document})[0].id == "v3"


MEMBERS_2 = st.sampled_from(["dtype", "shape", "compressor", "filters", "fill_value", "order"])


@given(st.dictionaries(MEMBERS_2, JSON))
def test_invalid_documents_of_version_2_have_features(members):
    assert node_features("", {".zarray": members})[0].id == "v2"


# --- the table ---


def test_the_table_is_valid():
    from jsonschema import Draft202012Validator

    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    validator.validate(json.loads(TABLE.read_text()))
    for example in schema["examples"]:
        validator.validate(example)
        assert Support.load(example).libraries


def test_every_reason_is_a_tested_feature_in_words():
    support = table()
    found = {it for stops in support.causes.values() for stop in stops for it in stop.features}
    assert found <= support.features
    for feature in support.features:
        assert describe(feature)
        assert remedy(feature)


TINY = {
    "version": 1,
    "date": "2026-01-01",
    "libraries": {
        "a": {"version": "1", "source": "measured"},
        "b": {"version": "2", "source": "measured", "groups": False},
    },
    "features": ["v3", "v3/group", "v3/codec/gzip", "v3/codec/?", "v3/codec/zstd", "v3/length 0"],
    "unsupported": [
        {"features": ["v3/codec/gzip", "v3/codec/zstd"], "libraries": {"a": {"outcome": "wrong"}}},
        {"features": ["v3/codec/zstd"], "libraries": {"b": {"outcome": "refuses", "chunks": True}}},
        {"features": ["v3/codec/?"], "libraries": {"a": {"outcome": "refuses"}}},
        {"features": ["v3/group"], "libraries": {"b": {"outcome": "refuses"}}},
    ],
}


def test_a_combination_stops_only_if_all_its_features_are_there():
    tiny = Support.load(TINY)
    assert not tiny.unsupported(["v3", "v3/codec/gzip"], "a")
    assert tiny.unsupported(["v3", "v3/codec/gzip", "v3/codec/zstd"], "a")[0].outcome == "wrong"


def test_what_stops_chunks_does_not_stop_arrays_without_chunks():
    tiny = Support.load(TINY)
    assert tiny.unsupported(["v3/codec/zstd"], "b")
    assert not tiny.unsupported(["v3/codec/zstd", "v3/length 0"], "b")


def test_an_extension_without_a_row_is_an_unknown_one():
    tiny = Support.load(TINY)
    assert tiny.unsupported(["v3/codec/acme.xor"], "a")
    assert not tiny.is_known("v3/codec/gzip/level=new")  # a known codec


def test_groups_are_not_included_for_libraries_without_groups():
    assert not Support.load(TINY).unsupported(["v3/group"], "b")


def test_aliases_and_unknown_names():
    assert library_name("zarrita") == "zarrita.js"
    assert {"zarr-python", "zarr-python-2", "tensorstore", "zarrista", "gdal"} <= {*library_names()}
    with pytest.raises(ValueError, match="did you mean 'tensorstore'"):
        library_name("tensorstor")


def test_the_report_names_parents_and_what_was_not_measured():
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    group["consolidated_metadata"] = {"kind": "of tomorrow", "metadata": {}}
    found = report([("", {"zarr.json": group})], ["tensorstore", "zarr-python-2"])
    assert [it["reads"] for it in found] == [True, False]
    assert found[1]["reasons"][0]["pointer"] == "/zarr_format"


@pytest.mark.parametrize(
    ("feature", "advice"),
    [
        ("v3/data_type/string", "codes of categories"),
        ("v3/data_type/fixed_length_utf32", "codes of categories"),
        ("v2/dtype/S", "codes of categories"),
        ("v2/dtype/O", "codes of categories"),
        ("v2/dtype/struct with a subarray", "each field as an array"),
        ("v2/dtype/M8[ns]", "convert --dtype"),
        ("v3/data_type/int4", "convert --dtype"),
        ("v3/codec/numcodecs.lz4", "with another --compressor"),
        ("v2/compressor/lz4", "with another --compressor:"),
        ("v3/chunk_grid/rectilinear", "with another --chunks"),
        ("v3", "with another --zarr-format"),
    ],
)
def test_remedies(feature, advice):
    text = remedy(feature)
    assert advice in text
    assert ("--dtype" in text) == (advice == "convert --dtype")
