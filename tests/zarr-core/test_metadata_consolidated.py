"""Consolidated metadata: reading, writing, detecting outdated metadata."""

from __future__ import annotations

import json

from zarr_core.metadata.consolidated import ConsolidatedMetadata, Difference

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
    one = ConsolidatedMetadata.from_documents(DOCUMENTS).to_json()
    other = ConsolidatedMetadata.from_documents(backwards).to_json()
    assert json.dumps(one) == json.dumps(other)
    assert list(one["metadata"]) == ["a", "b", "b/c", "b/c2"]


def test_copies_are_not_copied_again():
    nested = {
        **GROUP,
        "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": {}},
    }
    assert ConsolidatedMetadata.from_documents({"b": nested}).entries == {"b": GROUP}


def test_paths_are_those_of_the_documents_whatever_they_hold():
    broken = {"zarr_format": 3, "node_type": "banana"}
    consolidated = ConsolidatedMetadata.from_documents({**DOCUMENTS, "bad": broken})
    assert "b/c" in consolidated
    assert "c" not in consolidated
    assert list(consolidated.entries) == ["a", "b", "b/c", "b/c2", "bad"]


def test_nested_groups_may_have_copies_of_their_own():
    # As written by zarr-python: empty consolidated metadata, or null.
    envelope = {"kind": "inline", "must_understand": False, "metadata": {"c": ARRAY}}
    consolidated = ConsolidatedMetadata(
        {
            "b": {**GROUP, "consolidated_metadata": envelope},
            "d": {**GROUP, "consolidated_metadata": None},
        }
    )
    assert not consolidated.compare({"b": GROUP, "d": GROUP})


def test_up_to_date_copies_have_no_difference():
    consolidated = ConsolidatedMetadata.from_documents(DOCUMENTS)
    reordered = {path: dict(reversed(item.items())) for path, item in DOCUMENTS.items()}
    assert not consolidated.compare(reordered)
    assert str(consolidated.compare(reordered)) == "up to date"


def test_every_difference_is_found():
    consolidated = ConsolidatedMetadata.from_documents(DOCUMENTS)
    now = json.loads(json.dumps(DOCUMENTS))
    now["a"]["attributes"]["a"] = True  # equal to 1 in Python, not in JSON
    now["new"] = now.pop("b/c2")
    difference = consolidated.compare(now)
    assert difference == Difference(stale=("a",), missing=("new",), extra=("b/c2",))
    assert difference
    assert str(difference) == "1 stale ('a'), 1 missing ('new'), 1 extra ('b/c2')"


def test_many_differences_are_abbreviated():
    assert str(Difference(missing=("a", "b", "c", "d"))) == "4 missing ('a', 'b', 'c', ...)"


def test_the_envelope_keeps_its_order():
    envelope = {"metadata": {}, "must_understand": False, "kind": "inline"}
    assert json.dumps(ConsolidatedMetadata(envelope["metadata"], envelope).to_json()) == json.dumps(
        envelope
    )
