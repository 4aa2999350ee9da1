"""Keys of documents and chunks; names of nodes."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import DIALECT, OLD_ARRAY, ramp, store_of
from hypothesis import given
from hypothesis import strategies as st
from zarr_core.errors import ExtensionConfigurationError
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_formats.draft.chunk_keys import DraftEncoding
from zarr_formats.draft.keys import Layout

LAYOUTS = {"draft": Layout(), "draft-2021": Layout("/root")}


@pytest.mark.parametrize(
    ("name", "path", "kind", "key"),
    [
        ("draft", "", "array", "meta/array.json"),
        ("draft", "", "group", "meta/group.json"),
        ("draft", "foo", "group", "meta/foo.group.json"),
        ("draft", "foo", "array", "meta/foo.array.json"),
        ("draft", "foo/bar", "group", "meta/foo/bar.group.json"),
        ("draft", "foo/baz", "array", "meta/foo/baz.array.json"),
        ("draft-2021", "", "array", "meta/root.array.json"),
        ("draft-2021", "", "group", "meta/root.group.json"),
        ("draft-2021", "foo/baz", "array", "meta/root/foo/baz.array.json"),
    ],
)
def test_keys_of_documents(name, path, kind, key):
    layout = LAYOUTS[name]
    assert layout.document(kind, path, ".json") == key
    assert layout.node(key, ".json") == (path, kind)
    store = store_of({}, None)
    make = zarr.create_group if kind == "group" else zarr.create_array
    options = {"path": path} if kind == "group" else {"path": path, "shape": 2}
    make(store, zarr_format=name, **options)
    assert sorted(store.list()) == [key, "zarr.json"]


def test_keys_of_no_document():
    layout = Layout()
    for key in ("zarr.json", "data/a.array.json", "meta/a.json", "meta/a.array.yaml", "array.json"):
        assert layout.node(key, ".json") is None


@pytest.mark.parametrize(("name", "key"), [("draft", "data/a/c"), ("draft-2021", "data/root/a/c0")])
def test_the_chunk_of_an_array_without_dimensions(name, key):
    store = store_of({}, None)
    array = zarr.create_array(store, path="a", data=np.float64(2.5), zarr_format=name)
    assert store.get(key)
    assert zarr.open(store, path="a")[...] == 2.5
    assert array.nchunks_initialized == 1


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_separator_may_be_asked_for_in_the_words_of_version_3(name):
    store = store_of({}, None)
    asked = {"name": "default", "separator": "."}
    array = zarr.create_array(
        store, data=ramp((4, 4)), chunks=2, zarr_format=name, chunk_key_encoding=asked
    )
    assert store.get(f"{array.stored.format.chunk_prefix('')}c1.1")


def test_names_that_only_the_final_version_reserves():
    store = store_of({})
    for name in ("__x", "zarr.json"):
        zarr.create_array(store, path=name, data=ramp((2,)))
        assert zarr.open(store, path=name)[...].tolist() == [0, 1]
    assert sorted(zarr.open_group(store)) == ["__x", "zarr.json"]


@given(
    st.lists(st.integers(0, 10**18), max_size=4),
    st.sampled_from("/."),
    st.sampled_from(["c", "c0"]),
)
def test_chunk_keys_there_and_back(chunk, separator, scalar):
    encoding = DraftEncoding(separator, scalar)
    key = encoding.encode(tuple(chunk))
    assert encoding.decode(key, len(chunk)) == tuple(chunk)
    before, between = encoding.affixes(len(chunk))
    assert before + between.join(map(str, chunk)) == key


@pytest.mark.parametrize(
    "key",
    ["c", "c1", "c1/2/3", "c1.2", "1/2", "c01/2", "c-1/2", "c1/2x", "c/1/2", "d1/2", "", "c/"],
)
def test_keys_of_no_chunk(key):
    assert DraftEncoding("/").decode(key, 2) is None


def test_the_example_of_the_text():
    assert DraftEncoding().encode((1, 23, 45)) == "c1/23/45"
    assert DraftEncoding().encode(()) == "c"


@pytest.mark.parametrize("configuration", [{"separator": "-"}, {"scalar": "0"}, {"colour": 1}])
def test_configurations_that_are_rejected(configuration):
    with pytest.raises(ExtensionConfigurationError):
        create_extension("chunk_key_encoding", ExtensionDefinition("v3_draft", configuration))
    if "colour" not in configuration:
        with pytest.raises(ExtensionConfigurationError):
            DraftEncoding.from_definition(ExtensionDefinition("v3_draft", configuration))


def test_the_definition():
    encoding = DraftEncoding(".", "c0")
    definition = encoding.to_definition()
    assert create_extension("chunk_key_encoding", definition) == encoding
    assert json.loads(json.dumps(definition.to_json())) == {
        "name": "v3_draft",
        "configuration": {"separator": ".", "scalar": "c0"},
    }


def test_consolidated_metadata_of_zarr_python_are_not_a_node():
    store = store_of(
        {"meta/root/a.array.json": OLD_ARRAY, "meta/root/consolidated/.zmetadata": {}}, DIALECT
    )
    root = zarr.open_group(store)
    assert sorted(root) == ["a"]
    assert "consolidated" not in root
    zarr.create_group(store, path="consolidated")
    assert sorted(root) == ["a", "consolidated"]
