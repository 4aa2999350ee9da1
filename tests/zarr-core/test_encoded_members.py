"""Objects are encoded as by strictjson.dumps, whatever was encoded before."""

import threading
from dataclasses import replace

import pytest
import zarr_core as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr_core import strictjson
from zarr_core.errors import MetadataValidationError
from zarr_core.metadata.consolidated import ConsolidatedMetadata
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


@pytest.mark.parametrize("shape", [(-1,), (2.0,), (True,), (2**63,), (4, 4)])
def test_a_changed_shape_is_validated(shape):
    store = {}
    array = zarr.create_array(store, shape=3, dtype="uint16", dimension_names=["x"])
    metadata = array.stored.metadata
    for _ in range(2):
        with pytest.raises(MetadataValidationError):
            metadata.replace(shape=shape).to_stored()
    data, stored = metadata.replace(shape=(5,), attributes={"a": 1}).to_stored()
    document = strictjson.loads(data)
    assert (document["shape"], document["attributes"]) == ([5], {"a": 1})
    assert strictjson.identical(stored.to_json(), document)
    assert data == strictjson.dumps(stored.to_json())
