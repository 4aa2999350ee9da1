"""Stores of zarr-python's interface in front of stores of the core."""

import asyncio
import threading
import time

import pytest
from counting_store import CountingStore
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr_compat import storage, v2_storage
from zarr_compat.core_store import CoreStore
from zarr_core.extension import StoreError
from zarr_core.stores.memory import MemoryStore

VALUE = bytes(range(100))
PROTOTYPE = default_buffer_prototype()


def parts():
    yield None, VALUE
    yield RangeByteRequest(10, 20), VALUE[10:20]
    yield RangeByteRequest(90, 200), VALUE[90:]
    yield RangeByteRequest(200, 210), b""
    yield OffsetByteRequest(30), VALUE[30:]
    yield OffsetByteRequest(300), b""
    yield SuffixByteRequest(5), VALUE[-5:]
    yield SuffixByteRequest(500), VALUE
    yield SuffixByteRequest(0), b""


def read(store, key, part=None):
    found = asyncio.run(store.get(key, PROTOTYPE, part))
    return None if found is None else found.to_bytes()


@pytest.mark.parametrize("kind", [storage.MemoryStore, storage.LocalStore])
def test_parts_of_values(tmp_path, kind):
    store = kind() if kind is storage.MemoryStore else kind(tmp_path)
    asyncio.run(store.set("a/b", PROTOTYPE.buffer.from_bytes(VALUE)))
    for part, expected in parts():
        assert read(store, "a/b", part) == expected, part
        assert read(store, "missing", part) is None
    with pytest.raises(TypeError, match="unexpected byte_range"):
        read(store, "a/b", (0, 1))


def test_only_a_part_of_a_value_is_read(tmp_path):
    inner = CountingStore(storage.LocalStore(tmp_path).core)
    store = CoreStore(inner)
    asyncio.run(store.set("a", VALUE))
    inner.calls.clear()
    assert read(store, "a", RangeByteRequest(10, 20)) == VALUE[10:20]
    assert sum(call.nbytes for call in inner.calls) == 10


@pytest.mark.parametrize("value", [5, "text", None, [1, 2]])
def test_a_value_that_is_not_a_buffer_is_an_error(value):
    store = storage.MemoryStore()
    for method in (store.set, store.set_if_not_exists):
        with pytest.raises(TypeError, match=f"must be a buffer, not {type(value).__name__}"):
            asyncio.run(method("a", value))
    mapping = v2_storage.KVStore({})
    with pytest.raises(TypeError, match="must be a buffer"):
        mapping["a"] = value
    assert not asyncio.run(store.exists("a"))
    assert not list(mapping)


def test_one_of_several_writers_creates_a_value(tmp_path):
    for store in (storage.LocalStore(tmp_path), CoreStore(_Slow(MemoryStore()))):
        values = [bytes([number]) for number in range(8)]
        barrier = threading.Barrier(len(values))

        def write(value, store=store, barrier=barrier):
            barrier.wait()
            asyncio.run(store.set_if_not_exists("a", value))

        threads = [threading.Thread(target=write, args=(value,)) for value in values]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        first = read(store, "a")
        assert first in values
        asyncio.run(store.set_if_not_exists("a", b"later"))
        assert read(store, "a") == first


class _Slow(CountingStore):
    """A store that writes slowly, and raises an error if a value is replaced."""

    def exists(self, key):
        time.sleep(0.02)
        return super().exists(key)

    def set(self, key, value):
        if self.inner.exists(key):
            raise StoreError("the value was replaced", store=self, key=key)
        super().set(key, value)
