"""Mappings of all kinds as stores."""

import pickle
import types
from collections import UserDict
from collections.abc import Mapping, MutableMapping
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from store_contract import StoreContract
from zarr_core.errors import StoreError, StoreReadError, StoreReadOnlyError
from zarr_core.stores.mapping import MappingStore
from zarr_core.stores.memory import MemoryStore


class TestUserDict(StoreContract):
    pickles = False

    def make(self, tmp_path):
        return MappingStore(UserDict())

    def again(self, store, *, read_only):
        return MappingStore(store._mapping, read_only)


class Files(MutableMapping):
    """A mapping of files; equal to another mapping of the same files."""

    def __init__(self, root):
        self.root = Path(root)

    def _file(self, key):
        # Names of the maximum length of keys, without slashes.
        encoded = key.encode().hex()
        return self.root.joinpath(
            *(encoded[at : at + 200] for at in range(0, len(encoded), 200)), "v"
        )

    def __getitem__(self, key):
        try:
            return self._file(key).read_bytes()
        except FileNotFoundError:
            raise KeyError(key) from None

    def __setitem__(self, key, value):
        file = self._file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_bytes(value)
        new.replace(file)

    def __delitem__(self, key):
        try:
            self._file(key).unlink()
        except FileNotFoundError:
            raise KeyError(key) from None

    def __iter__(self):
        for file in list(self.root.rglob("v")):
            yield bytes.fromhex("".join(file.relative_to(self.root).parts[:-1])).decode()

    def __len__(self):
        return len(list(iter(self)))

    def __eq__(self, other):
        return isinstance(other, Files) and self.root == other.root

    def __hash__(self):
        return hash(self.root)


class TestMappingOfFiles(StoreContract):
    pickles = False
    test_deep_keys = None  # thousands of directories

    def make(self, tmp_path):
        return MappingStore(Files(tmp_path / "files"))

    def again(self, store, *, read_only):
        return MappingStore(store._mapping, read_only)


class Arrays(UserDict):
    """Like adapters for HDF5: stores and returns arrays."""

    def __setitem__(self, key, value):
        super().__setitem__(key, np.frombuffer(value, "uint8"))


class TestMappingOfArrays(TestUserDict):
    def make(self, tmp_path):
        return MappingStore(Arrays())


class Boxed:
    """Converts to an array, and does not support the buffer protocol."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize(
    ("held", "value"),
    [
        (np.arange(4, dtype="uint8").reshape(2, 2).T, b"\0\2\1\3"),
        (np.array([1], "M8[s]"), b"\1" + bytes(7)),
        (np.void(b"ab"), b"ab"),
        (Boxed(np.frombuffer(b"abc", "uint8")), b"abc"),
        (bytearray(b"ab"), b"ab"),
    ],
)
def test_values_that_are_arrays(held, value):
    assert MappingStore({"k": held}).get("k") == value


@pytest.mark.parametrize("held", [np.array([b"text", None]), Boxed(np.array(["text"], object)), 5])
def test_pointers_are_not_values(held):
    with pytest.raises(StoreReadError, match="bytes are needed"):
        MappingStore({"k": held}).get("k")


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
    store = MappingStore(kind(values))
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

    first, second = (MappingStore(Loud(a=b"")) for _ in range(2))
    assert first != second
    assert first == MappingStore(first._mapping)
    assert MemoryStore(first._mapping) == first


def test_the_mapping_is_named_but_not_shown():
    secret = UserDict({"k": b"secret"})
    store = MappingStore(secret)
    assert "UserDict" in repr(store)
    assert "secret" not in repr(store)
    with pytest.raises(StoreError, match="cannot be pickled"):
        pickle.dumps(store)


class Listed(UserDict):
    """A mapping that lists its keys in Python, so that other threads change it meanwhile."""

    changes = 0

    def __iter__(self):
        for number, key in enumerate(self.data):
            if number == 1 and self.changes:
                self.changes -= 1
                self.data[f"new/{self.changes}"] = b""
            yield key


def test_a_mapping_is_listed_while_others_change_it():
    mapping = Listed({"a": b"1", "b": b"2"})
    store = MappingStore(mapping)
    mapping.changes = 3
    assert sorted(store.list()) == ["a", "b", "new/0", "new/1", "new/2"]
    mapping.changes = 10**6
    with pytest.raises(StoreError, match=r"the mapping failed: RuntimeError: .* changed size"):
        store.list()
    mapping.changes = 0
    store.set("c", b"3")
    assert store.exists("c")
