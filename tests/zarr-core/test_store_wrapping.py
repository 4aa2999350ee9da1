"""The wrapping stores of the tests satisfy the contract of stores."""

import pytest
from counting_store import Call, CountingStore
from failing_store import FailingStore
from store_contract import StoreContract, get_into
from zarr_core.errors import StoreError, StoreReadError
from zarr_core.stores.memory import MemoryStore


class TestCountingStore(StoreContract):
    pickles = False

    def make(self, tmp_path):
        return CountingStore(MemoryStore())

    def again(self, store, *, read_only):
        return CountingStore(MemoryStore(store.inner._mapping, read_only))

    test_pickle = None


def test_calls_are_counted():
    store = CountingStore(MemoryStore())
    store.set("a", b"12345")
    get_into(store, "a", memoryview(bytearray(9)))
    with store.open_value("a") as reader:
        reader.read(1, 3)
    store.get("none")
    assert store.calls == [
        Call("set", "a", 5),
        Call("get_limited", "a", 5),
        Call("open_value", "a", 0),
        Call("reader.read", "a", 3),
        Call("get", "none", 0),
    ]
    assert store.count() == 5
    assert store.nbytes("get_limited", "reader.read") == 8
    assert store.keys("get") == ["none"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_call_that_was_named_fails(when):
    inner = MemoryStore()
    store = FailingStore(inner, fail_at=2, when=when)
    store.set("a", b"1")
    with pytest.raises(StoreError, match="call 2, set"):
        store.set("b", b"2")
    assert inner.exists("b") == (when == "after")
    with pytest.raises(StoreReadError):
        FailingStore(inner, fail_at=1, forever=True).get("a")
    assert store.get("a") == b"1"
