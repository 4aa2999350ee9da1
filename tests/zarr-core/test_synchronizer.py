"""Locks of synchronizers: a store that holds them, which replaces the argument ``synchronizer``."""

import threading

import pytest
import zarr_core as zarr
from zarr_stores.wrappers.synchronized_store import SynchronizedStore


class Locks(dict):
    """A synchronizer as in zarr-python 2."""

    def __missing__(self, key):
        return self.setdefault(key, threading.Lock())


@pytest.mark.parametrize("call", [zarr.open, zarr.open_array, zarr.open_group, zarr.create_group])
def test_the_argument_names_the_store_that_holds_the_locks(call):
    with pytest.raises(TypeError, match=r"SynchronizedStore\(store, synchronizer\) as the store"):
        call(synchronizer=Locks())


def test_an_object_with_locks_is_wrapped_by_a_store():
    locks = Locks()
    array = zarr.create_array(SynchronizedStore(zarr.MemoryStore(), locks), shape=4, chunks=4)
    array[1] = 3
    assert array[...].tolist() == [0, 3, 0, 0]
    assert "c/0" in locks
