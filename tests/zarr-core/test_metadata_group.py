"""Group metadata."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError, UnsupportedFieldError
from zarr_core.formats.v3 import V3
from zarr_core.metadata.consolidated import ConsolidatedMetadata
from zarr_core.metadata.group import GroupMetadata

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples" / "valid"
GROUPS = {
    file.stem: document
    for file in sorted(EXAMPLES.glob("*.json"))
    if (document := json.loads(file.read_bytes()))["node_type"] == "group"
}


@pytest.mark.parametrize("name", GROUPS)
def test_read_metadata_round_trip_is_exact(name):
    metadata = GroupMetadata.from_json(GROUPS[name])
    assert json.dumps(metadata.to_json()) == json.dumps(GROUPS[name])
    assert json.dumps(json.loads(metadata.to_stored()[0])) == json.dumps(GROUPS[name])


@pytest.mark.parametrize("name", GROUPS)
def test_changing_attributes_changes_nothing_else(name):
    original = GROUPS[name]
    changed = GroupMetadata.from_json(original).replace(attributes={"new": 1}).to_json()
    expected = {
        key: {"new": 1} if key == "attributes" else value for key, value in original.items()
    }
    expected.setdefault("attributes", {"new": 1})
    assert json.dumps(changed) == json.dumps(expected)


def test_a_new_group_has_its_attributes_even_if_there_are_none():
    assert GroupMetadata().to_json() == {"zarr_format": 3, "node_type": "group", "attributes": {}}


def test_consolidated_metadata_can_be_given_and_taken():
    metadata = GroupMetadata.from_json(GROUPS["group-attributes"])
    copies = ConsolidatedMetadata.from_documents({"a": GroupMetadata().to_json()})
    consolidated = metadata.replace(consolidated=copies)
    assert consolidated.to_json()["consolidated_metadata"] == {
        "kind": "inline",
        "must_understand": False,
        "metadata": {"a": {"zarr_format": 3, "node_type": "group", "attributes": {}}},
    }
    again = GroupMetadata.from_json(consolidated.to_json())
    assert again == consolidated
    assert again.replace(consolidated=None).to_json() == GROUPS["group-attributes"]


def test_null_consolidated_metadata_is_none():
    assert GroupMetadata.from_json(GROUPS["group-consolidated-null"]).consolidated is None


def test_an_invalid_document_is_never_written():
    with pytest.raises(MetadataValidationError) as caught:
        GroupMetadata(attributes={"a": [float("nan")]}).to_stored()
    assert [problem.pointer for problem in caught.value.problems] == ["/attributes/a/0"]
    with pytest.raises(UnsupportedFieldError):
        V3().write(zarr.MemoryStore(), "", GroupMetadata(additional_fields={"example": 1}))


def test_metadata_pickles_and_has_a_hash():
    metadata = GroupMetadata.from_json(GROUPS["group-consolidated"])
    again = pickle.loads(pickle.dumps(metadata))
    assert again == metadata
    assert hash(again) == hash(metadata)
    assert again.to_stored()[0] == metadata.to_stored()[0]
