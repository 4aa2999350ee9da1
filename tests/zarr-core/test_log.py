"""Events in the standard log: ignored extensions, retries, leftovers, the native executor."""

import gc
import logging
import subprocess
import sys
import weakref

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.engine import native
from zarr_core.errors import ValueReplacedError
from zarr_core.interfaces.byte_reader import WrapperReader


@pytest.fixture
def events(caplog):
    caplog.set_level(logging.INFO, logger="zarr_core")

    def found(topic):
        return [
            (record.name.removeprefix("zarr_core."), record.levelname, record.getMessage())
            for record in caplog.records
            if record.name == f"zarr_core.{topic}"
        ]

    return found


def optional_codec(store):
    zarr.create_array(store, data=np.arange(4), compressors=None)
    document = store.get("zarr.json")
    document = bytes(document).decode().rstrip()
    start = document.index('"codecs"')
    at = document.index("[", start) + 1
    end = document.index("]", at)
    codecs = document[at:end] + ', {"name": "acme.unknown", "must_understand": false}'
    store.set("zarr.json", (document[:at] + codecs + document[end:]).encode())


@pytest.mark.filterwarnings("ignore:.*acme.unknown")
def test_ignored_extensions_are_warnings(events):
    store = zarr.MemoryStore()
    optional_codec(store)
    zarr.open(zarr.MemoryStore({key: store.get(key) for key in store.list()}), "r")
    [(name, level, message)] = set(events("extensions"))
    assert (name, level) == ("extensions", "WARNING")
    assert "'acme.unknown' is ignored" in message


class ReplacedReader(WrapperReader):
    """A value that another process replaced after it was opened."""

    def read_into(self, parts):
        raise ValueReplacedError("replaced", "store", "key")


class ReplacedStore(zarr.LocalStore):
    """The first chunk or shard that is opened is replaced meanwhile."""

    replaced = False

    def open_value(self, key, prefetch=None):
        value = super().open_value(key, prefetch)
        if value is None or self.replaced or not key.startswith("c/"):
            return value
        self.replaced = True
        return ReplacedReader(value)


def test_values_replaced_while_they_are_read(events, tmp_path):
    store = ReplacedStore(tmp_path)
    array = zarr.create_array(store, data=np.arange(16).reshape(4, 4), chunks=(2, 2), shards=(4, 4))
    with zarr.config.set(native="off"):
        assert array[1, 1] == 5
    [(_, level, message)] = events("retries")
    assert level == "INFO"
    assert "'c/0/0' was replaced" in message


def test_native_fall_back_has_a_reason(events, monkeypatch):
    pytest.importorskip("zarr_native")
    monkeypatch.setattr(native, "_plan_or_reason", lambda array: "a reason")
    array = zarr.create_array(zarr.MemoryStore(), data=np.arange(8), chunks=2)
    assert array[3] == 3
    [(name, level, message)] = set(events("native"))
    assert (name, level) == ("native", "INFO")
    assert message.endswith("chunks are processed in Python: a reason")


def test_a_kept_record_does_not_keep_a_store(events, monkeypatch):
    monkeypatch.setattr(native, "_plan_or_reason", lambda array: "a reason")
    monkeypatch.setattr(native.discovery, "scan", lambda: {"native": ()})
    store = zarr.MemoryStore()
    reference = weakref.ref(store)
    array = zarr.create_array(store, data=np.arange(8), chunks=2, compressors=None)
    assert events("native")
    del array, store
    gc.collect()
    assert reference() is None


QUIET = """
import logging
from zarr_core.messages import log
log("extensions", "unknown extension %r", "x")
assert logging.getLogger("zarr_core").handlers
"""
UNUSED = """
import sys
from zarr_core.messages import log
before = "logging" in sys.modules
log("retries", "again")
assert ("logging" in sys.modules) == before
"""


@pytest.mark.parametrize("program", [QUIET, UNUSED])
def test_quiet_by_default(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
