"""Events in the standard log: ignored extensions, retries, leftovers, the native executor."""

import logging
import os
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.engine import native
from zarr_core.errors import ValueReplacedError


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


class Replaced(zarr.MemoryStore):
    """The first value that is opened is replaced meanwhile."""

    left = 1

    def open_value(self, key, prefetch=None):
        if key.startswith("c") and self.left:
            self.left -= 1
            raise_on_read = super().open_value(key, prefetch)

            class Reader:
                def __enter__(self):
                    return self

                def __exit__(self, *_):
                    raise_on_read.__exit__(None, None, None)

                def __getattr__(self, name):
                    raise ValueReplacedError("replaced", "store", key)

            return Reader()
        return super().open_value(key, prefetch)


def test_values_replaced_while_they_are_read(events):
    store = Replaced()
    array = zarr.create_array(store, data=np.arange(16).reshape(4, 4), chunks=(2, 2), shards=(4, 4))
    with zarr.config.set(native="off"):
        assert array[1, 1] == 5
    if store.left:
        pytest.skip("this selection is read in another way")
    assert ("retries", "INFO") in {event[:2] for event in events("retries")}


def test_removed_files_of_killed_processes(events, tmp_path):
    store = zarr.LocalStore(tmp_path)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    leftover = tmp_path / f".k.{dead.pid}-1.zarr-partial"
    leftover.touch()
    then = time.time() - 7200
    os.utime(leftover, (then, then))
    assert store.sweep() == 1
    [(name, level, message)] = events("recovery")
    assert (name, level) == ("recovery", "INFO")
    assert leftover.name in message


def test_native_fall_back_has_a_reason(events, monkeypatch):
    pytest.importorskip("zarr_native")
    monkeypatch.setattr(native, "_plan_or_reason", lambda array: "a reason")
    array = zarr.create_array(zarr.MemoryStore(), data=np.arange(8), chunks=2)
    assert array[3] == 3
    [(name, level, message)] = set(events("native"))
    assert (name, level) == ("native", "INFO")
    assert message.endswith("chunks are processed in Python: a reason")


QUIET = """
import logging
from zarr_core.log import log
log("extensions", "unknown extension %r", "x")
assert logging.getLogger("zarr_core").handlers
"""
UNUSED = """
import sys
from zarr_core.log import log
before = "logging" in sys.modules
log("retries", "again")
assert ("logging" in sys.modules) == before
"""


@pytest.mark.parametrize("program", [QUIET, UNUSED])
def test_quiet_by_default(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
