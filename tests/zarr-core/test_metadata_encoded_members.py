"""Objects are encoded as by strictjson.dumps, whatever was encoded before."""

import threading

import pytest
import zarr_core as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr_core import strictjson
from zarr_core.errors import MetadataValidationError
from zarr_core.metadata.encoded_members import EncodedMembers
from zarr_core.metadata.group import GroupMetadata

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


@given(st.lists(OBJECTS, min_size=1, max_size=5))
def test_successive_objects_have_the_text_of_dumps(objects):
    texts, last = EncodedMembers(1), {}
    for members in objects:
        # Values of the last object are shared, as in a changed document.
        last, text = texts.encode({**last, **members}, "document")
        assert text == strictjson.dumps(last)
        assert strictjson.identical(last, strictjson.loads(text))


@given(OBJECTS, st.text(max_size=3), OBJECTS)
def test_a_nested_object_has_the_text_of_dumps(document, name, members):
    plain, text = EncodedMembers(2).encode_within({**document, name: members}, name, "document")
    assert text == strictjson.dumps(plain) == strictjson.dumps({**document, name: members})


def test_removed_members_are_forgotten():
    texts = EncodedMembers(1)
    members, _ = texts.encode({str(number): number for number in range(1000)}, "document")
    few = {"1": members["1"]}
    texts.encode(few, "document")
    assert len(texts.unknown(members)) == 999
    assert not texts.unknown(few)


def test_an_error_has_all_pointers():
    with pytest.raises(MetadataValidationError) as caught:
        EncodedMembers(2).encode({"a": 1, "b": float("nan"), "c": [1j]}, "here", "/attributes")
    assert [it.pointer for it in caught.value.problems] == ["/attributes/b", "/attributes/c/0"]


def test_nesting_is_counted_from_the_document():
    value = 1
    for _ in range(strictjson.MAX_DEPTH - 1):
        value = [value]
    EncodedMembers(1).encode({"a": value}, "document")
    with pytest.raises(MetadataValidationError):
        EncodedMembers(2).encode({"a": value}, "document")


def test_threads_change_nodes_with_equal_documents(tmp_path):
    # Their metadata, and the texts of its members, are the same objects.
    arrays = [zarr.create_array(tmp_path / str(n), shape=8, dtype="int8") for n in range(4)]
    for array in arrays:
        array.attrs["n"] = 0
    failed = []

    def change(number):
        for count in range(200):
            arrays[number].attrs["n"] = [number, count]
            if arrays[number].attrs["n"] != [number, count]:
                failed.append(number)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for number, array in enumerate(arrays):
        assert zarr.open_array(array.store).attrs["n"] == [number, 199]


def test_unchanged_members_keep_the_text_that_was_read():
    text = b'{\n  "n": 1,\n  "attributes": {\n    "a": 1.50,\n    "b": [\n      2\n    ],\n    "c": {}\n  }\n}'
    members = strictjson.loads(text)["attributes"]
    texts = EncodedMembers.from_text(text, members, "attributes")
    plain, found = texts.encode({**members, "b": 3}, "document")
    assert found == b'{\n    "a": 1.50,\n    "b": 3,\n    "c": {}\n  }'
    assert plain == {"a": 1.5, "b": 3, "c": {}}


@given(OBJECTS, OBJECTS)
def test_the_text_of_a_document_is_split_at_members(document, members):
    document["attributes"] = members
    text = strictjson.dumps(document)
    texts = EncodedMembers.from_text(text, members, "attributes")
    if members:
        assert not texts.unknown(members)
        assert texts.encode(members, "document")[1] in text


@pytest.mark.parametrize(
    "text",
    [
        b'{"attributes": {"a": 1, "b": 2}}',
        b'{\n "attributes": {\n  "a": 1,\n  "b": 2\n }\n}',
        b'{\n  "attributes": {\n    "a": 1, "b": 2\n  }\n}',
        # A line that looks like the beginning of a member, but is in a value.
        b'{\n  "attributes": {\n    "a": {"x": 1,\n    "b": 2},"b": 3\n  }\n}',
        b'{\n  "attributes": {\n    "a": [{"x": 1,\n    "b": 2}],"b": 3\n  }\n}',
        b'{\n  "attributes": {\n    "a": [{"x": 1,\n    "b": 2},{"b": 2}],"b": 3\n  }\n}',
        b'{\n  "attributes": {\n    "a": {"x": "}",\n    "b": "{"},"b": 3\n  }\n}',
        # The end of a value that looks like that of the object.
        b'{\n  "attributes": {\n    "a": {"x": {\n  }\n}, "b": 2\n  }\n}',
    ],
)
def test_other_layouts_are_not_split(text):
    try:
        members = strictjson.loads(text)["attributes"]
    except zarr.errors.MetadataError:
        members = {"a": {"x": {}}, "b": 2}
    assert list(members) == ["a", "b"]
    assert EncodedMembers.from_text(text, members, "attributes") is None


def test_a_first_change_of_a_document_with_consolidated_metadata(tmp_path):
    root = zarr.create_group(tmp_path, attributes={"text": "é" * 3000, "metadata": {"a": {"x": 1}}})
    for name in "abc":
        root.create_group(name, attributes={"text": name * 3000})
    zarr.consolidate_metadata(tmp_path)
    before = strictjson.loads((tmp_path / "zarr.json").read_bytes())
    metadata = GroupMetadata.from_json(before).with_text((tmp_path / "zarr.json").read_bytes())
    assert not metadata.consolidated.encoded.unknown(metadata.consolidated.entries)
    data, stored = metadata.replace(attributes={**metadata.attributes, "new": 1}).to_stored()
    before["attributes"]["new"] = 1
    assert strictjson.identical(strictjson.loads(data), before)
    assert data == strictjson.dumps(before)
    assert strictjson.identical(stored.to_json(), before)
