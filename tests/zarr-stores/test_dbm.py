"""Databases of DBM: each backend keeps the contract, reads files of its module, and locks them."""

import dbm.dumb
import importlib
import os
import signal
import sqlite3
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
from database_contract import DatabaseContract, program
from zarr_core.extension import StoreError
from zarr_core.stores.local_files import file_lock
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.dbm_sqlite import SQLiteTable


def has(name):
    try:
        return bool(importlib.import_module(name))
    except ImportError:
        return False


class TestDumb(DatabaseContract):
    name = "dbm"
    backend = "dumb"
    test_deep_keys = None  # too slow: the index is rewritten after each change

    def make(self, tmp_path):
        return DBMStore(tmp_path / "store", backend=self.backend)

    def again(self, store, *, read_only):
        return DBMStore(store.path, read_only=read_only, backend=self.backend)


class TestSQLite3(TestDumb):
    backend = "sqlite3"
    test_deep_keys = DatabaseContract.test_deep_keys


class TestFunction(TestDumb):
    """As of Berkeley DB, whose functions need a package that pip compiles."""

    backend = staticmethod(dbm.dumb.open)


if has("dbm.gnu"):

    class TestGnu(TestDumb):
        backend = "gnu"


if has("dbm.ndbm"):

    class TestNdbm(TestDumb):
        backend = "ndbm"
        # ndbm does not support empty values; a test below checks the error.
        test_value_round_trip = None
        test_no_buffers_are_an_empty_value = None
        test_get_limited_of_empty_value_with_memory = None
        test_partial_values_are_slices = None
        test_invalid_keys_raise = None
        test_changes_while_listing = None
        test_list_prefix_matches_whole_segments = None
        test_listing_skips_deeper_keys = None
        test_prefetch_does_not_limit_reads = None
        test_generation_changes_with_value = None

        def test_an_empty_value_is_rejected(self, store):
            with pytest.raises(StoreError, match="empty"):
                store.set("k", b"")
            assert list(store.list()) == []


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("dbm.dumb", "open"),
        ("dbm.gnu", "open"),
        ("dbm.ndbm", "open"),
        ("dbm.sqlite3", "open"),
        ("berkeleydb", "btopen"),
        ("berkeleydb", "hashopen"),
    ],
)
def test_databases_of_the_modules_are_read_and_changed(tmp_path, module, function):
    # DBMStore(path, open=berkeleydb.btopen) of zarr-python 2 stores keys as they are, in UTF-8.
    if not has(module):
        pytest.skip(f"{module} is not installed")
    open_database = getattr(importlib.import_module(module), function)
    path = str(tmp_path / "field.db")
    database = open_database(path, "c")
    for name in (".zgroup", "é/.zgroup"):
        database[name.encode()] = b'{"zarr_format": 2}'
    database.close()
    # The backends of Python are detected.
    with DBMStore(path, backend=open_database if function != "open" else "sqlite3") as store:
        assert sorted(store.list()) == [".zgroup", "é/.zgroup"]
        store.set("b/.zgroup", b"{}")
        with ThreadPoolExecutor(1) as pool:  # another thread can use it
            assert pool.submit(store.get, "é/.zgroup").result() == b'{"zarr_format": 2}'
    database = open_database(path, "r")
    assert sorted(database.keys()) == sorted(map(str.encode, [".zgroup", "b/.zgroup", "é/.zgroup"]))
    assert database[b"b/.zgroup"] == b"{}"
    database.close()


def test_wrong_arguments_and_files(tmp_path):
    with pytest.raises(StoreError, match="backend must be one of"):
        DBMStore(tmp_path / "s", backend="oracle")
    (tmp_path / "t").write_bytes(b"no database " * 99)
    with pytest.raises(StoreError, match="not a DBM database"):
        DBMStore(tmp_path / "t").get("k")
    assert DBMStore(tmp_path / "none").get("k") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t"]


# --- other processes ---


@pytest.fixture(params=["dumb", "sqlite3"])
def backend(request):
    return request.param


def test_an_empty_file_is_a_new_database(backend, tmp_path):
    (tmp_path / "s").touch()  # as a process leaves it that is killed while it creates SQLite
    store = DBMStore(tmp_path / "s", backend=backend)
    assert store.get("k") is None
    store.erase("k")
    store.set("k", b"v")
    assert store.get("k") == b"v"


def test_a_value_that_is_removed_while_it_is_read_is_old_or_missing(tmp_path, monkeypatch):
    store = DBMStore(tmp_path / "s", backend="sqlite3")
    store.set("k", b"old")
    contains = SQLiteTable.__contains__

    def remove_after(table, name):
        is_there = contains(table, name)
        with closing(sqlite3.connect(store.path, timeout=0)) as other, suppress(sqlite3.Error):
            other.execute("DELETE FROM Dict")
            other.commit()
        return is_there

    monkeypatch.setattr(SQLiteTable, "__contains__", remove_after)
    assert store.get("k") == b"old"


def test_no_other_program_writes_between_comparison_and_write(tmp_path, monkeypatch):
    store = DBMStore(tmp_path / "s", backend="sqlite3")
    store.set("k", b"old")
    other = sqlite3.connect(store.path, timeout=0)
    replace = SQLiteTable.__setitem__

    def replace_after_another(table, name, value):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("UPDATE Dict SET value = 'theirs'")
        replace(table, name, value)

    monkeypatch.setattr(SQLiteTable, "__setitem__", replace_after_another)
    store.update("k", lambda reader: bytes(reader.read(0, 3)) + b" and new")
    assert other.execute("SELECT value FROM Dict").fetchall() == [(b"old and new",)]
    other.close()


USE = """
import os, sys
from zarr_core.extension import StoreError
from zarr_stores.databases.dbm import DBMStore
path, backend, use, key = sys.argv[1:]
store = DBMStore(path, read_only=use == "read", backend=backend)
print("ready", flush=True)
sys.stdin.readline()
try:
    store.get(key) if use == "read" else store.set(key, b"theirs" * 999)
except StoreError:
    sys.exit(3)
if use == "kill":
    os.kill(os.getpid(), 9)
print("done", flush=True)
sys.stdin.readline()
store.close()
"""


def other_process(*arguments):
    """Start a process that has created the store and waits for two lines: to use and to close it."""
    process = subprocess.Popen(
        program(USE, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return process


def test_values_survive_a_killed_process(backend, tmp_path):
    process = begin(other_process(tmp_path / "s", backend, "kill", "k"))
    assert process.wait() == -9
    process.communicate()
    assert DBMStore(tmp_path / "s").get("k") == b"theirs" * 999


def test_a_database_that_several_processes_create_keeps_what_each_stored(backend, tmp_path):
    for attempt in range(2):
        path = tmp_path / f"{attempt}" / "s"
        writers = {key: other_process(path, backend, "write", key) for key in ("a", "b")}
        for writer in writers.values():
            begin(writer)
        for writer in writers.values():
            writer.communicate("\n")
        stored = {key for key, writer in writers.items() if writer.returncode == 0}
        assert stored
        assert {writer.returncode for writer in writers.values()} <= {0, 3}
        assert {*DBMStore(path).list()} == stored


def test_a_database_is_changed_in_a_directory_that_is_not_writable(backend, tmp_path, monkeypatch):
    store = DBMStore(tmp_path / "s", backend=backend)
    store.set("k", b"old")
    store.close()
    (tmp_path / ".s.zarr-lock").mkdir()  # also stops the superuser, who can write every directory
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    store.set("k", b"new")
    assert store.get("k") == b"new"


def test_a_forked_child_does_not_keep_the_lock_of_its_parent(tmp_path, monkeypatch):
    store = DBMStore(tmp_path / "s", backend="dumb")
    store.set("k", b"v")
    open_database, children = dbm.dumb.open, []

    def fork_and_open(path, flag):
        monkeypatch.undo()
        if child := os.fork():
            children.append(child)
            return open_database(path, flag)
        signal.alarm(10)
        os._exit(store.get("k") != b"v")

    monkeypatch.setattr(dbm.dumb, "open", fork_and_open)
    store.set("other", b"v")
    assert os.waitpid(children[0], 0)[1] == 0


def test_a_database_that_is_being_created_is_not_opened(tmp_path):
    store = DBMStore(tmp_path / "s", backend="dumb")
    with file_lock(store.path):
        thread = threading.Thread(target=store.set, args=("k", b"v"))
        thread.start()
        thread.join(0.2)
        assert list(tmp_path.glob("s*")) == []
    thread.join()
    assert store.get("k") == b"v"
