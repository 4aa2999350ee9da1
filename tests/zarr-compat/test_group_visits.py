"""Methods of groups of zarr-python 2: visits, and the names of h5py."""

import numpy as np
import pytest
import zarr_compat.api as zarr


@pytest.fixture
def root():
    root = zarr.group({})
    root.create_array("a/b", shape=3, dtype="i2")
    root["a/c"] = np.arange(4)
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
    assert root.require_dataset("x", shape=(2, 2), dtype="f4") == made
    assert root.create("y", shape=3).path == "y"
    assert [group.path for group in root.create_groups("n1", "n2/deep")] == ["n1", "n2/deep"]
    assert [group.path for group in root.require_groups("n1", "n3")] == ["n1", "n3"]
    assert [array.path for array in root["a"].array_values()] == ["a/b", "a/c"]
    assert [group.path for group in root.group_values()] == ["a", "d", "n1", "n2", "n3"]
    assert root.ones_like("like", root["a/c"])[...].tolist() == [1] * 4
    assert root.zeros_like("deep/er", root["a/c"]).path == "deep/er"
