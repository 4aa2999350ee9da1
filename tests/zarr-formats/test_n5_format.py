"""Arrays and groups of N5 through the public functions."""

import json

import numpy as np
import pytest
import zarr_core
from zarr_core.errors import (
    MetadataDecodeError,
    MetadataValidationError,
    NodeExistsError,
    NodeNotFoundError,
)
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore

VALUES = np.arange(35, dtype="i2").reshape(7, 5)
ARRAY = {"dimensions": [4], "blockSize": [2], "dataType": "uint8", "compression": {"type": "raw"}}


@pytest.fixture(params=["memory", "local"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "store")


def document(store, path=""):
    return json.loads(bytes(store.get(f"{path}/attributes.json".lstrip("/"))))


def put(store, path, content):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    store.set(f"{path}/attributes.json".lstrip("/"), data)


def make(store, name, **options):
    options = {"data": VALUES, "chunks": (3, 2), "zarr_format": "n5", **options}
    return zarr_core.create_array(store, path=name, **options)


def test_an_array_is_created_and_filled(store):
    array = make(store, "a/b", attributes={"unit": "m"})
    assert document(store, "a/b") == {
        "dimensions": [5, 7],
        "blockSize": [2, 3],
        "dataType": "int16",
        "compression": {"type": "gzip", "level": 6, "useZlib": False},
        "unit": "m",
    }
    assert store.exists("a/b/1/2")  # the last row of chunks, the one in the middle
    assert not store.exists("a/b/3/0")
    assert array.fill_value == 0


def test_chunks_of_zeros_are_not_stored(store):
    array = make(store, "a", data=np.zeros((4, 4), "u1"), chunks=(2, 2))
    assert array.nchunks_initialized == 0
    array[0, 0] = 1
    assert store.exists("a/0/0")
    array[0, 0] = 0
    assert not store.exists("a/0/0")
    kept = make(store, "b", data=np.zeros((2, 2), "u1"), config={"write_empty_chunks": True})
    assert kept.nchunks_initialized == 1


def test_the_root_says_that_it_is_n5(store):
    make(store, "deep/below/array")
    assert document(store) == {"n5": "2.0.0"}
    assert not store.exists("deep/attributes.json")
    root = zarr_core.open(store)
    assert dict(root.attrs) == {}
    assert [path for path, _ in root.members(max_depth=None)] == [
        "deep", "deep/below", "deep/below/array",
    ]  # fmt: skip
    root.attrs["title"] = "t"
    assert document(store) == {"n5": "2.0.0", "title": "t"}


def test_array_at_the_root_is_detected(store):
    make(store, "")
    assert document(store)["n5"] == "2.0.0"
    array = zarr_core.open(store)
    array.attrs["a"] = 1
    assert dict(array.attrs) == {"a": 1}
    assert document(store)["n5"] == "2.0.0"


def test_a_root_of_others_is_not_changed_by_attributes(store):
    put(store, "", ARRAY)
    zarr_core.open(store).attrs["a"] = 1
    assert document(store) == ARRAY | {"a": 1}


def test_groups_need_no_document(store):
    put(store, "", {})
    put(store, "a/b/c", ARRAY)
    root = zarr_core.open(store)
    group = root["a/b"]
    assert isinstance(group, zarr_core.Group)
    assert list(root) == ["a"]
    assert list(group) == ["c"]
    assert "nothing" not in root
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store, path="nothing")
    group.attrs["x"] = 1
    assert document(store, "a/b") == {"x": 1}
    del root["a/b"]
    assert list(root) == []


def test_chunks_are_not_groups(store):
    make(store, "a")
    for path in ("a/0", "a/0/0", "a/0/0/x"):
        with pytest.raises(NodeNotFoundError):
            zarr_core.open(store, path=path)
    with pytest.raises(NodeExistsError):
        make(store, "a/0/below")


def test_an_implied_group_is_there_already(store):
    root = zarr_core.create_group(store, zarr_format="n5")
    root.create_array("a/b", data=VALUES)
    with pytest.raises(NodeExistsError):
        root.create_group("a")
    assert root.require_group("a").attrs == {}
    with pytest.raises(NodeExistsError):
        root.create_array("a", data=VALUES)
    replaced = root.create_array("a", data=VALUES, overwrite=True)
    assert np.array_equal(replaced[...], VALUES)
    assert not store.exists("a/b/attributes.json")


def test_overwriting_spares_what_is_not_a_node(store):
    root = zarr_core.create_group(store, zarr_format="n5")
    root.create_array("g/a", data=VALUES)
    store.set("g/notes.txt", b"mine")
    with pytest.raises(NodeExistsError, match=r"notes\.txt"):
        root.create_group("g", overwrite=True)
    store.set("g/a/notes.txt", b"mine")
    with pytest.raises(NodeExistsError, match=r"a/notes\.txt"):
        root.create_array("g/a", data=VALUES, overwrite=True)
    store.erase("g/a/notes.txt")
    root.create_array("g/a", data=VALUES, overwrite=True)
    assert store.exists("g/notes.txt")
    # Files that may belong to another program are not removed as chunks.
    store.set("photos/1", b"jpeg")
    with pytest.raises(NodeExistsError):
        root.create_array("photos", data=VALUES, overwrite=True)


# --- other files ---


def test_folders_are_not_groups(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file.txt").write_text("text")
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(tmp_path)
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(tmp_path, path="sub", zarr_format="n5")
    # Nor is an empty one, in a hierarchy.
    (tmp_path / "attributes.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    assert list(zarr_core.open(tmp_path)) == ["sub"]


def test_an_array_alone_creates_no_groups_of_the_folders_above(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "attributes.json").write_text(json.dumps(ARRAY))
    assert zarr_core.open(tmp_path / "a" / "b").shape == (4,)
    assert zarr_core.open(tmp_path, path="a/b").shape == (4,)
    for path in ("", "a"):
        with pytest.raises(NodeNotFoundError):
            zarr_core.open(tmp_path, path=path)


@pytest.mark.parametrize("mark", ["zarr.json", ".zarray", ".zgroup"])
def test_nodes_of_other_formats_are_left_to_them(store, mark):
    put(store, "", {"n5": "2.0.0"})
    store.set(f"other/{mark}", b"{}")
    put(store, "array", ARRAY)
    root = zarr_core.open(store, zarr_format="n5")
    assert list(root) == ["array"]
    assert [name for name, _ in root.members()] == ["array"]
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store, path="other", zarr_format="n5")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"dimensions": [1]'])
def test_a_damaged_document_is_reported_unless_another_format_is_there(store, content):
    put(store, "", content)
    with pytest.raises(MetadataDecodeError):
        zarr_core.open(store)
    store.set(".zgroup", b'{"zarr_format": 2}')
    assert isinstance(zarr_core.open(store, zarr_format=2), zarr_core.Group)
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store, zarr_format="n5")


@pytest.mark.parametrize("content", [b"[]", b"3", b'"text"', b"null"])
def test_json_that_is_not_an_object_is_not_ours(store, content):
    put(store, "", content)
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store)


def test_names_that_n5_has_for_itself_cannot_be_attributes(store):
    root = zarr_core.create_group(store, zarr_format="n5")
    array = root.create_array("a", data=VALUES)
    for node in (root, array):
        for name in ("dimensions", "blockSize", "dataType", "compression", "n5"):
            with pytest.raises(MetadataValidationError, match=name):
                node.attrs[name] = 1
    assert np.array_equal(zarr_core.open(store)["a"][...], VALUES)


def test_implicit_groups_need_listing(store):
    put(store, "", {})
    put(store, "a/b", ARRAY)
    store.supports_listing = False
    assert zarr_core.open(store, path="a/b").shape == (4,)
    with pytest.raises(NodeNotFoundError):
        zarr_core.open(store, path="a")


def test_a_document_of_another_program_is_not_removed(store):
    root = zarr_core.create_group(store, zarr_format="n5")
    store.set("b/attributes.json", b"[]")
    store.set("b/file", b"")
    assert "b" not in [name for name, _ in root.members()]
    with pytest.raises(NodeExistsError):
        root.create_array("b", data=VALUES, overwrite=True)


def test_nothing_is_stored_for_a_group_without_attributes(store):
    put(store, "", {})
    put(store, "group/array", ARRAY)
    zarr_core.open(store, path="group").attrs.clear()
    assert not store.exists("group/attributes.json")


def test_the_same_document_is_checked_once(store):
    put(store, "a", ARRAY)
    put(store, "b", ARRAY)
    assert zarr_core.open(store, path="a").metadata is zarr_core.open(store, path="b").metadata
