"""``zarr_core.group``: open a group, or create it."""

import pytest
import zarr_core as zarr
from zarr_core.errors import NodeTypeError, StoreReadOnlyError


def read_only(tmp_path):
    return zarr.LocalStore(tmp_path, read_only=True)


def test_an_existing_group_of_a_read_only_store_is_opened(tmp_path):
    zarr.create_group(tmp_path, attributes={"a": 1})
    found = zarr.group(read_only(tmp_path))
    assert found.read_only
    assert found.attrs["a"] == 1


def test_below_a_path_as_well(tmp_path):
    zarr.create_group(tmp_path, path="a/b")
    assert zarr.group(read_only(tmp_path), path="a/b").path == "a/b"


@pytest.mark.parametrize("options", [{}, {"overwrite": True}])
def test_a_read_only_store_is_not_changed(tmp_path, options):
    if options:
        zarr.create_group(tmp_path)
    with pytest.raises(StoreReadOnlyError):
        zarr.group(read_only(tmp_path), **options)
    assert len(list(tmp_path.iterdir())) == len(options)


def test_an_array_is_not_a_group(tmp_path):
    zarr.create_array(tmp_path, shape=3)
    with pytest.raises(NodeTypeError):
        zarr.group(read_only(tmp_path))
