"""Locations where an object is expected, and the other way around."""

import pytest
import zarr_core as zarr
from zarr_core.errors import NodeTypeError


@pytest.mark.parametrize("kind", [str, lambda path: path, zarr.LocalStore])
def test_check_consolidated_accepts_a_location(kind, tmp_path):
    root = zarr.create_group(tmp_path / "a.zarr")
    root.create_array("x", shape=3, dtype="int16")
    zarr.consolidate_metadata(tmp_path / "a.zarr")
    location = kind(tmp_path / "a.zarr")
    assert not zarr.check_consolidated(location)
    zarr.open_group(tmp_path / "a.zarr", use_consolidated=False).store.erase("x/zarr.json")
    assert zarr.check_consolidated(location)


def test_check_consolidated_of_an_array_is_an_error(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", shape=3)
    with pytest.raises(NodeTypeError, match="array"):
        zarr.check_consolidated(tmp_path / "a.zarr")


@pytest.mark.parametrize(
    "location", [zarr.MemoryStore(), "a.zarr", {}, None], ids=["store", "path", "dict", "none"]
)
def test_nodes_are_not_created_by_their_classes(location):
    with pytest.raises(TypeError, match="use open_group or create_group to get a group"):
        zarr.Group(location)
    with pytest.raises(TypeError, match="use open_array or create_array to get an array"):
        zarr.Array(location)
