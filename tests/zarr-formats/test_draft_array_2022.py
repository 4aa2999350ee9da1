"""Metadata documents of arrays and groups in the draft of December 2022."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import (
    EXTENSION,
    SPEC,
    TEXT,
    array_store,
    document_of,
    metadata_of,
    open_a,
    ramp,
    store_of,
)
from zarr_core.errors import (
    MetadataDecodeError,
    MetadataError,
    MetadataValidationError,
    UnsupportedFieldError,
)
from zarr_core.extension import Location
from zarr_core.formats.lookup import format_named

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


def test_the_example_of_an_array():
    array = open_a(array_store(**EXAMPLE))
    assert (array.shape, array.chunks, array.dtype) == ((10000, 1000), (1000, 100), np.float64)
    assert np.isnan(array[5, 5])
    assert dict(array.attrs) == EXAMPLE["attributes"]
    assert [str(codec.name) for codec in array.metadata.codecs] == ["bytes", "gzip"]
    array.attrs["foo"] = 43
    changed = {**EXAMPLE, "attributes": {**EXAMPLE["attributes"], "foo": 43}}
    assert document_of(array.store, "meta/a.array.json") == changed


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


@pytest.mark.parametrize(
    "member",
    [
        "shape", "data_type", "chunk_grid", "chunk_memory_layout", "fill_value", "extensions",
        "attributes",
    ],
)  # fmt: skip
def test_members_are_mandatory(member):
    with pytest.raises(MetadataValidationError, match=f"/{member}: is missing"):
        open_a(array_store(**{member: ...}))


@pytest.mark.parametrize("member", ["compressor", "dimension_names", "zarr_format", "node_type"])
def test_arrays_have_no_other_members(member):
    with pytest.raises(UnsupportedFieldError, match=f"/{member}: is not a known member"):
        open_a(array_store(**{member: None}))


@pytest.mark.parametrize("document", [b"[]", b'"array"', b"1", b"null"])
@pytest.mark.parametrize("kind", ["array", "group"])
def test_a_document_is_one_object(kind, document):
    with pytest.raises(MetadataValidationError, match=r"meta/a\.\w+\.json.*"):
        open_a(store_of({f"meta/a.{kind}.json": document}))


@pytest.mark.parametrize("text", [b'{"attributes": {"eggs": 42,}}', b"", b'{"attributes": NaN}'])
def test_documents_are_json(text):
    """The example of a group has a comma too many."""
    with pytest.raises(MetadataDecodeError, match=r"meta/a\.group\.json"):
        open_a(store_of({"meta/a.group.json": text}))


VALUES = {
    "shape": [[4, -6], [4, 6.0], [4, True], "4"],
    "attributes": [[], None],
    "chunk_memory_layout": ["A", None, {"type": "z"}, {"extension": EXTENSION}],
    "chunk_grid": [
        None,
        {"type": "regular", "chunk_shape": [2, 3]},
        {"type": "regular", "separator": "/"},
        {"type": "irregular", "chunk_shape": [2, 3], "separator": "/"},
        {"type": "regular", "chunk_shape": [2, 3], "separator": "-"},
        {"type": "regular", "chunk_shape": [2, 3.5], "separator": "/"},
        {"extension": EXTENSION},
        {"extension": "no uri", "type": "x"},
    ],
    "codecs": [
        None,
        [{"configuration": {}}],
        ["gzip"],
        [{"type": "gzip"}],
        [{"type": GZIP["type"], "configuration": []}],
        [{"type": GZIP["type"], "level": 1}],
    ],
    "storage_transformers": [
        [{"extension": EXTENSION}],
        [{"type": "x"}],
        [{"extension": EXTENSION, "type": "x", "configuration": 1}],
    ],
    "extensions": [{}, [{"extension": EXTENSION}], [{"must_understand": False}]],
    "data_type": [
        1,
        {"extension": EXTENSION},
        {"type": "x"},
        {"extension": EXTENSION, "type": "x", "fallback": None},
        {"extension": EXTENSION, "type": "x", "fallback": [1]},
    ],
    "fill_value": [..., None],
}


@pytest.mark.parametrize(
    ("member", "value"), [(member, value) for member in VALUES for value in VALUES[member]]
)
def test_values_of_members_are_checked(member, value):
    with pytest.raises(MetadataValidationError, match=rf"meta/a\.array\.json'.*\n.*/{member}"):
        open_a(array_store(**{member: value}))


def test_every_problem_is_reported():
    with pytest.raises(MetadataValidationError) as caught:
        open_a(array_store(shape=[-1, 6], chunk_memory_layout="A", extensions=...))
    assert {problem.pointer for problem in caught.value.problems} == {
        "/shape/0",
        "/chunk_memory_layout",
        "/extensions",
    }


@pytest.mark.parametrize("chunk", [[2], [2, 3, 1], [0, 3], [2, 0]])
def test_chunks_have_the_dimensions_of_the_array_and_elements(chunk):
    grid = {"type": "regular", "chunk_shape": chunk, "separator": "/"}
    with pytest.raises(MetadataValidationError, match="/chunk_grid/chunk_shape"):
        open_a(array_store(chunk_grid=grid))


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
    "attributes", [{}, {"a": None}, {"": [1, {"ä": 2.5}]}, {"extensions": [], "filters": [1]}]
)
def test_attributes_are_any_object(attributes):
    store = array_store(attributes=attributes)
    assert dict(open_a(store).attrs) == attributes
    store = store_of({"meta/a.group.json": {"attributes": attributes}})
    assert dict(open_a(store).attrs) == attributes


@pytest.mark.parametrize("member", ["extensions", "colour"])
def test_groups_have_attributes_alone(member):
    with pytest.raises(UnsupportedFieldError, match=f"/{member}"):
        open_a(store_of({"meta/a.group.json": {"attributes": {}, member: []}}))
    with pytest.raises(MetadataValidationError, match="/attributes"):
        open_a(store_of({"meta/a.group.json": {}}))


def test_a_group_that_is_changed_has_attributes_alone():
    store = store_of({})
    group = zarr.create_group(store, path="g", zarr_format="draft", attributes={"spam": "ham"})
    group.attrs["eggs"] = 42
    assert document_of(store, "meta/g.group.json") == {"attributes": {"spam": "ham", "eggs": 42}}


def test_codecs_may_be_absent():
    for codecs in (..., []):
        array = open_a(array_store(codecs=codecs))
        array[...] = ramp((4, 6))
        assert bytes(array.store.get("data/a/c1/1")) == ramp((4, 6))[2:, 3:].tobytes()


def test_storage_transformers_may_be_absent():
    for transformers in (..., []):
        array = open_a(array_store(storage_transformers=transformers))
        array[...] = 1
        assert len([key for key in array.store.list() if key.startswith("data/")]) == 4


def test_an_edge_is_filled_with_the_fill_value():
    array = open_a(array_store(shape=[3, 4], fill_value=7))
    array[...] = 1
    edge = np.frombuffer(array.store.get("data/a/c1/1"), "<i4").reshape(2, 3)
    assert edge.tolist() == [[1, 7, 7], [7, 7, 7]]


# --- unchanged members ---


def test_unchanged_metadata_is_preserved():
    odd = {
        "attributes": {"z": 1, "a": [1.0, 1]},
        "fill_value": "0x00000007",
        "extensions": [],
        "storage_transformers": [],
        "chunk_memory_layout": "F",
        "codecs": [{"type": f"{SPEC}codec/gzip"} | {"configuration": {"level": 9}}],
        "chunk_grid": {"separator": "/", "chunk_shape": [2, 3], "type": "regular"},
        "data_type": ">i4",
        "shape": [4, 6],
    }
    store = store_of({"meta/a.array.json": odd})
    array = open_a(store)
    assert json.dumps(array.stored.format.to_json(array.metadata)["array"]) == json.dumps(odd)
    array.resize((8, 6))
    array.attrs["a"] = 2
    changed = {**odd, "shape": [8, 6], "attributes": {"z": 1, "a": 2}}
    assert json.dumps(document_of(store, "meta/a.array.json")) == json.dumps(changed)
    array[...] = ramp((8, 6))
    assert open_a(store)[...].tolist() == ramp((8, 6)).tolist()


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


def test_consolidated_metadata_are_rejected():
    store = store_of({"meta/g.group.json": {"attributes": {}}}, TEXT)
    with pytest.raises(MetadataError, match="does not support consolidated metadata"):
        zarr.consolidate_metadata(store)
    assert sorted(store.list()) == ["meta/g.group.json", "zarr.json"]


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
