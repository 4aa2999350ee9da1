"""Mappings of all kinds as stores, and the memory of this process."""

import pickle
import types
from collections import UserDict, defaultdict
from collections.abc import Mapping

import numpy as np
import pytest
import zarr_core as zarr
from store_contract import StoreContract
from zarr_core.errors import StoreError, StoreKeyError, StoreReadError, StoreReadOnlyError
from zarr_core.interfaces.store import Store, StoreTraits
from zarr_core.stores.memory import MemoryStore


class BytesOnly(UserDict):
    """A mapping into which only bytes are written."""

    def __setitem__(self, key, value):
        assert type(value) is bytes
        super().__setitem__(key, value)


class TestUserDict(StoreContract):
    pickles = False

    def make(self, tmp_path):
        return MemoryStore(BytesOnly())

    def again(self, store, *, read_only):
        return type(store)(store._mapping, read_only)


class TestMemoryStore(TestUserDict):
    def make(self, tmp_path):
        return MemoryStore()


def test_whether_a_key_exists_is_known_without_its_value():
    mapping = defaultdict(bytes, {"k": b"value"})
    store = MemoryStore(mapping)
    assert store.exists("k")
    assert not store.exists("other")
    assert list(mapping) == ["k"]


class Arrays(UserDict):
    """Like adapters for HDF5: stores and returns arrays."""

    def __setitem__(self, key, value):
        super().__setitem__(key, np.frombuffer(value, "uint8"))


class TestMappingOfArrays(TestUserDict):
    def make(self, tmp_path):
        return MemoryStore(Arrays())


@pytest.mark.parametrize(
    ("held", "value"),
    [
        (np.arange(4, dtype="uint8").reshape(2, 2).T, b"\0\2\1\3"),
        (np.void(b"ab"), b"ab"),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"ab"), b"ab"),
    ],
)
def test_values_that_are_buffers_or_arrays_are_copied(held, value):
    found = MemoryStore({"k": held}).get("k")
    assert type(found) is bytes
    assert found == value


@pytest.mark.parametrize(
    "held",
    [np.array([b"text", None]), np.array([1], "M8[s]"), "text", None, 5, object()],
)
def test_other_values_are_neither_read_nor_missing(held):
    store = MemoryStore({"a/k": held})
    for call in (store.get, store.getsize, store.open_value):
        with pytest.raises(StoreReadError, match=r"a/k.*bytes are needed"):
            call("a/k")


class ReadOnly(Mapping):
    """A minimal mapping."""

    def __init__(self, values):
        self.values_ = values

    def __getitem__(self, key):
        return self.values_[key]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_)


@pytest.mark.parametrize("kind", [ReadOnly, types.MappingProxyType])
def test_unwritable_locations_are_read_only(kind):
    values = {}
    zarr.create_array(values, data=np.arange(6), chunks=2)
    store = MemoryStore(kind(values))
    assert store.read_only
    array = zarr.open(store)
    assert array.read_only
    assert list(array[...]) == list(range(6))
    with pytest.raises(StoreReadOnlyError):
        store.set("k", b"v")
    other = pickle.loads(pickle.dumps(store))
    assert other.read_only
    assert sorted(other.list()) == sorted(values)


def test_equality_never_reads_the_values():
    class Loud(UserDict):
        def __getitem__(self, key):
            raise AssertionError("read")

    first, second = (MemoryStore(Loud(a=b"")) for _ in range(2))
    assert first != second
    assert first == MemoryStore(first._mapping)
    assert MemoryStore(first._mapping) == first


def test_the_mapping_is_named_but_not_shown():
    secret = UserDict({"k": b"secret"})
    store = MemoryStore(secret)
    assert "UserDict" in repr(store)
    assert "secret" not in repr(store)
    with pytest.raises(StoreError, match="cannot be pickled"):
        pickle.dumps(store)


def test_a_mapping_of_the_user_is_used_and_not_copied():
    mine = {}
    store = MemoryStore(mine)
    store.set("k", [b"a", b"b"])
    assert mine == {"k": b"ab"}
    mine["l"] = b"c"
    assert sorted(store.list()) == ["k", "l"]


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


# --- the methods of the base class ---


class Named(Store):
    """A store at the location of its URL."""

    def __init__(self, place="", read_only=False, endpoint=None):
        self.place, self.read_only, self.traits = place, read_only, StoreTraits(endpoint=endpoint)

    @property
    def url(self):
        return f"named://{self.place}"

    def get(self, key):
        return None

    def set(self, key, value):
        self._require_writable(key)

    def erase(self, key):
        self._require_writable(key)

    def list_prefix(self, prefix):
        return iter(())


class Nameless(Named):
    url = Store.url


def test_stores_of_one_class_and_place_are_equal():
    store = Named("a")
    assert store == Named("a", read_only=True)
    assert hash(store) == hash(Named("a", read_only=True))
    assert store != Named("b")
    assert store != Named("a", endpoint="elsewhere")
    assert store != type("Other", (Named,), {})("a")
    assert store != "named://a"


def test_a_store_without_a_url_equals_itself_only():
    store = Nameless()
    assert store == store
    assert store != Nameless()


def test_repr():
    assert repr(Named("a")) == "Named('named://a')"
    assert repr(Named("a", read_only=True)) == "Named('named://a', read_only=True)"


@pytest.mark.parametrize("prefix", ["", "nothing/"])
def test_erase_prefix_of_a_read_only_store_is_rejected(prefix):
    Named().erase_prefix(prefix)
    with pytest.raises(StoreReadOnlyError):
        Named(read_only=True).erase_prefix(prefix)
