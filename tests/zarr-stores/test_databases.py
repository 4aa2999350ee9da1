"""Databases in files: guarantees for several processes, and what is peculiar to each."""

import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest
import zarr_core as zarr
from database_contract import DatabaseContract, program
from zarr_core.extension import StoreError, StoreKeyError, StoreReadError
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore

KINDS = {"sqlite": SQLiteStore, "lmdb": LMDBStore}


class TestSQLiteStore(DatabaseContract):
    name = "sqlite"
    kind = SQLiteStore

    def make(self, tmp_path):
        return self.kind(tmp_path / "store")

    def again(self, store, *, read_only):
        return self.kind(store.path, read_only=read_only)


class TestLMDBStore(TestSQLiteStore):
    name = "lmdb"
    kind = LMDBStore
    test_deep_keys = None  # keys have at most 511 bytes


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def store(kind, tmp_path):
    with kind(tmp_path / "a b%41") as store:
        yield store


FILL = """
import pickle, sys
store = pickle.loads(bytes.fromhex(sys.argv[1]))
number = 0
while True:
    store.set(f"c/{number}", bytes([number % 256]) * 20_000)
    store.set("last", str(number).encode())
    print(number, flush=True)
    number += 1
"""


def test_a_killed_writer_loses_no_acknowledged_value(store):
    state = pickle.dumps(store).hex()
    writer = subprocess.Popen(program(FILL, state), stdout=subprocess.PIPE, text=True)
    for _ in range(40):
        said = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    said = int((writer.stdout.read().split() or [said])[-1])
    writer.wait()
    writer.stdout.close()
    assert int(bytes(store.get("last"))) >= said
    for number in range(said + 1):
        assert bytes(store.get(f"c/{number}")) == bytes([number % 256]) * 20_000
    store.set("next", b"v")  # locks of the killed process are released


@pytest.mark.parametrize("kind", [*KINDS.values(), DBMStore])
def test_a_permission_error_is_not_a_missing_database(kind, tmp_path):
    (tmp_path / "loop").symlink_to("loop")  # fails for root, too
    store = kind(tmp_path / "loop" / "field")
    for call in (lambda: store.get("k"), lambda: store.exists("k"), lambda: list(store.list())):
        with pytest.raises(StoreError, match="loop/field"):
            call()


@pytest.mark.parametrize("kind", [*KINDS.values(), DBMStore])
@pytest.mark.parametrize("operation", ["get", "exists", "getsize", "open_value", "erase"])
def test_keys_with_surrogates_are_invalid(kind, operation, tmp_path):
    with kind(tmp_path / "values") as store:
        for _ in range(2):  # without a database, then with one
            with pytest.raises(StoreKeyError, match="UTF-8"):
                getattr(store, operation)("a\ud800")
            store.set("a", b"value")
        assert bytes(store.get("a")) == b"value"


def test_closing_while_others_read(store):
    store.set("k", b"value")
    done = threading.Event()

    def read():
        while not done.is_set():
            assert bytes(store.get("k")) == b"value"
            assert list(store.list()) == ["k"]

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read) for _ in range(4)]
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                store.close()
            done.set()
            for reader in readers:
                reader.result()
    finally:
        sys.setswitchinterval(switching)


def test_a_sqlite_file_that_cannot_be_changed_is_read(tmp_path, monkeypatch):
    with SQLiteStore(tmp_path / "field") as store:
        store.set("k", b"value")
    monkeypatch.setattr(os, "access", lambda *_: False)  # permissions do not apply to root
    with SQLiteStore(tmp_path / "field") as store:
        assert bytes(store.get("k")) == b"value"
        with pytest.raises(StoreError, match="'k': cannot be written"):
            store.set("k", b"new")
        assert bytes(store.get("k")) == b"value"


def test_a_file_that_is_not_a_database_raises(kind, tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"certainly not a database " * 1000)
    store = kind(path)
    for call in (lambda: store.get("k"), lambda: store.set("k", b"v"), lambda: list(store.list())):
        with pytest.raises(StoreError, match="text"):
            call()
    assert path.read_bytes() == b"certainly not a database " * 1000


def test_wrong_urls(kind):
    with pytest.raises(StoreError, match="absolute path"):
        kind.from_url(f"{kind.scheme}://host/x")
    with pytest.raises(StoreError, match="cannot open a database from"):
        kind("")


@pytest.mark.parametrize("suffix", ["sqlite", "sqldb", "lmdb", "mdb"])
def test_the_suffix_selects_the_store(tmp_path, suffix):
    path = tmp_path / f"field.{suffix}"
    with zarr.create_group(path).store as store:
        assert isinstance(store, tuple(KINDS.values()))
    assert path.is_file() == (suffix != "lmdb")
    with zarr.open_group(path, mode="r").store as again:
        assert again == store


def test_a_directory_is_an_environment_if_it_is_one(tmp_path):
    for name in ("field.lmdb", "field.zip", "field.sqlite", "field.tar"):
        (tmp_path / name).mkdir()
        assert isinstance(zarr.create_group(tmp_path / name).store, zarr.LocalStore)
        assert isinstance(zarr.open_group(tmp_path / name).store, zarr.LocalStore)


def test_a_table_with_other_columns_raises(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE zarr(name, data)")
    with (
        SQLiteStore(path) as store,
        pytest.raises(StoreError, match=r"other\.sqlite 'a/k'.*column"),
    ):
        store.get("a/k")


def test_a_closed_sqlite_file_is_one_file(tmp_path):
    with SQLiteStore(tmp_path / "s.sqlite") as store:
        store.set("k", b"v")
        store.set_partial_values([("k", 1, b"w"), ("n", 2, b"z")])
        assert (tmp_path / "s.sqlite-wal").exists()
    assert os.listdir(tmp_path) == ["s.sqlite"]
    assert bytes(store.get("n")) == b"\0\0z"
    store.close()


# --- SQLite ---


def test_keys_that_are_not_utf_8_are_ignored(tmp_path):
    path = tmp_path / "t.sqlite"
    with SQLiteStore(path) as store:
        store.set("a/b", b"1")
        store.set("c/d", b"2")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("INSERT INTO zarr(k, v) VALUES (CAST(x'632fff' AS TEXT), x'00')")
            connection.execute("INSERT INTO zarr(k, v) VALUES (CAST(x'fe' AS TEXT), x'00')")
        assert list(store.list_prefix("")) == ["a/b", "c/d"]
        assert list(store.list_prefix("c/")) == ["c/d"]
        assert store.list_dir("") == ([], ["a/", "c/"])
        assert store.list_dir("c/") == (["c/d"], [])
        store.set("é", b"3")
        assert list(store.list_prefix("")) == ["a/b", "c/d", "é"]
        store.erase_prefix("c/")
        assert list(store.list_prefix("")) == ["a/b", "é"]


def test_keys_of_a_file_in_utf_16(tmp_path):
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA encoding='UTF-16'")
        connection.execute("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)")
    with SQLiteStore(path) as store:
        store.set("é/a", b"1")
        assert list(store.list_prefix("")) == ["é/a"]
        assert store.list_dir("") == ([], ["é/"])


def test_keys_that_a_damaged_file_has_as_null_are_ignored(tmp_path):
    path = tmp_path / "t.sqlite"
    with SQLiteStore(path) as store:
        for key in ("a", "b", "damaged"):
            store.set(key, b"1")
    data = path.read_bytes()
    # In the record of the index: a header of 3 bytes, the types of the text and of the row.
    text = bytes([3, 13 + 2 * len("damaged"), 1]) + b"damaged"
    assert data.count(text) == 1
    path.write_bytes(data.replace(text, bytes([3, 0, 1]) + b"damaged"))
    with SQLiteStore(path, read_only=True) as store:
        assert list(store.list_prefix("")) == ["a", "b"]
        assert store.list_dir("") == (["a", "b"], [])


def test_an_operational_error_without_a_code_is_a_store_error(tmp_path, monkeypatch):
    store = SQLiteStore(tmp_path / "t.sqlite")
    store.set("a", b"1")

    def take(**_):
        raise sqlite3.OperationalError("of Python, not of SQLite")

    store.close()
    monkeypatch.setattr(store._connections, "take", take)
    with pytest.raises(StoreReadError, match="cannot be read: of Python, not of SQLite"):
        store.get("a")


# --- LMDB ---


def test_a_key_of_512_bytes_is_rejected(tmp_path):
    store = LMDBStore(tmp_path / "s")
    store.set("é" * 255 + "k", b"v")
    with pytest.raises(StoreKeyError, match="511"):
        store.set("é" * 256, b"v")


def test_a_full_environment_raises(tmp_path):
    store = LMDBStore(tmp_path / "s.lmdb", map_size=1 << 17)
    store.set("k", b"v")
    with pytest.raises(StoreError, match="map_size"):
        store.set("large", bytes(1 << 18))
    assert store.get("k") == b"v"
    assert sorted(it.name for it in (tmp_path / "s.lmdb").iterdir()) == ["data.mdb", "lock.mdb"]


@pytest.mark.parametrize("fsync", [False, True])
def test_flush_writes_to_the_disk(tmp_path, fsync):
    store = LMDBStore(tmp_path / "a", fsync=fsync)
    store.flush()
    assert not (tmp_path / "a").exists()
    store.set("k", b"v")
    store.flush()
    LMDBStore(tmp_path / "a", read_only=True).flush()
    assert bytes(store.get("k")) == b"v"


def transactions(store):
    """The number of transactions since the environment was created."""
    return store._environment.info()["last_txnid"]


def test_small_chunks_are_stored_in_one_transaction(tmp_path):
    store = LMDBStore(tmp_path / "s")
    values = np.arange(1, 2_001, dtype="i4")
    array = zarr.create_array(store, shape=2_000, chunks=2, dtype="i4", fill_value=0)
    before = transactions(store)
    array[...] = values
    assert transactions(store) == before + 1
    assert np.array_equal(zarr.open_array(store)[...], values)
    array[:1_000] = np.arange(1_000) // 1_000  # 500 empty chunks, which are removed
    assert transactions(store) == before + 2
    assert sum(key.startswith("c/") for key in store.list()) == 500


def test_a_batch_is_stored_completely_or_not_at_all(tmp_path):
    store = LMDBStore(tmp_path / "s", map_size=1 << 17)
    store.set("k", b"old")
    with pytest.raises(StoreError, match="map_size"):
        store.set_values([("k", b"new"), ("large", bytes(1 << 18))])
    assert bytes(store.get("k")) == b"old"
    with pytest.raises(StoreKeyError, match="511"):
        store.set_values([("k", b"new"), ("l" * 512, b"")])
    store.set_values([])
    assert sorted(store.list()) == ["k"]


def test_small_values_are_copied_in_few_transactions(tmp_path):
    source = zarr.MemoryStore()
    array = zarr.create_array(source, shape=1000, chunks=1, dtype="int64", path="a")
    array[:] = np.arange(1, 1001)
    keys = set(source.list())
    store = LMDBStore(tmp_path / "s")
    store.set("k", b"v")  # creates the environment
    before, counts = transactions(store), []
    result = zarr.copy_store(source, store, progress=lambda progress: counts.append(progress.done))
    assert transactions(store) - before <= 4
    assert result.copied == len(keys) == counts[-1]
    assert {key: bytes(store.get(key)) for key in keys} == {key: source.get(key) for key in keys}
    array[:2] = -1
    result = zarr.copy_store(source, store, if_exists="update")
    assert np.array_equal(zarr.open_array(store, path="a")[:], array[:])
    assert result.copied == 2
