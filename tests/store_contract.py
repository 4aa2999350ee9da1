"""The requirements of every store."""

import pytest
from zarr_conformance.kit import StoreTests
from zarr_core.extension import WrapperStore
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore


class StoreContract(StoreTests):
    """Base class of the tests of a store: implement ``make``, and declare the features of the store."""


class LateUpdateContract(StoreContract):
    """Base class of the tests of a store whose updates hold no lock while the change is computed."""

    @pytest.mark.parametrize(
        ("values", "new"),
        [([None, b"0", b"1", None], b"mine"), ([b"0", b"1", b"2"], None)],
        ids=["set", "erase"],
    )
    def test_an_update_that_is_always_late_gets_its_turn(self, store, values, new):
        def put(value):
            store.erase("k") if value is None else store.set("k", value)

        def change(reader):
            calls.append(reader and bytes(reader.read(0, reader.size)))
            if len(calls) < len(values):  # a writer that does not use ``update`` was faster
                put(values[len(calls)])
            return new

        calls = []
        put(values[0])
        store.update("k", change)
        assert calls == values
        assert store.get("k") == new


class WrapperContract(StoreContract):
    """Base class of the tests of a wrapper, around a MemoryStore."""

    examples = 10
    pickles = False
    test_pickle = None  # as a MemoryStore

    def wrap(self, store):
        """The store around another store."""
        raise AssertionError("wrap the store")

    def make(self, tmp_path):
        return self.wrap(MemoryStore())

    def again(self, store, *, read_only):
        while isinstance(store, WrapperStore):
            store = store.inner
        if isinstance(store, LocalStore):
            return self.wrap(LocalStore(store.path, read_only))
        return self.wrap(MemoryStore(store._mapping, read_only))


class LocalWrapperContract(WrapperContract):
    """Base class of the tests of a wrapper, around a LocalStore."""

    pickles = True
    key_may_be_prefix = False
    test_pickle = StoreContract.test_pickle
    test_deep_keys = None  # slow, as a LocalStore

    def make(self, tmp_path):
        return self.wrap(LocalStore(tmp_path / "store"))


def get_into(store, key, buffer):
    """Read a value into a buffer; return its length, which may be larger."""
    value = store.get_limited(key, len(buffer), buffer)
    if value is None or isinstance(value, int):
        return value
    buffer[: len(value)] = value
    return len(value)
