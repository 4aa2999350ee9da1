"""The argument ``synchronizer``."""

import threading

import pytest
import zarr_core as zarr
from zarr_stores.synchronized_store import SynchronizedStore


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


def test_an_object_with_locks_is_wrapped_by_a_store():
    class Locks:
        def __init__(self):
            self.used = []

        def __getitem__(self, key):
            self.used.append(key)
            return threading.Lock()

    locks = Locks()
    with pytest.raises(TypeError, match=r"open SynchronizedStore\(store, synchronizer\)"):
        zarr.open_array(zarr.MemoryStore(), "w", shape=4, synchronizer=locks)
    array = zarr.create_array(SynchronizedStore(zarr.MemoryStore(), locks), shape=4, chunks=4)
    array[1] = 3
    assert array[...].tolist() == [0, 3, 0, 0]
    assert "c/0" in locks.used
