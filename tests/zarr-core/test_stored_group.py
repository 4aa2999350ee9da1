"""StoredGroup: groups below the public interface."""

import pytest
import zarr_core as zarr
from zarr_core.engine.stored_node import StoredGroup
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata


@pytest.fixture
def root():
    group = zarr.create_group(zarr.MemoryStore(), path="top")
    group.create_array("x", shape=3, dtype="int8")
    group.create_group("y").create_array("z", shape=3, dtype="int8")
    return group


def test_a_group_has_what_is_stored_of_it(root):
    stored = root.stored
    assert isinstance(stored, StoredGroup)
    assert (stored.store, stored.path) == (root.store, "top")
    assert stored.format.name == "v3"
    assert stored.metadata is root.metadata
    assert str(stored.location) == f"{root.store} '/top'"
    assert not stored.uses_consolidated
    assert stored.ignored_extensions == ()


def test_members_by_their_paths_in_the_store(root):
    stored = root.stored
    assert [*stored.child_names("top")] == ["x", "y"]
    assert [(name, type(found)) for name, found in stored.children("top")] == [
        ("x", ArrayMetadata), ("y", GroupMetadata),
    ]  # fmt: skip
    assert [name for name, _ in stored.children("top/y")] == ["z"]
    assert stored.find("top/y/z").shape == (3,)
    assert stored.find("top") == root.metadata
    assert stored.find("top/nothing") is None


def test_members_are_found_in_consolidated_metadata(root):
    zarr.consolidate_metadata(root)
    stored = zarr.open_group(root.store, "r", path="top").stored
    assert stored.uses_consolidated
    for key in [key for key in root.store.list() if key != "top/zarr.json"]:
        root.store.erase(key)
    assert [*stored.child_names("top")] == ["x", "y"]
    assert [name for name, _ in stored.children("top/y")] == ["z"]
    assert stored.find("top/y/z").shape == (3,)
    assert root.stored.find("top/y/z") is None


def test_other_metadata_bring_their_consolidated_metadata(root):
    group = zarr.consolidate_metadata(root)
    view = group.stored.consolidated
    group.attrs["title"] = "new"
    assert group.stored.consolidated is view
    assert view.metadata is group.metadata.consolidated
    zarr.unconsolidate_metadata(root)
    group.refresh()
    assert group.stored.consolidated is None
