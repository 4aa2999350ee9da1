"""Errors of writes that store some chunks: they name all others."""

from __future__ import annotations

import pickle
import re
import threading

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.config import config
from zarr_core.engine import write as write_module
from zarr_core.errors import StoreError, StoreReadError

SHAPE = (120, 4)
NEW = np.arange(1, 481, dtype="int32").reshape(SHAPE)


class Outage(zarr.MemoryStore):
    """Fails after some writes until it is repaired; remembers what it stored."""

    def __init__(self, max_concurrency=None, batch_nbytes=0):
        super().__init__()
        self.max_concurrency = max_concurrency
        self.traits = self.traits._replace(batch_nbytes=batch_nbytes)
        self.in_memory = False
        self.left = None
        self.stored = []
        self.guard = threading.Lock()

    def _count(self, keys):
        with self.guard:
            if self.left is not None:
                if self.left <= 0:
                    raise StoreReadError("the server is away", self, keys[0])
                self.left -= 1
            self.stored += keys

    def set(self, key, value):
        self._count([key])
        super().set(key, value)

    def erase(self, key):
        self._count([key])
        super().erase(key)

    def set_values(self, values):
        values = list(values)
        self._count([key for key, _ in values])
        for key, value in values:
            super().set(key, value)

    def erase_values(self, keys):
        keys = list(keys)
        self._count(keys)
        for key in keys:
            super().erase(key)


def outage(store, after):
    store.left = after
    store.stored.clear()


def assign(array, selection=(), value=NEW):
    array[selection] = value


def array_in(store, **options):
    return zarr.create_array(
        store, data=np.full(SHAPE, 7, "int32"), chunks=(1, 4), compressors=None, **options
    )


ALL = {f"c/{row}/0" for row in range(120)}
WRITES = {
    "chunks": assign,
    "one value": lambda array: assign(array, ..., 5),
    "fill value": lambda array: assign(array, ..., 0),
    "parts of chunks": lambda array: assign(array, (..., slice(1, 3)), 5),
    "rows": lambda array: array.oindex.__setitem__((list(range(120)), [0, 2]), 5),
    "points": lambda array: array.vindex.__setitem__((list(range(120)), [0] * 120), 5),
}


@pytest.mark.parametrize("max_concurrency", [None, 8])
@pytest.mark.parametrize("after", [0, 1, 50, 119])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_error_has_the_keys_of_all_chunks_that_are_not_stored(write, after, max_concurrency):
    store = Outage(max_concurrency)
    array = array_in(store)
    outage(store, after)
    with config.set(threads=3), pytest.raises(StoreReadError, match="the server is away") as caught:
        write(array)
    unconfirmed = caught.value.unconfirmed
    assert len(unconfirmed) == len(set(unconfirmed)) == 120 - after
    assert set(unconfirmed) == ALL - set(store.stored)
    store.left = None
    write(array)
    expected = zarr.create_array(data=np.full(SHAPE, 7, "int32"))
    write(expected)
    assert np.array_equal(array[...], expected[...])


def test_writing_only_these_chunks_completes_the_call():
    store = Outage(4)
    array = array_in(store)
    outage(store, 30)
    with pytest.raises(StoreError) as caught:
        array[...] = NEW
    store.left = None
    for key in caught.value.unconfirmed:
        row = int(key.split("/")[1])
        array[row] = NEW[row]
    assert np.array_equal(array[...], NEW)


@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("value", [NEW, np.where(np.arange(120)[:, None] % 2, NEW, 0)])
def test_chunks_that_are_stored_together_are_named(after, value):
    store = Outage(batch_nbytes=200)
    array = array_in(store)
    outage(store, after)
    with pytest.raises(StoreError) as caught:
        array[...] = value
    assert set(caught.value.unconfirmed) == ALL - set(store.stored)
    store.left = None
    array[...] = value
    assert np.array_equal(array[...], value)


def test_some_fields_of_all_elements():
    store = Outage(8)
    dtype = np.dtype([("x", "<i4"), ("y", "<f8")])
    array = zarr.create_array(store, data=np.ones(60, dtype), chunks=3)
    outage(store, 5)
    with pytest.raises(StoreError) as caught:
        array.set_basic_selection(..., 2, fields="x")
    assert set(caught.value.unconfirmed) == {f"c/{n}" for n in range(20)} - set(store.stored)
    assert len(caught.value.unconfirmed) == 15


def test_keys_begin_with_the_path_and_shards_are_named_by_their_key():
    store = Outage()
    group = zarr.create_group(store)
    array = group.create_array("a/b", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="uint8")
    outage(store, 2)
    with pytest.raises(StoreError) as caught:
        array[...] = 1
    assert caught.value.unconfirmed == ("a/b/c/1/0", "a/b/c/1/1")


def test_the_message_has_the_number_and_the_first_keys():
    store = Outage()
    array = array_in(store)
    outage(store, 100)
    with pytest.raises(StoreError) as caught:
        array[...] = NEW
    expected = (
        r"'c/100/0': the server is away\. 20 values of the same write are not confirmed as stored: "
        r"'c/100/0', 'c/101/0', .*'c/109/0' and 10 more\. Repeat the call\.$"
    )
    assert re.search(expected, str(caught.value))
    outage(store, 0)
    with pytest.raises(StoreError, match=r"'c/3/0': the server is away$") as caught:
        array[3] = 1  # the message has its key already
    assert caught.value.unconfirmed == ("c/3/0",)


def test_a_pickled_error_has_the_keys():
    store = Outage()
    array = array_in(store)
    outage(store, 10)
    with pytest.raises(StoreError) as caught:
        array[...] = NEW
    loaded = pickle.loads(pickle.dumps(caught.value))
    assert type(loaded) is StoreReadError
    assert loaded.unconfirmed == caught.value.unconfirmed
    assert str(loaded) == str(caught.value)


def test_a_write_of_more_chunks_than_fit_into_memory_fails_soon(monkeypatch):
    monkeypatch.setattr(write_module, "MAX_UNCONFIRMED", 1000)
    store = Outage(4)
    array = zarr.create_array(store, shape=10**15, chunks=1, dtype="uint8", compressors=None)
    outage(store, 3)
    with pytest.raises(StoreError, match="the server is away") as caught:
        array[...] = 1
    assert len(caught.value.unconfirmed) == 1000
