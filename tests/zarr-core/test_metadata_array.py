"""Metadata of arrays and groups: unchanged members are preserved."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core import strictjson
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import MetadataValidationError, UnsupportedFieldError
from zarr_core.formats.v3 import V3
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import ConsolidatedMetadata, GroupMetadata
from zarr_core.metadata.node import valid_node

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples" / "valid"
DOCUMENTS = {file.stem: json.loads(file.read_bytes()) for file in sorted(EXAMPLES.glob("*.json"))}


def document(**changes):
    return copy.deepcopy(DOCUMENTS["array-minimal"]) | changes


def new_metadata(**changes):
    fields = {
        "shape": (4, 6),
        "data_type": ExtensionDefinition("int32", spelling="int32"),
        "chunk_grid": ExtensionDefinition("regular", {"chunk_shape": [2, 3]}),
        "chunk_key_encoding": ExtensionDefinition("default", {"separator": "/"}),
        "codecs": (ExtensionDefinition("bytes", {"endian": "little"}),),
        "fill_value": 0,
    }
    return ArrayMetadata(**(fields | changes))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_read_metadata_round_trip_is_exact(name):
    original = DOCUMENTS[name]
    metadata = valid_node(copy.deepcopy(original))
    # As text, to compare the order of members, and 1 with 1.0.
    assert json.dumps(metadata.to_json()) == json.dumps(original)
    stored = metadata.to_stored()[0]
    assert json.dumps(json.loads(stored)) == json.dumps(original)
    again = pickle.loads(pickle.dumps(metadata))
    assert again == metadata
    assert hash(again) == hash(metadata)
    assert again.to_stored()[0] == stored


def test_a_change_of_a_document_that_was_read_does_not_affect_others():
    first = document()
    ArrayMetadata.from_json(first)
    first["chunk_grid"]["configuration"]["chunk_shape"] = [99]
    assert ArrayMetadata.from_json(document()).to_json() == document()


def test_changing_one_codec_keeps_the_spelling_of_the_others():
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]
    metadata = ArrayMetadata.from_json(document(codecs=codecs))
    first, _ = metadata.codecs
    changed = metadata.replace(codecs=(first, ExtensionDefinition("gzip", {"level": 1})))
    assert changed.to_json()["codecs"] == [
        codecs[0],
        {"name": "gzip", "configuration": {"level": 1}},
    ]
    assert metadata.to_json()["codecs"] == codecs


def test_changing_the_shape_to_an_equal_number_of_other_type_is_seen():
    changed = ArrayMetadata.from_json(document(attributes={"a": 1})).replace(attributes={"a": True})
    assert changed.to_json()["attributes"]["a"] is True


def test_dimension_names_can_be_given_and_taken():
    metadata = ArrayMetadata.from_json(document())
    named = metadata.replace(dimension_names=("y", None))
    assert named.to_json()["dimension_names"] == ["y", None]
    assert "dimension_names" not in named.replace(dimension_names=None).to_json()


def test_optional_members_that_become_empty_stay_where_they_were():
    metadata = ArrayMetadata.from_json(document(attributes={"a": 1}, storage_transformers=[]))
    assert metadata.replace(attributes={}).to_json()["attributes"] == {}
    assert metadata.to_json()["storage_transformers"] == []


def test_fields_have_python_types():
    metadata = ArrayMetadata.from_json(
        document(dimension_names=["y", None], example={"must_understand": False})
    )
    assert metadata.shape == (100, 80)
    assert metadata.ndim == 2
    assert metadata.dimension_names == ("y", None)
    assert metadata.data_type == ExtensionDefinition("float32")
    assert metadata.additional_fields == {"example": {"must_understand": False}}
    assert metadata.attributes == {}
    assert metadata.storage_transformers == ()


def test_new_metadata_has_the_members_of_the_specification_in_order():
    assert " ".join(new_metadata().to_json()) == (
        "zarr_format node_type shape data_type chunk_grid chunk_key_encoding fill_value codecs "
        "attributes"
    )
    assert ArrayMetadata.from_json(new_metadata().to_json()) == new_metadata()
    assert GroupMetadata().to_json() == {"zarr_format": 3, "node_type": "group", "attributes": {}}


def test_values_of_numpy_are_written_as_plain_numbers():
    stored = new_metadata(
        shape=(np.int64(4), 6), attributes={"scale": np.float32(0.5)}
    ).to_stored()[0]
    assert json.loads(stored)["shape"] == [4, 6]
    assert json.loads(stored)["attributes"] == {"scale": 0.5}


@pytest.mark.parametrize(
    ("metadata", "pointer"),
    [
        (new_metadata(shape=(4, -1)), "/shape/1"),
        (new_metadata(codecs=()), "/codecs"),
        (new_metadata(dimension_names=("y",)), "/dimension_names"),
        (new_metadata(attributes={"a": float("nan")}), "/attributes/a"),
        (new_metadata(attributes={"a": object()}), "/attributes/a"),
        (new_metadata(fill_value=float("inf")), "/fill_value"),
        (GroupMetadata(attributes={"a": [float("nan")]}), "/attributes/a/0"),
    ],
)
def test_an_invalid_document_is_never_written(metadata, pointer):
    with pytest.raises(MetadataValidationError) as caught:
        metadata.to_stored("memory://x zarr.json")
    assert [problem.pointer for problem in caught.value.problems] == [pointer]
    assert "memory://x zarr.json" in str(caught.value)


@pytest.mark.parametrize("metadata", [new_metadata(), GroupMetadata()], ids=["array", "group"])
def test_an_additional_field_that_must_be_understood_is_never_written(metadata):
    with pytest.raises(UnsupportedFieldError):
        V3().write(zarr.MemoryStore(), "", metadata.replace(additional_fields={"example": 1}))


@pytest.mark.parametrize("wrong", [None, [], "array", 3])
def test_non_object_is_rejected(wrong):
    with pytest.raises(MetadataValidationError, match="must be an object"):
        ArrayMetadata.from_json(wrong)


def test_a_document_that_the_fast_check_does_not_know_is_judged_by_the_library():
    # A subclass of str is not a result of JSON, for which the compiled check is made.
    metadata = ArrayMetadata.from_json(document(data_type=np.str_("float32")))
    assert metadata.data_type.name == "float32"
    assert json.loads(metadata.to_stored()[0])["data_type"] == "float32"


def test_equal_metadata_has_equal_hash_whatever_the_spelling():
    short = ArrayMetadata.from_json(document(data_type="float32"))
    long = ArrayMetadata.from_json(document(data_type={"name": "float32"}))
    assert short == long
    assert hash(short) == hash(long)
    assert short != short.replace(shape=(1, 1))


@pytest.mark.parametrize("shape", [(-1,), (2.0,), (True,), (2**63,), (4, 4)])
def test_a_changed_shape_is_validated(shape):
    store = {}
    array = zarr.create_array(store, shape=3, dtype="uint16", dimension_names=["x"])
    metadata = array.stored.metadata
    for _ in range(2):
        with pytest.raises(MetadataValidationError):
            metadata.replace(shape=shape).to_stored()
    data, stored = metadata.replace(shape=(5,), attributes={"a": 1}).to_stored()
    stored_document = strictjson.loads(data)
    assert (stored_document["shape"], stored_document["attributes"]) == ([5], {"a": 1})
    assert strictjson.identical(stored.to_json(), stored_document)
    assert data == strictjson.dumps(stored.to_json())


def test_consolidated_metadata_can_be_given_and_taken():
    original = DOCUMENTS["group-attributes"]
    copies = ConsolidatedMetadata({"a": GroupMetadata().to_json()})
    consolidated = GroupMetadata.from_json(original).replace(consolidated=copies)
    assert consolidated.to_json()["consolidated_metadata"] == {
        "kind": "inline",
        "must_understand": False,
        "metadata": {"a": {"zarr_format": 3, "node_type": "group", "attributes": {}}},
    }
    again = GroupMetadata.from_json(consolidated.to_json())
    assert again == consolidated
    assert again.replace(consolidated=None).to_json() == original
    assert GroupMetadata.from_json(DOCUMENTS["group-consolidated-null"]).consolidated is None
