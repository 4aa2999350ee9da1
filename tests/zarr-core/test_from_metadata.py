"""Arrays whose metadata is not stored."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeNotFoundError, NodeTypeError, StoreReadOnlyError
from zarr_core.extension import GroupMetadata


def described(**options):
    options = {"shape": (4, 4), "chunks": (2, 2), "dtype": "int32"} | options
    return zarr.create_array(None, **options).metadata


def test_chunks_are_written_before_the_document_is():
    store = zarr.MemoryStore()
    array = zarr.array_from_metadata(store, described(), path="a/b")
    array[...] = np.arange(16).reshape(4, 4)
    assert sorted(store.list()) == [f"a/b/c/{i}/{j}" for i in range(2) for j in range(2)]
    with pytest.raises(NodeNotFoundError):
        zarr.open(store, path="a/b")
    again = zarr.array_from_metadata(store, described(), path="a/b", read_only=True)
    assert np.array_equal(again[...], np.arange(16).reshape(4, 4))
    with pytest.raises(StoreReadOnlyError):
        again[0] = 1


def test_settings_hold_for_it():
    store = zarr.MemoryStore()
    config = {"write_empty_chunks": True}
    zarr.array_from_metadata(store, described(), config=config)[...] = 0
    assert len(list(store.list())) == 4


def test_metadata_of_groups_are_rejected():
    with pytest.raises(NodeTypeError, match="that of a group"):
        zarr.array_from_metadata(None, GroupMetadata())
