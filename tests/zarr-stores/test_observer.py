import logging
import pickle
import time

import pytest
from store_contract import LocalWrapperContract
from zarr_core.extension import ByteRange, StoreError, StoreReadError, WrapperStore
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.wrappers.faults import FaultyStore
from zarr_stores.wrappers.log import LoggedStore
from zarr_stores.wrappers.metrics import MetricsStore
from zarr_stores.wrappers.observer import ObservedStore


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
    store = MetricsStore(MemoryStore({"k": b"value"}))
    assert getattr(store, method)(**arguments) == result
    assert store.snapshot()[method]["count"] == 1


class TestMetricsStore(LocalWrapperContract):
    def wrap(self, store):
        return MetricsStore(store)

    def test_counts(self):
        store = MetricsStore(MemoryStore())
        store.set("k", [b"12", b"345"])
        store.get("k"), store.get("none")
        store.get_partial_values([("k", ByteRange(1, 2)), ("k", ByteRange(0))])
        with store.open_value("k") as reader:
            reader.read(0, 4)
            with pytest.raises(StoreReadError):
                reader.read(0, 9)
        store.update("k", lambda reader: bytes(reader.read(0, 1)) + b"--")
        found = store.snapshot()
        store.get("k")
        assert all(measured.pop("seconds") >= 0 for measured in found.values())
        assert found == {
            "set": {"count": 1, "errors": 0, "nbytes": 5},
            "get": {"count": 2, "errors": 0, "nbytes": 5},
            "get_partial_values": {"count": 1, "errors": 0, "nbytes": 7},
            "open_value": {"count": 1, "errors": 0, "nbytes": 0},
            "reader.read": {"count": 3, "errors": 1, "nbytes": 5},
            "update": {"count": 1, "errors": 0, "nbytes": 3},
        }
        store.reset()
        assert store.snapshot() == {}


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


class TestFaultyStore(LocalWrapperContract):
    def wrap(self, store):
        return FaultyStore(MetricsStore(store))

    def test_one_call_fails(self):
        store = FaultyStore(MemoryStore(), fail_at=2, when="after")
        store.set("k", b"1")
        with pytest.raises(StoreError, match="call 2, set"):
            store.set("k", b"2")
        assert store.get("k") == b"2"
        assert store.calls == [("set", "k"), ("set", "k"), ("get", "k")]

    def test_latency(self):
        store = FaultyStore(MemoryStore(), latency=0.02)
        begun = time.perf_counter()
        store.exists("k")
        assert time.perf_counter() - begun >= 0.02


def test_settings_are_pickled(tmp_path):
    store = FaultyStore(LoggedStore(LocalStore(tmp_path), "x", 7), 3, "after", True, 0.5)
    assert repr(pickle.loads(pickle.dumps(store))) == repr(store)


def test_a_listing_that_fails_is_counted(tmp_path):
    (tmp_path / "loop").symlink_to("loop")  # cannot be listed, also by root
    store = MetricsStore(LocalStore(tmp_path / "loop" / "field"))
    for listing in (store.list_prefix, store.list_sizes):
        with pytest.raises(StoreReadError):
            listing("")
    assert {name: it["errors"] for name, it in store.snapshot().items()} == {
        "list_prefix": 1,
        "list_sizes": 1,
    }
