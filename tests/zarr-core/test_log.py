"""Events in the standard log: ignored extensions, retries, leftovers, the native executor."""

import gc
import json
import logging
import subprocess
import sys
import weakref
from itertools import count

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.engine import native
from zarr_core.errors import ValueReplacedError
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.messages import warn


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


# --- warnings show the line of the user, wherever in the library they are issued ---


LENGTHS = count(1)


def of_two_formats(store):
    zarr.create_array(store, path="x", data=np.arange(3))
    store.set("x/.zarray", b"{}")


def of_an_unknown_codec(store):
    zarr.create_array(store, path="x", data=np.arange(3), compressors=None)
    metadata = json.loads(bytes(store.get("x/zarr.json")))
    metadata["codecs"].append({"name": "acme.unknown", "must_understand": False})
    store.set("x/zarr.json", json.dumps(metadata).encode())


def of_nan(store):
    # The warning is issued once for equal metadata.
    zarr.create_array(store, path="x", shape=next(LENGTHS), attributes={"a": 0})
    metadata = json.loads(bytes(store.get("x/zarr.json")))
    metadata["attributes"]["a"] = float("nan")
    store.set("x/zarr.json", json.dumps(metadata).encode())


@pytest.mark.parametrize(
    ("prepare", "text"),
    [
        (of_two_formats, "two formats"),
        (of_an_unknown_codec, "'acme.unknown' are ignored"),
        (of_nan, "contains NaN"),
    ],
)
@pytest.mark.parametrize(
    "opening",
    [
        lambda store: zarr.open(store, path="x"),
        lambda store: zarr.open_array(store, "r", path="x", extensions={"codec": {}}),
        lambda store: zarr.load(store, path="x"),
        lambda store: zarr.save(store, np.arange(3), path="y") or zarr.open(store, path="x"),
    ],
)
def test_opening(prepare, text, opening):
    # The warning about two formats is issued once for a URL; those of stores without a name are reused.
    store = zarr.MemoryStore.from_url(f"memory://warnings-{next(LENGTHS)}")
    prepare(store)
    with pytest.warns(UserWarning, match=text) as caught:
        opening(store)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    "creating",
    [
        lambda: zarr.create_group({}, path="__x/y"),
        lambda: zarr.create_group({}).create_array("__x", shape=3),
    ],
)
def test_creating(creating):
    with (
        zarr.config.set(reserved_names="warn"),
        pytest.warns(UserWarning, match="reserves such names") as caught,
    ):
        creating()
    assert [warning.filename for warning in caught] == [__file__]


def test_control_characters_are_escaped():
    with pytest.warns(RuntimeWarning, match=r"a\\x1bb"):
        warn("a\x1bb", RuntimeWarning)
