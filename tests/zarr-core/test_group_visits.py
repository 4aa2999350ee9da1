"""Visiting the members of groups, the names of h5py, and groups as context managers."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import StoreCapabilityError


@pytest.fixture
def root():
    root = zarr.group()
    root.zeros("a/b", shape=3, dtype="i2")
    root.array("a/c", np.arange(4))
    root.create_group("d")
    return root


def test_every_member_is_visited(root):
    paths = []
    root.visit(paths.append)
    assert paths == ["a", "a/b", "a/c", "d"]
    found = {}
    root.visititems(found.__setitem__)
    assert {path: node.path for path, node in found.items()} == {path: path for path in paths}
    names = []
    root["a"].visitvalues(lambda node: names.append(node.name))
    assert names == ["/a/b", "/a/c"]


def test_a_visit_ends_with_what_the_function_returns(root):
    seen = []
    assert (
        root.visitkeys(lambda path: seen.append(path) or (path if "b" in path else None)) == "a/b"
    )
    assert seen == ["a", "a/b"]
    assert (
        root.visitvalues(lambda node: node if isinstance(node, zarr.Array) else None).path == "a/b"
    )
    assert root.visit(lambda path: None) is None


def test_members_as_h5py_makes_them(root):
    made = root.create_dataset("x", shape=(2, 2), dtype="f4")
    assert root.require_dataset("x", (2, 2), "f4") == made
    assert root.ones("y", shape=2)[...].tolist() == [1, 1]
    assert root.full("z", 7, shape=2, dtype="i1")[...].tolist() == [7, 7]
    assert root.empty("e", shape=2).shape == (2,)
    assert root.ones_like("like", root["a/c"])[...].tolist() == [1] * 4
    assert root.zeros_like("deep/er", root["a/c"]).path == "deep/er"
    assert root["a"].require_group("/") == root["a"]
    with pytest.raises(ValueError, match="requires a name"):
        root.zeros_like("", root["a/c"])


def test_a_group_is_a_dictionary(root):
    assert sorted(root.keys()) == root._ipython_key_completions_() == ["a", "d"]
    assert [path for path, _ in root.items()] == ["a", "d"]
    assert root.get("nothing") is None
    root.update({"n": np.arange(2)}, m=[1.5])
    assert root["n"][1] == 1
    assert root.pop("m").path == "m"
    assert "m" not in root


def test_creating_in_a_store_without_erase():
    class Archive(zarr.MemoryStore):
        supports_erasing = False

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


def test_a_group_is_opened_or_recreated(tmp_path):
    zarr.group(tmp_path / "g").attrs["a"] = 1
    assert zarr.group(tmp_path / "g").attrs["a"] == 1
    assert zarr.group(tmp_path / "g", overwrite=True).attrs.asdict() == {}


def test_arrays_are_saved_alone_or_below_a_group(tmp_path):
    zarr.save_array(tmp_path / "a", np.arange(3), compressors=None)
    assert zarr.load(tmp_path / "a").tolist() == [0, 1, 2]
    zarr.save_group(tmp_path / "g", np.arange(2), x=[5])
    assert {name: v.tolist() for name, v in zarr.load(tmp_path / "g").items()} == {
        "arr_0": [0, 1],
        "x": [5],
    }
    assert "arr_0" in str(zarr.tree(tmp_path / "g"))
