"""Conversion of documents of version 2 from and to metadata."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from v2_documents import array, arrays
from zarr_core.extension import (
    ArrayMetadata,
    GroupMetadata,
    Location,
    MetadataValidationError,
    strictjson,
)
from zarr_formats.v2.document import read_array, read_group, write_array, write_group


def read(attributes=None, **changes):
    return read_array(array(**changes), attributes, Location("here"))


def pointers(document, attributes=None):
    with pytest.raises(MetadataValidationError) as caught:
        read_array(document, attributes, Location("here"))
    assert caught.value.location.startswith("here")
    return [problem.pointer for problem in caught.value.problems]


# --- reading ---


def test_the_separator_is_a_period_unless_it_is_given():
    assert read().chunk_key_encoding.configuration == {"separator": "."}
    for separator in ("/", "."):
        found = read(dimension_separator=separator).chunk_key_encoding
        assert found.configuration == {"separator": separator}


def test_attributes():
    assert read().attributes == {}
    assert read({"foo": 42}).attributes == {"foo": 42}
    assert read({"foo": 42}).document == {".zarray": array(), ".zattrs": {"foo": 42}}
    assert read().document == {".zarray": array()}


def test_a_fill_value_of_null_is_undefined():
    metadata = read(fill_value=None)
    assert metadata.fill_value_undefined
    assert metadata.fill_value == 0


@pytest.mark.parametrize(
    ("changes", "valid", "notes"),
    [
        ({"filters": ...}, {"filters": None}, 1),
        ({"compressor": ...}, {"compressor": None}, 1),
        ({"shape": 9, "chunks": 4}, {"shape": [9], "chunks": [4]}, 2),
        ({"dtype": "<u2", "fill_value": "12"}, {"dtype": "<u2", "fill_value": 12}, 1),
        ({"dtype": "|i1", "fill_value": " -3"}, {"dtype": "|i1", "fill_value": -3}, 1),
        ({"dtype": ">f4", "fill_value": "1e3"}, {"dtype": ">f4", "fill_value": 1000.0}, 1),
        ({"dtype": "<f8", "fill_value": "nan"}, {"dtype": "<f8", "fill_value": "NaN"}, 1),
        ({"dtype": "<f2", "fill_value": "-INF"}, {"dtype": "<f2", "fill_value": "-Infinity"}, 1),
        ({"zarr_format": 2.0, "shape": [6.0, 4]}, {"zarr_format": 2, "shape": [6, 4]}, 2),
    ],
)
def test_other_documents_with_one_meaning_are_read_in_their_valid_form(changes, valid, notes):
    metadata = read(**changes)
    assert metadata == read(**valid)
    assert len(metadata.nonstandard) == notes
    written = write_array(metadata, Location("here"))[".zarray"]
    assert json.dumps(written, sort_keys=True) == json.dumps(array(**valid), sort_keys=True)


@pytest.mark.parametrize(
    ("dtype", "fill_value"),
    [("<i4", "1e3"), ("<i4", "0x1"), ("<i4", "NaN"), ("<i4", ""), ("<f8", ""), ("<f8", "1_0"),
     ("|b1", "0"), ("|b1", "false"), ("<M8[s]", "0"), ("<f8", "0x0"), ("<c8", "0"), ("<i4", 0.5)],
)  # fmt: skip
def test_strings_that_are_no_number_are_rejected(dtype, fill_value):
    assert pointers(array(dtype=dtype, fill_value=fill_value)) == ["/fill_value"]


def test_attributes_are_an_object():
    assert pointers(array(), [1]) == [""]


def test_all_problems_are_reported():
    document = array(zarr_format=1, shape=[1], dtype="x", order="Z", filters=3, compressor=...)
    assert set(pointers(document)) >= {
        "/zarr_format", "/chunks", "/dtype", "/order", "/filters", "/compressor",
    }  # fmt: skip
    document = array(order="Z", fill_value="x", filters=[{"id": "packbits"}])
    assert set(pointers(document)) == {"/order", "/fill_value"}


def test_more_dimensions_than_numpy_has():
    assert pointers(array(shape=[1] * 65, chunks=[1] * 65)) == ["/shape"]


# --- writing ---


def test_a_new_document():
    metadata = read_array(array(), {"a": 1}, Location("here")).replace(document=None)
    written = write_array(metadata, Location("there"))
    assert written == {".zarray": array(dimension_separator="."), ".zattrs": {"a": 1}}
    assert list(written[".zarray"]) == sorted(written[".zarray"])
    assert list(write_array(metadata.replace(attributes={}), Location("there"))) == [".zarray"]


def test_attributes_that_were_stored_stay_though_they_are_empty():
    assert write_array(read({}), Location("here"))[".zattrs"] == {}
    assert write_array(read({"a": 1}).replace(attributes={}), Location("here"))[".zattrs"] == {}


@settings(max_examples=60)
@given(arrays(), st.none() | st.just({"a": float("nan")}))
def test_read_metadata_is_preserved(document, attributes):
    metadata = read_array(document, attributes, Location("here"))
    written = write_array(metadata, Location("here"))
    assert strictjson.identical(written[".zarray"], document)
    assert list(written[".zarray"]) == list(document)
    assert strictjson.identical(written.get(".zattrs"), attributes)


@settings(max_examples=60)
@given(arrays())
def test_one_change_changes_one_member(document):
    metadata = read_array(document, None, Location("here"))
    longer = tuple(length + 1 for length in metadata.shape)
    written = write_array(metadata.replace(shape=longer), Location("here"))[".zarray"]
    assert strictjson.identical(written, document | {"shape": list(longer)})
    assert list(written) == list(document)


@settings(max_examples=60)
@given(arrays())
def test_a_document_rewritten_means_the_same(document):
    metadata = read_array(document, None, Location("here"))
    written = write_array(metadata.replace(document=None), Location("there"))[".zarray"]
    again = read_array(written, None, Location("there"))
    assert again.replace(document=None) == metadata.replace(document=None)


def test_metadata_of_another_format_are_rewritten():
    metadata = read().replace(document={"zarr_format": 3, "shape": [9]})
    assert isinstance(metadata, ArrayMetadata)
    assert write_array(metadata, Location("there"))[".zarray"]["shape"] == [6, 4]


# --- groups ---


def test_groups():
    group = read_group({"zarr_format": 2}, {"a": 1}, None, Location("here"))
    assert group.attributes == {"a": 1}
    assert group.consolidated is None
    assert write_group(group, Location("here")) == {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": {"a": 1},
    }
    assert write_group(GroupMetadata(), Location("here")) == {".zgroup": {"zarr_format": 2}}


def test_unmanaged_keys_in_groups_are_kept():
    document = {"foo": 1, "zarr_format": 2}
    written = write_group(read_group(document, None, None, Location("here")), Location("here"))
    assert list(written[".zgroup"].items()) == [("foo", 1), ("zarr_format", 2)]
