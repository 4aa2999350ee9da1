"""Groups as mappings of their members, and the creation of members."""

import json
import pickle
import sys
import threading
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from unlisted_store import UnlistedStore
from zarr_core.errors import (
    MetadataError,
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    NodeTypeError,
    StoreCapabilityError,
    StoreReadOnlyError,
    UnknownExtensionError,
)
from zarr_core.extension import StoreTraits
from zarr_core.formats.walk import walk


@pytest.fixture
def root():
    """b, c and c/d are groups; a, c/e and c/d/f are arrays."""
    root = zarr.create_group()
    root.create_array("a", shape=2, dtype="int8")
    root.create_group("b")
    root.create_array("c/d/f", shape=3, dtype="int8")
    root.create_array("c/e", shape=4, dtype="int8")
    return root


def test_it_is_a_mapping(root):
    assert isinstance(root, MutableMapping)
    assert list(root) == list(root.keys()) == ["a", "b", "c"]
    assert root._ipython_key_completions_() == ["a", "b", "c"]
    assert len(root) == 3
    assert [node.name for node in root.values()] == ["/a", "/b", "/c"]
    assert dict(root.items())["c"]["d/f"].shape == (3,)
    assert ("a" in root, "c/d/f" in root, "/c/e/" in root, "x" in root) == (True, True, True, False)
    assert 5 not in root
    assert root.get("x") is None
    assert root["c"]["d"]["f"] == root["/c/d/f"]
    with pytest.raises(KeyError, match="x"):
        root["x"]
    with pytest.raises(TypeError, match="a path must be a string"):
        root[5]
    with pytest.raises(TypeError, match=r"not slice; this is a group: elements are in its arrays"):
        root[:]
    with pytest.raises(AttributeError, match=r"no attribute 'c'; for a member use group\['c'\]"):
        _ = root.c
    root["n"] = np.arange(3)
    root["n"] = [1.5]
    assert root["n"][...].tolist() == [1.5]
    root["copy"] = root["n"]
    root.update({"p": np.zeros(2)}, q=[1.5])
    assert root.pop("q").path == "q"
    assert root.setdefault("p").shape == (2,)
    with pytest.raises(NodeTypeError, match=r"copy it with zarr_core\.copy"):
        root["g"] = root["c"]
    del root["c/d"]
    assert "c/d/f" not in root
    assert root.pop("n").path == "n"
    assert list(root) == ["a", "b", "c", "copy", "p"]
    for missing in ("x", "", "/", "c/x"):
        with pytest.raises(KeyError):
            del root[missing]
    root.clear()
    assert sorted(root.store.list()) == ["zarr.json"]
    assert root, "a group without members is a group"


def test_equality_is_that_of_the_place(root):
    assert root == zarr.open(root.store)
    assert hash(root) == hash(zarr.open(root.store))
    assert root != root["b"]
    assert root["b"] != zarr.create_group(path="b")
    assert root["a"] != root["b"]
    assert (root == 5) is False
    with pytest.raises(TypeError, match="locations"):
        root["a"] == np.zeros(2)  # noqa: B015 - the comparison raises
    assert len({root["c/e"], zarr.open(root.store, path="c/e"), root["a"]}) == 2


def test_names():
    deep = zarr.create_group(path="x/y")
    assert (deep.name, deep.path, deep.basename) == ("/x/y", "x/y", "y")
    root = zarr.open(deep.store)
    assert (root.name, root.path, root.basename) == ("/", "", "")
    assert root["x/y"] == root["x"]["y"] == deep
    assert root.zarr_format == 3


def test_members_to_a_depth(root):
    expected = {
        0: ["a", "b", "c"],
        1: ["a", "b", "c", "c/d", "c/e"],
        2: ["a", "b", "c", "c/d", "c/d/f", "c/e"],
        None: ["a", "b", "c", "c/d", "c/d/f", "c/e"],
    }
    for depth, paths in expected.items():
        members = root.members(depth)
        assert [path for path, _ in members] == paths
        assert all(node.path == path for path, node in members)
        assert root.nmembers(depth) == len(paths)
        arrays = [path for path in paths if path[-1] in "aef"]
        assert [path for path, _ in root.arrays(depth)] == arrays
        groups = [path for path in paths if path not in arrays]
        assert [path for path, _ in root.groups(depth)] == groups
        assert list(root.array_keys(depth)) == arrays
        assert list(root.group_keys(max_depth=depth)) == groups
    inner = root["c"]
    assert [path for path, _ in inner.members(None)] == ["d", "d/f", "e"]
    assert dict(inner.members(None))["d/f"].path == "c/d/f"
    assert (list(inner.array_keys()), list(inner.group_keys())) == (["e"], ["d"])
    for listing in (root.members, root.nmembers, root.arrays, root.groups, root.array_keys):
        with pytest.raises(ValueError, match="max_depth must be at least 0"):
            listing(-1)


def test_a_hierarchy_may_be_deeper_than_the_stack_of_python():
    depth = 2 * sys.getrecursionlimit()
    group = zarr.create_group()

    def children(path):
        if path.count("/") < depth:
            yield "a", group.metadata

    assert sum(1 for _ in walk(group.stored.format, group.store, "", None, children)) == depth + 1


def test_one_broken_member_does_not_hide_the_others(root):
    document = json.loads(bytes(root.store.get("a/zarr.json")))
    document["codecs"] = ["acme.unknown"]
    root.store.set("a/zarr.json", json.dumps(document).encode())
    with pytest.raises(UnknownExtensionError, match=r"'/a' at /codecs/0"):
        root["a"]
    assert list(root) == ["a", "b", "c"]
    assert [path for path, _ in root.groups(None)] == ["b", "c", "c/d"]
    root.store.set("a/zarr.json", b"{}")
    with pytest.raises(MetadataError, match=r"a/zarr\.json"):
        root["a"]
    assert root["c/e"].shape == (4,)
    del root["a"]
    assert list(root) == ["b", "c"]


@pytest.mark.parametrize("document", [b"", b"{}", b'{"zarr_format": 3, "node_type": "array"}'])
def test_names_are_listed_whatever_the_documents_say(root, document):
    root.store.set("b/zarr.json", document)
    assert list(root) == list(root.keys()) == ["a", "b", "c"]
    assert len(root) == root.nmembers() == 3
    assert "b" in root
    assert "b/x" not in root
    assert root["c/e"].shape == (4,)
    assert "├── b (cannot be read)" in str(root.tree())
    for listing in (
        root.members,
        lambda: list(root.array_keys()),
        lambda: list(root.group_keys()),
        lambda: root["b"],
        lambda: list(root.arrays()),
        lambda: root.nmembers(None),
        lambda: zarr.consolidate_metadata(root.store),
    ):
        with pytest.raises(MetadataError, match="'b/zarr.json'"):
            listing()
    root.clear()
    assert sorted(root.store.list()) == ["zarr.json"]


def test_names_alone_are_not_read():
    store = CountingStore(zarr.MemoryStore())
    group = zarr.create_group(store)
    for name in "ab":
        group.create_group(name)
    store.set("__reserved/zarr.json", b"")
    store.set("no-node/value", b"")
    store.calls.clear()
    assert list(group) == ["__reserved", "a", "b"]
    assert {call.method for call in store.calls} == {"list_dir", "exists"}


def test_making_members(root):
    new = root.create_group("n/m", attributes={"x": 1})
    assert (new.attrs["x"], "n" in root) == (1, True)
    array = root.create_array("n/q", shape=2, dtype="int8", chunks=1)
    assert array.path == "n/q"
    assert root["b"].create_array("z", shape=1, dtype="int8", fill_value=3)[0] == 3
    for make in (root.create_group, lambda name: root.create_array(name, shape=1)):
        for there in ("a", "c", "/c/d/"):
            with pytest.raises(NodeExistsError, match="a node already exists"):
                make(there)
        for name in ("", "/"):
            with pytest.raises(NodeNameError, match="requires a name"):
                make(name)
        with pytest.raises(NodeExistsError, match="no node can be created below"):
            make("a/below")
    root.create_group("c", overwrite=True)
    assert list(root["c"]) == []
    root.create_array("b", shape=1, overwrite=True)
    assert isinstance(root["b"], zarr.Array)


def test_requiring_members(root):
    assert root.require_group("b") == root["b"]
    assert root.require_group("new/deep").path == "new/deep"
    assert list(root.require_group("c", overwrite=True)) == []
    with pytest.raises(NodeTypeError, match="is an array, not a group"):
        root.require_group("a")
    assert root.require_array("a", shape=2, dtype="int8") == root["a"]
    assert root.require_array("a", shape=(2,)) == root["a"]
    assert root.require_array("y", shape=3, dtype="int16", chunks=1, fill_value=2)[0] == 2
    assert root.require_array("y", shape=3, dtype="int8").dtype == np.int16
    assert root.require_array("v", data=np.arange(3.0))[...].tolist() == [0, 1, 2]
    assert root.require_array("v", data=np.zeros(3)) == root["v"]
    for arguments, message in (
        ({"shape": 3, "dtype": "int32"}, '/data_type: is "int16", not "int32"'),
        ({"shape": 3, "dtype": "int8", "exact": True}, '/data_type: is "int16", not "int8"'),
        ({"shape": 4, "dtype": "int16"}, r"/shape: is \[3\], not \[4\]"),
        ({"data": np.zeros(4)}, r"/shape: is \[3\], not \[4\]"),
        ({"shape": 3, "chunks": 2}, r"/chunk_shape: is \[1\], not \[2\]"),
        ({"shape": 3, "fill_value": 3}, "/fill_value: is 2, not 3"),
        ({"metadata": {"fill_value": 3}}, "/fill_value: is 2, not 3"),
    ):
        with pytest.raises(NodeTypeError, match=message):
            root.require_array("y", **arguments)
    with pytest.raises(NodeTypeError, match="is a group, not an array"):
        root.require_array("b", shape=1)
    for name in ("y", "another"):
        with pytest.raises(TypeError, match="requires shape or data"):
            root.require_array(name)


@pytest.mark.parametrize("kind", ["memory", "directory"])
def test_concurrent_require_returns_one_node(kind, tmp_path):
    store = zarr.MemoryStore() if kind == "memory" else zarr.LocalStore(tmp_path / "g")
    root = zarr.create_group(store)
    barrier = threading.Barrier(8)

    def work(number):
        barrier.wait()
        for attempt in range(5):
            group = root.require_group(f"g{attempt}/inner")
            array = group.require_array("a", shape=8, chunks=2, dtype="int8")
            array[number] = number

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for attempt in range(5):
        assert root[f"g{attempt}/inner/a"][...].tolist() == list(range(8))


def test_removing(root):
    del root["c/e"]
    assert "c/e" not in root
    for path in ("c/e", "nothing/there"):
        with pytest.raises(NodeNotFoundError, match=f"no member '{path}'"):
            del root[path]
    with pytest.raises(NodeNotFoundError, match="cannot remove itself"):
        del root[""]
    del root["c/d"]["f"]
    assert list(root["c/d"]) == []
    assert not any(key.startswith("c/e") for key in root.store.list())


def test_another_thread_may_be_faster(root):
    names = [f"n{number}" for number in range(30)]
    for name in names:
        root.create_group(name)
    with ThreadPoolExecutor(4) as pool:
        for cleared in [pool.submit(root.clear) for _ in range(4)]:
            cleared.result()
    assert sorted(root.store.list()) == ["zarr.json"]


def test_looking_at_a_group_does_not_read_its_members():
    store = CountingStore(zarr.MemoryStore())
    root = zarr.create_group(store)
    root.create_array("a", shape=2)
    store.calls.clear()
    assert repr(root) == f"<Group {store}>"
    store.max_concurrency = 8
    assert root.info["Type"] == "Group"
    assert not store.calls
    assert repr(root.create_group("b")) == f"<Group {store} /b>"


def test_a_store_that_cannot_list():
    store = UnlistedStore()
    zarr.create_group(store).create_array("a", data=np.arange(3))
    assert zarr.open(store)["a"][...].tolist() == [0, 1, 2]
    with pytest.raises(NodeExistsError):
        zarr.create_group(store, path="a")
    with pytest.raises(StoreCapabilityError, match="overwriting requires a store that lists"):
        zarr.create_group(store, path="a", overwrite=True)
    for remove in (lambda: zarr.open(store).__delitem__("a"), lambda: zarr.remove(store, "a")):
        with pytest.raises(StoreCapabilityError, match="cannot list"):
            remove()
    assert zarr.open(store)["a"][...].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("A", "no member 'A'; similar names: 'a'"),
        ("c/d/ff", "no member 'c/d/ff'; similar names: 'c/d/f'"),
        ("xyz/b", "no member 'xyz/b'"),
        ("a/x", "no member 'a/x'"),
        ("n", "no member 'n': it has no metadata (zarr.json)"),
        ("../a", "no member '../a'"),
    ],
)
def test_a_missing_member_is_reported_with_the_group_and_similar_names(root, path, reason):
    root.store.set("n/x", b"")
    for lookup in (root.__getitem__, root.__delitem__, root.pop):
        with pytest.raises(KeyError) as caught:
            lookup(path)
        assert isinstance(caught.value, NodeNotFoundError)
        assert str(caught.value) == f"{root.store} '/': {reason}"
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
    assert path not in root
    assert root.get(path, 5) == 5


def test_looking_up_with_a_default_does_not_list_the_store(root, monkeypatch):
    monkeypatch.setattr(type(root.store), "list_dir", None)
    assert root.get("x") is None
    assert "x" not in root


def test_missing_members_are_reported_by_stores_that_cannot_list(root, monkeypatch):
    def list_dir(*_):
        raise StoreCapabilityError("the store cannot list")

    monkeypatch.setattr(type(root.store), "list_dir", list_dir)
    with pytest.raises(KeyError, match="no member 'x'$"):
        root["x"]


# --- creating and closing ---


def test_a_group_is_opened_or_created(tmp_path):
    read_only = zarr.LocalStore(tmp_path, read_only=True)
    with pytest.raises(StoreReadOnlyError):
        zarr.group(read_only)
    assert not list(tmp_path.iterdir())
    zarr.group(tmp_path).attrs["a"] = 1
    zarr.create_group(tmp_path, path="b/c")
    found = zarr.group(read_only)
    assert (found.read_only, found.attrs["a"]) == (True, 1)
    assert zarr.group(read_only, path="b/c").path == "b/c"
    with pytest.raises(StoreReadOnlyError):
        zarr.group(read_only, overwrite=True)
    assert zarr.group(tmp_path).attrs["a"] == 1
    assert zarr.group(tmp_path, overwrite=True).attrs.asdict() == {}
    zarr.create_array(tmp_path, shape=3, overwrite=True)
    with pytest.raises(NodeTypeError):
        zarr.group(read_only)


def test_arrays_are_created_with_a_value(root):
    assert root.ones("y", shape=2)[...].tolist() == [1, 1]
    assert root.zeros("c/z", shape=2)[...].tolist() == [0, 0]
    assert root.array("w", [5, 6])[...].tolist() == [5, 6]
    assert root.full("z", 7, shape=2, dtype="i1")[...].tolist() == [7, 7]
    assert root.empty("e", shape=2).shape == (2,)
    assert root["c"].require_group("/") == root["c"]
    with pytest.raises(ValueError, match="requires a name"):
        root.zeros("", shape=3)


def test_creating_in_a_store_without_erase():
    class Archive(zarr.MemoryStore):
        traits = StoreTraits(supports_erasing=False)

        def erase(self, key):
            raise AssertionError(key)

    group = zarr.open_group(Archive(), "w")
    group["x"] = np.arange(3)
    assert group["x"][2] == 2
    with pytest.raises(StoreCapabilityError, match="cannot remove"):
        group["x"] = np.arange(3)


def test_a_group_closes_its_store():
    closed = []

    class Store(zarr.MemoryStore):
        def close(self):
            closed.append(self)

    with zarr.group(Store()) as group:
        group["x"] = np.arange(3)
    assert closed == [group.store]
