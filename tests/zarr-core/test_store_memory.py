from collections import UserDict
from collections.abc import MutableMapping

import pytest
from store_contract import StoreContract
from zarr_core.errors import StoreError, StoreKeyError, StoreReadError
from zarr_core.stores.memory import MemoryStore


class TestMemoryStore(StoreContract):
    pickles = False

    def make(self, tmp_path):
        return MemoryStore()

    def again(self, store, *, read_only):
        return MemoryStore(store._mapping, read_only)


class TestDict(TestMemoryStore):
    def make(self, tmp_path):
        return MemoryStore({})


class Mapping(MutableMapping):
    """A minimal mapping."""

    def __init__(self):
        self.inside = {}

    def __getitem__(self, key):
        return self.inside[key]

    def __setitem__(self, key, value):
        assert type(value) is bytes
        self.inside[key] = value

    def __delitem__(self, key):
        del self.inside[key]

    def __iter__(self):
        return iter(list(self.inside))

    def __len__(self):
        return len(self.inside)


class TestMutableMapping(TestMemoryStore):
    def make(self, tmp_path):
        return MemoryStore(Mapping())


class Named(TestMemoryStore):
    def make(self, tmp_path):
        return MemoryStore.from_url(f"memory://{tmp_path}")

    def again(self, store, *, read_only):
        return MemoryStore.from_url(store.url, read_only=read_only)


class TestNamed(Named):
    pass


def test_a_mapping_of_the_user_is_used_and_not_copied():
    mine = {}
    store = MemoryStore(mine)
    store.set("k", [b"a", b"b"])
    assert mine == {"k": b"ab"}
    mine["l"] = b"c"
    assert sorted(store.list()) == ["k", "l"]


@pytest.mark.parametrize("held", [bytearray(b"ab"), memoryview(b"ab")])
def test_other_buffers_in_the_mapping_are_copied_out(held):
    value = MemoryStore({"k": held}).get("k")
    assert type(value) is bytes
    assert value == b"ab"


@pytest.mark.parametrize("held", ["text", None, 7, object()])
def test_invalid_buffer_is_not_a_missing_value(held):
    store = MemoryStore({"a/k": held})
    for call in (store.get, store.getsize, store.open_value):
        with pytest.raises(StoreReadError, match=r"a/k.*bytes are needed"):
            call("a/k")


def test_keys_of_the_mapping_that_are_not_keys_are_not_listed():
    store = MemoryStore({"../x": b"", "/abs": b"", "": b"", 7: b"", "good": b"", "a/": b""})
    assert list(store.list()) == ["good"]
    assert store.list_dir("") == (["good"], [])
    with pytest.raises(StoreKeyError):
        store.get("../x")


class Broken(UserDict):
    """A mapping that raises network errors."""

    def __getitem__(self, key):
        raise ConnectionError("down")

    def __contains__(self, key):
        raise ConnectionError("down")

    def __setitem__(self, key, value):
        raise ConnectionError("down")

    def __delitem__(self, key):
        raise ConnectionError("down")

    def __iter__(self):
        raise ConnectionError("down")


def test_a_failing_mapping_is_not_an_empty_one():
    store = MemoryStore(Broken())
    for call in (
        lambda: store.get("a/k"),
        lambda: store.exists("a/k"),
        lambda: store.list_prefix("a/"),
        lambda: store.list_dir("a/"),
    ):
        with pytest.raises(StoreReadError, match=r"a/.*ConnectionError: down"):
            call()
    for call in (lambda: store.set("a/k", b""), lambda: store.erase("a/k")):
        with pytest.raises(StoreError, match=r"a/k.*ConnectionError: down"):
            call()


def test_names_are_shared_in_the_process():
    one = MemoryStore.from_url("memory://shared-name")
    one.set("k", b"v")
    assert MemoryStore.from_url("memory://shared-name").get("k") == b"v"
    assert MemoryStore.from_url("memory://another-name").get("k") is None
    assert one.url == "memory://shared-name"


def test_urls_that_are_not_of_memory():
    with pytest.raises(StoreError, match="memory://name"):
        MemoryStore.from_url("file:///x")
    with pytest.raises(StoreError, match=r"options.*'x'"):
        MemoryStore.from_url("memory://x", x=1)
