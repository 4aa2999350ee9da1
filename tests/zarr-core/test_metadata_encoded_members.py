"""Objects are encoded as by strictjson.dumps, whatever was encoded before."""

import threading

import pytest
import zarr_core as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr_core import strictjson
from zarr_core.errors import MetadataValidationError
from zarr_core.metadata.encoded_members import EncodedMembers

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
