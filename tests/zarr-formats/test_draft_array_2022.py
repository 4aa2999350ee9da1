"""Metadata documents of arrays and groups in the draft of December 2022."""

import pytest
import zarr_core as zarr
from draft_stores import (
    EXTENSION,
    SPEC,
    array_store,
    document_of,
    metadata_of,
    open_a,
    store_of,
)
from zarr_core.errors import (
    MetadataError,
    MetadataValidationError,
)
from zarr_core.extension import Location
from zarr_core.registry.resolve import format_named

GZIP = {"type": f"{SPEC}codecs/gzip/1.0", "configuration": {"level": 1}}
# The first example of the section on arrays.
EXAMPLE = {
    "shape": [10000, 1000],
    "data_type": "<f8",
    "chunk_grid": {"type": "regular", "chunk_shape": [1000, 100], "separator": "/"},
    "chunk_memory_layout": "C",
    "codecs": [GZIP],
    "fill_value": "NaN",
    "extensions": [],
    "attributes": {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]},
}


def test_the_example_of_an_extension_data_type():
    """Its fill value is null, which the text does not permit, but the extension can."""
    described = {
        "extension": f"{SPEC}extensions/data-types/datetime/1.0",
        "type": "<M8[ns]",
        "fallback": "<i8",
    }
    array = open_a(array_store(**{**EXAMPLE, "data_type": described, "fill_value": None}))
    assert array.dtype == "M8[ns]"
    assert array.fill_value is None


def test_chunks_of_a_dimension_without_elements_may_have_none():
    grid = {"type": "regular", "chunk_shape": [0, 3], "separator": "/"}
    array = open_a(array_store(shape=[0, 6], chunk_grid=grid))
    assert array[...].shape == (0, 6)
    array.attrs["x"] = 1
    assert document_of(array.store, "meta/a.array.json")["chunk_grid"] == grid
    array.resize((3, 6))
    assert document_of(array.store, "meta/a.array.json")["chunk_grid"]["chunk_shape"] == [1, 3]
    array[...] = 5
    assert open_a(array.store)[...].sum() == 90


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"shape": [-1, 6], "chunk_memory_layout": "A"}, "/shape/0 /chunk_memory_layout"),
        ({"extensions": ..., "attributes": []}, "/extensions /attributes"),
        ({"chunk_grid": None}, "/chunk_grid"),
        ({"codecs": ["gzip"]}, "/codecs/0"),
        ({"storage_transformers": [{"type": "x"}]}, "/storage_transformers/0/extension"),
        ({"data_type": {"extension": EXTENSION}}, "/data_type/type"),
    ],
)
def test_every_problem_is_reported(changes, pointers):
    with pytest.raises(MetadataValidationError, match=r"meta/a\.array\.json") as caught:
        open_a(array_store(**changes))
    assert {problem.pointer for problem in caught.value.problems} == set(pointers.split())


# --- unchanged members ---


def test_a_change_of_one_member_changes_what_belongs_to_it():
    format_ = format_named("draft")
    metadata = metadata_of(data_type=">i4", fill_value="0x00000007")
    codecs = metadata.codecs
    small = codecs[0].__class__("bytes", {"endian": "little"})
    written = format_.to_json(metadata.replace(codecs=(small,)))["array"]
    assert (written["data_type"], written["fill_value"]) == ("int32", "0x00000007")
    assert "codecs" not in written
    assert format_.from_json({"array": written}, Location()).codecs == (small,)


def test_a_fill_value_is_always_stored():
    store = store_of({})
    zarr.create_array(store, path="a", shape=2, dtype="f4", zarr_format="draft")
    assert document_of(store, "meta/a.array.json")["fill_value"] == 0.0
    undefined = metadata_of().replace(fill_value_undefined=True)
    with pytest.raises(MetadataValidationError, match="/fill_value.*null is not permitted"):
        format_named("draft").to_json(undefined)


@pytest.mark.parametrize("name", ["draft", "draft-2021"])
@pytest.mark.parametrize(
    "document", [{"zarr.json": {}}, [], "x", None, {"array": {}, "minor": "1"}]
)
def test_node_documents_of_other_formats_are_rejected(name, document):
    with pytest.raises(MetadataError):
        format_named(name).from_json(document, Location("token"))


def test_extensions_that_are_bare_values():
    metadata = metadata_of().replace(additional_fields={EXTENSION: 5})
    written = format_named("draft").to_json(metadata)["array"]["extensions"]
    assert written == [{"extension": EXTENSION, "must_understand": True, "configuration": 5}]
