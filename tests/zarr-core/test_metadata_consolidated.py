"""Consolidated metadata: reading, writing, detecting outdated metadata."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core import strictjson
from zarr_core.errors import MetadataValidationError
from zarr_core.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr_formats.consolidated_view import consolidated_documents

ARRAY = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [4],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": "default",
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {"a": 1},
}
GROUP = {"zarr_format": 3, "node_type": "group"}
DOCUMENTS = {"b": GROUP, "a": ARRAY, "b/c": ARRAY, "b/c2": GROUP}


def test_writing_depends_on_the_documents_alone():
    backwards = dict(reversed(DOCUMENTS.items()))
    one = consolidated_documents(DOCUMENTS).to_json()
    other = consolidated_documents(backwards).to_json()
    assert json.dumps(one) == json.dumps(other)
    assert list(one["metadata"]) == ["a", "b", "b/c", "b/c2"]


def test_copies_are_not_copied_again():
    nested = {
        **GROUP,
        "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": {}},
    }
    assert consolidated_documents({"b": nested}).entries == {"b": GROUP}


def test_paths_are_those_of_the_documents_whatever_they_hold():
    broken = {"zarr_format": 3, "node_type": "banana"}
    consolidated = consolidated_documents({**DOCUMENTS, "bad": broken})
    assert list(consolidated.entries) == ["a", "b", "b/c", "b/c2", "bad"]


def test_the_envelope_keeps_its_order():
    envelope = {"metadata": {}, "must_understand": False, "kind": "inline"}
    assert json.dumps(ConsolidatedMetadata(envelope["metadata"], envelope).to_json()) == json.dumps(
        envelope
    )


# --- texts of copies ---

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=5)


@settings(max_examples=40)
@given(st.lists(OBJECTS, min_size=1, max_size=5), st.text(max_size=3))
def test_successive_objects_have_the_text_of_dumps(objects, name):
    last = {}
    for members in objects:
        # Values of the last object are shared, as in a changed document.
        last = strictjson.keep_texts({**last, **members})
        for document in ({"a": [1], name: last}, last, {"a": [[last]]}):  # with other indentation
            data = strictjson.dumps(document)
            assert data == strictjson.dumps(strictjson.loads(data))
            assert strictjson.identical(document, strictjson.loads(data))


def test_threads_change_nodes_with_equal_documents(tmp_path):
    # Their metadata, and the texts of its members, are the same objects.
    arrays = [zarr.create_array(tmp_path / str(n), shape=8, dtype="int8") for n in range(4)]
    for array in arrays:
        array.attrs["n"] = 0

    def change(number):
        for count in range(200):
            arrays[number].attrs["n"] = [number, count]
            assert arrays[number].attrs["n"] == [number, count]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))
    for number, array in enumerate(arrays):
        assert zarr.open_array(array.store).attrs["n"] == [number, 199]


def test_a_change_of_a_group_keeps_its_consolidated_metadata(tmp_path):
    root = zarr.create_group(tmp_path, attributes={"text": "é" * 3000, "metadata": {"a": {"x": 1}}})
    for name in "abc":
        root.create_group(name, attributes={"text": name * 3000})
    zarr.consolidate_metadata(tmp_path)
    before = strictjson.loads((tmp_path / "zarr.json").read_bytes())
    metadata = GroupMetadata.from_json(before)
    for number in range(2):
        data, metadata = metadata.replace(
            attributes={**metadata.attributes, "new": number}
        ).to_stored()
        before["attributes"]["new"] = number
        assert data == strictjson.dumps(before)
        assert strictjson.identical(metadata.to_json(), before)
        assert all(entry.text for entry in metadata.consolidated.entries.values())


def test_an_invalid_entry_is_refused_each_time():
    copies = ConsolidatedMetadata({"a": {"x": 1}})
    metadata = GroupMetadata(consolidated=copies)
    wrong = metadata.replace(consolidated=replace(copies, entries={"a": {"x": 1}, "b": {1, 2}}))
    for _ in range(2):
        with pytest.raises(MetadataValidationError, match="/consolidated_metadata/metadata/b"):
            wrong.to_stored()
    assert b'"b"' not in metadata.to_stored()[0]
