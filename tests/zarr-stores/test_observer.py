import logging
import pickle

import pytest
from store_contract import LocalWrapperContract
from zarr_core.extension import ByteRange, StoreError, StoreReadError, WrapperStore
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.wrappers.log import LoggedStore
from zarr_stores.wrappers.observer import ObservedStore


class NotingStore(ObservedStore):
    """A store that keeps what is noted."""

    def __init__(self, inner):
        super().__init__(inner)
        self.calls = []

    def note(self, call):
        self.calls.append(call)


def test_every_operation_is_observed():
    unobserved = {"url", "close", "discard_cached", "identity"}
    operations = {name for name in vars(WrapperStore) if name[0] != "_"}
    assert operations - unobserved <= vars(ObservedStore).keys()


@pytest.mark.parametrize(
    ("method", "arguments", "result"),
    [
        ("get", {"key": "k"}, b"value"),
        ("get_partial_values", {"key_ranges": [("k", ByteRange(1, 2))]}, [b"al"]),
        ("set", {"key": "k", "value": b"new"}, None),
        ("set_values", {"values": [("k", b"new")]}, None),
        ("list_dir", {"prefix": ""}, (["k"], [])),
    ],
)
def test_arguments_can_be_named(method, arguments, result):
    store = NotingStore(MemoryStore({"k": b"value"}))
    assert getattr(store, method)(**arguments) == result
    assert [call.operation for call in store.calls] == [method]


class TestObservedStore(LocalWrapperContract):
    def wrap(self, store):
        return NotingStore(store)

    def test_calls(self):
        store = NotingStore(MemoryStore())
        store.set("k", [b"12", b"345"])
        store.get("k"), store.get("none")
        store.get_partial_values([("k", ByteRange(1, 2)), ("k", ByteRange(0))])
        with store.open_value("k") as reader:
            reader.read(0, 4)
            with pytest.raises(StoreReadError):
                reader.read(0, 9)
        store.update("k", lambda reader: bytes(reader.read(0, 1)) + b"--")
        calls = [(call.operation, call.key, call.nbytes) for call in store.calls]
        assert calls == [
            ("set", "k", 5), ("get", "k", 5), ("get", "none", 0), ("get_partial_values", "k k", 7),
            ("open_value", "k", 0), ("reader.read", "k", 4), ("reader.read", "k", 0),
            ("reader.read", "k", 1), ("update", "k", 3),
        ]  # fmt: skip
        assert all(call.seconds >= 0 for call in store.calls)
        assert [type(call.error) for call in store.calls if call.error] == [StoreReadError]


class TestLoggedStore(LocalWrapperContract):
    def wrap(self, store):
        return LoggedStore(store)

    def test_lines(self, caplog):
        store = LoggedStore(MemoryStore(), "mine", logging.INFO)
        caplog.set_level(logging.INFO, "mine")
        store.set("a/k", b"secret")
        assert "set 'a/k' in memory://" in caplog.messages[-1]
        assert "6 bytes in " in caplog.messages[-1]
        with pytest.raises(StoreError):
            store.get("..")
        assert caplog.records[-1].levelno == logging.WARNING
        assert "StoreKeyError" in caplog.messages[-1]
        assert "secret" not in caplog.text


def test_settings_are_pickled(tmp_path):
    store = LoggedStore(LocalStore(tmp_path), "x", 7)
    assert repr(pickle.loads(pickle.dumps(store))) == repr(store)


def test_a_listing_that_fails_is_observed(tmp_path):
    (tmp_path / "loop").symlink_to("loop")  # cannot be listed, also by root
    store = NotingStore(LocalStore(tmp_path / "loop" / "field"))
    for listing in (store.list_prefix, store.list_sizes):
        with pytest.raises(StoreReadError):
            listing("")
    assert [call.operation for call in store.calls if call.error] == ["list_prefix", "list_sizes"]
