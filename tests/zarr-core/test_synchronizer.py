"""The argument ``synchronizer``."""

import pytest
import zarr_core as zarr


class Counting:
    """A synchronizer as in zarr-stores."""

    def __init__(self):
        self.wrapped = []

    def wrap(self, store):
        self.wrapped.append(store)
        return store


def test_a_synchronizer_wraps_the_store(tmp_path):
    synchronizer = Counting()
    zarr.open_array(tmp_path / "a", "w", shape=4, synchronizer=synchronizer)
    zarr.create_group(tmp_path / "b", synchronizer=synchronizer)
    zarr.open(tmp_path / "b", synchronizer=synchronizer)
    assert len(synchronizer.wrapped) == 3
    with pytest.raises(TypeError, match="zarr_stores.synchronizers"):
        zarr.open(tmp_path / "b", synchronizer={})
