"""Copying some nodes of a hierarchy, and removing nodes."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError, NodeNotFoundError, StoreReadOnlyError

FORMATS = [1, 2, 3, "n5"]


def hierarchy(zarr_format=3):
    root = zarr.create_group(zarr_format=zarr_format, attributes={"title": "all"})
    root.create_array("g/a", data=np.arange(10), chunks=2)
    root.create_array("g/h/b", data=np.arange(3), chunks=2)
    root.create_array("z", data=np.arange(4.0), chunks=2)
    root.create_group("empty")
    return root


def paths(group):
    return {path for path, _ in group.members(max_depth=None)}


@pytest.mark.parametrize("zarr_format", [2, 3, "n5"])
def test_chosen_nodes_with_the_groups_that_lead_to_them(zarr_format):
    root = hierarchy(zarr_format)
    if zarr_format != "n5":
        root = zarr.consolidate_metadata(root)
        root.store.set("g/notes.txt", b"of no array")
    dest = zarr.MemoryStore()
    asked = []
    copied = zarr.copy(root, dest, only=lambda path: asked.append(path) or path.endswith("b"))
    assert paths(copied) == {"g", "g/h", "g/h/b"}
    assert set(asked) >= {"g/a", "g/h/b", "z", "empty"}
    assert copied.metadata.consolidated is None  # it would list missing nodes
    assert copied.attrs["title"] == "all"
    assert np.array_equal(copied["g/h/b"][...], np.arange(3))
    assert not [key for key in dest.list() if key.startswith(("g/a", "z/", "empty", "g/notes"))]


def test_paths_are_relative_to_the_source():
    root, dest = hierarchy(), zarr.create_group()
    zarr.copy(root["g"], dest, "x", only=lambda path: path == "a")
    assert paths(dest) == {"x", "x/a"}
    assert zarr.copy_all(root, dest, only=lambda path: path == "z").copied == 1
    assert paths(dest) == {"x", "x/a", "z"}
    zarr.copy(root, dest, "y", only=lambda path: path == "g/a", chunks=5)
    assert dest["y/g/a"].chunks == (5,)
    assert paths(dest["y"]) == {"g", "g/a"}


@pytest.mark.parametrize("options", [{}, {"chunks": 5}, {"dry_run": True}], ids=str)
def test_nothing_is_chosen(options):
    dest = zarr.MemoryStore()
    for source, existing in ((hierarchy()["g"], "'', 'a', 'h', 'h/b'"), (hierarchy()["z"], "''")):
        with pytest.raises(NodeNotFoundError, match=f"only selects none of the nodes {existing}$"):
            zarr.copy(source, dest, only=lambda path: path == "c", **options)
    assert not list(dest.list())
    assert zarr.copy_all(hierarchy(), dest, only=lambda path: False).copied == 0


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_node_is_removed_wherever_it_is(zarr_format, tmp_path):
    if zarr_format == 1:
        zarr.create_array(tmp_path / "a.zarr", data=np.arange(3), zarr_format=1)
    else:
        root = zarr.create_group(tmp_path / "a.zarr", zarr_format=zarr_format)
        root.create_array("g/a", data=np.arange(3))
        root.create_array("g/b", data=np.arange(3))
        zarr.remove(tmp_path / "a.zarr", "g/a")
        assert list(zarr.open(tmp_path / "a.zarr")["g"]) == ["b"]
        with pytest.raises(NodeNotFoundError):
            zarr.remove(tmp_path / "a.zarr", "g/a")
    zarr.remove(tmp_path / "a.zarr")
    assert not [path for path in (tmp_path / "a.zarr").rglob("*") if path.is_file()]
    with pytest.raises(NodeNotFoundError):
        zarr.remove(tmp_path / "a.zarr")


def test_unmanaged_keys_are_kept():
    root = hierarchy()
    root.store.set("g/notes.txt", b"mine")
    before = sorted(root.store.list())
    with pytest.raises(NodeExistsError, match="notes.txt"):
        zarr.remove(root["g"])
    assert sorted(root.store.list()) == before


def test_removing_keeps_consolidated_metadata_in_step():
    root = zarr.consolidate_metadata(hierarchy())
    zarr.remove(root["g/a"])
    assert not zarr.check_consolidated(root)
    with pytest.raises(StoreReadOnlyError):
        zarr.remove(zarr.open(root.store, "r")["z"])
    assert "z" in zarr.open(root.store)
