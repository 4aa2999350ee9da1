"""Moving nodes, within a store and between stores."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    StoreReadOnlyError,
)


@pytest.fixture
def root():
    root = zarr.create_group()
    root.create_array("g/a", data=np.arange(6), chunks=2, shards=4, attributes={"n": 1})
    root.create_group("g/empty", attributes={"m": 2})
    root.create_array("b", data=np.arange(4.0), chunks=2)
    root.store.set("g/readme.txt", b"notes")
    return root


def contents(store, prefix=""):
    return {
        key[len(prefix) :]: json.loads(bytes(store.get(key)))
        if key.endswith("zarr.json")
        else bytes(store.get(key))
        for key in store.list_prefix(prefix)
    }


def test_a_group_moves_with_everything_below_it(root):
    before = contents(root.store, "g/")
    root.move("g", "new/place")
    assert contents(root.store, "new/place/") == before
    assert "notes" in str(before["readme.txt"])
    assert list(root) == ["b", "new"]
    assert not list(root.store.list_prefix("g/"))
    assert root["new/place/a"][...].tolist() == list(range(6))
    root["new"].move("place/a", "c")
    assert root["new/c"].attrs == {"n": 1}
    assert list(root["new/place"]) == ["empty"]


def test_nodes_that_cannot_be_moved(root):
    before = contents(root.store)
    for source, dest, error, message in (
        ("x", "y", NodeNotFoundError, "'/x': no node to move"),
        ("g", "b", NodeExistsError, "a node already exists"),
        ("g", "g", NodeExistsError, "is within the node to move"),
        ("g", "g/a/b", NodeExistsError, "is within the node to move"),
        ("g", "b/below", NodeExistsError, "no node can be created below"),
        ("g", "", NodeNameError, "requires a name"),
        ("", "x", NodeNameError, "requires a name"),
    ):
        with pytest.raises(error, match=message):
            root.move(source, dest)
    assert contents(root.store) == before


def test_an_array_does_not_move_to_where_others_chunks_lie(root):
    root.store.set("z/c/9", b"left by someone")
    before = contents(root.store)
    with pytest.raises(NodeExistsError, match="'z/c/9', which is not part of the node"):
        root.move("b", "z")
    with pytest.raises(NodeExistsError, match="'z/c/9'"):
        zarr.copy(root["b"], root, "z")
    assert contents(root.store) == before


def test_a_move_continues_when_only_a_part_of_the_documents_is_removed():
    root = zarr.create_group(zarr_format=2)
    root.create_array("a", data=np.arange(4), chunks=2, attributes={"n": 1})
    zarr.copy(root["a"], root, "b")
    root.store.erase("a/.zarray")
    root.move("a", "b")
    assert dict(root.members()).keys() == {"b"}
    assert not list(root.store.list_prefix("a/"))


@pytest.mark.parametrize("zarr_format", ["draft", "draft-2021"])
def test_the_entry_point_of_a_draft_moves_with_its_nodes(zarr_format):
    source = zarr.create_group(zarr_format=zarr_format)
    source.create_array("g/a", data=np.arange(4), chunks=2)
    moved = zarr.move(source["g"], zarr.MemoryStore(), "h")
    assert moved["a"][...].tolist() == [0, 1, 2, 3]
    source.create_array("g", data=np.arange(4))
    moved.store.set("zarr.json", moved.store.get("zarr.json").replace(b".json", b".meta"))
    with pytest.raises(NodeExistsError, match=r"another zarr\.json"):
        zarr.move(source["g"], moved.store, "x")
    assert source["g"][...].tolist() == [0, 1, 2, 3]


def test_copies_are_what_their_sources_are(root, tmp_path):
    for dest in (root, tmp_path / "other", None, zarr.MemoryStore()):
        name = "copy" if dest is root else None
        copy = zarr.copy(root["g"], dest, name)
        prefix = f"{copy.path}/" if copy.path else ""
        assert contents(copy.store, prefix) == contents(root.store, "g/")
        assert copy["a"][...].tolist() == list(range(6))
    array = zarr.copy(root["b"], zarr.create_group())
    assert (array.path, array[...].tolist()) == ("b", [0, 1, 2, 3])
    again = zarr.copy(root["b"], array.store, "deep/c")
    assert again.path == "deep/c"
    assert isinstance(zarr.open(array.store)["deep"], zarr.Group)
    assert zarr.copy(zarr.open(array.store), tmp_path / "root").nmembers(None) == 3


def test_nodes_that_cannot_be_copied(root):
    with pytest.raises(NodeNameError, match="the root has no name"):
        zarr.copy(root, root["g"])
    for name, overwrite in (("g", False), ("g/x", False), ("g", True), ("", True)):
        with pytest.raises((NodeExistsError, NodeNameError)):
            zarr.copy(root["g"], root.store, name, overwrite=overwrite)
    with pytest.raises(StoreReadOnlyError):
        zarr.copy(root["b"], zarr.open(root.store, "r"), "x")
    gone = root["b"]
    del root["b"]
    with pytest.raises(NodeNotFoundError, match="has been removed"):
        zarr.copy(gone, None)
    assert root["g/a"][...].tolist() == list(range(6))


def test_a_directory_is_renamed(tmp_path):
    root = zarr.create_group(tmp_path / "store")
    data = np.arange(100, dtype="i4")
    root.create_array("a/b", data=data, chunks=(10,))
    number = (tmp_path / "store" / "a" / "b" / "c" / "3").stat().st_ino
    zarr.move(root["a/b"], root, "x/y")
    assert (tmp_path / "store" / "x" / "y" / "c" / "3").stat().st_ino == number
    assert (root["x/y"][...] == data).all()
    assert sorted(root) == ["a", "x"]


def test_values_at_the_destination_are_kept(tmp_path):
    root = zarr.create_group(tmp_path / "store")
    root.create_array("a", data=np.arange(4), chunks=(2,))
    (tmp_path / "store" / "b").mkdir()
    (tmp_path / "store" / "b" / ".DS_Store").touch()
    (tmp_path / "store" / "b" / "notes.txt").write_text("mine")
    with pytest.raises(zarr.errors.NodeExistsError, match=r"notes\.txt"):
        zarr.move(root["a"], root, "b")
    assert (tmp_path / "store" / "b" / "notes.txt").read_text() == "mine"
    assert (root["a"][...] == np.arange(4)).all()
    (tmp_path / "store" / "b" / "notes.txt").unlink()
    assert (zarr.move(root["a"], root, "b")[...] == np.arange(4)).all()


def test_how_far_it_has_come(root):
    seen = []
    zarr.move(root["g"], zarr.MemoryStore(), progress=seen.append)
    last = {it.node: (it.path, it.done, it.total, it.nodes) for it in seen}
    assert last == {1: ("", 6, 6, 1)}


@pytest.mark.parametrize("function", [zarr.move, zarr.copy, zarr.copy_all])
@pytest.mark.parametrize("source", ["a.zarr", zarr.MemoryStore(), None, 5])
def test_a_source_that_is_not_a_node(source, function):
    advice = "pass what" if source in (None, 5) else r"pass zarr_core\.open\("
    with pytest.raises(NodeTypeError, match=f"must be an array or a group; {advice}"):
        function(source, {})
