"""Guarantees of databases for several processes."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import zarr_core as zarr
from database_contract import program
from waits import PATIENCE
from zarr_core.extension import ByteRange, StoreError, StoreKeyError
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore

KINDS = {"sqlite": SQLiteStore, "lmdb": LMDBStore}


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


def test_a_forked_process_uses_the_store_on(store):
    store.set("k", b"parent")
    store.set("large", bytes(200_000))
    with store.open_value("large") as reader:
        child = os.fork()
        if not child:
            try:
                ok = bytes(store.get("k")) == b"parent"
                store.set("k", b"child")
                store.close()
            finally:
                os._exit(0 if ok else 1)
        assert os.waitpid(child, 0)[1] == 0
        for number in range(1, 6):  # the space of values without readers is reused
            store.set("large", bytes([number]) * 200_000)
        assert bytes(reader.read(0, 200_000)) == bytes(200_000)
    assert bytes(store.get("k")) == b"child"


def test_a_spawned_process_opens_the_same_location(store):
    store.set("k", b"v")
    code = "import pickle, sys; pickle.loads(bytes.fromhex(sys.argv[1])).set('k', b'w')"
    subprocess.run(program(code, pickle.dumps(store).hex()), check=True)
    assert bytes(store.get("k")) == b"w"


def test_readers_do_not_wait_for_an_update(store):
    store.set("k", b"old")
    inside, done, left = (threading.Event() for _ in range(3))

    def change(reader):
        inside.set()
        assert done.wait(PATIENCE)
        left.set()
        return b"new"

    thread = threading.Thread(target=store.update, args=("k", change))
    thread.start()
    assert inside.wait(PATIENCE)
    assert bytes(store.get("k")) == b"old"
    store.set("other", b"v")
    assert thread.is_alive()
    assert not left.is_set()
    done.set()
    thread.join()
    assert bytes(store.get("k")) == b"new"


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
            end = time.monotonic() + 0.7
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


def test_parts_of_a_large_value(store):
    value = bytes(range(256)) * 1000
    store.set("k", value)
    with store.open_value("k") as reader:
        assert reader.size == len(value)
        assert bytes(reader.read(250_001, 9)) == value[250_001:250_010]
        parts = {
            ByteRange(-9): value[-9:],
            ByteRange(-9, 4): value[-9:-5],
            ByteRange(250_001, 9): value[250_001:250_010],
            ByteRange(255_999, 2**40): value[-1:],
            ByteRange(2**40, 5): b"",
            ByteRange(-(2**40), 3): value[:3],
        }
        for part, expected in parts.items():
            assert [*map(bytes, store.get_partial_values([("k", part)]))] == [expected]
        together = store.get_partial_values([("k", part) for part in parts])
        assert [*map(bytes, together)] == [*parts.values()]
        store.erase("k")
        assert bytes(reader.read(0, 3)) == value[:3]
    assert store.get("k") is None


def test_listing_skips_deeper_keys(store):
    keys = ["a", "a!", "a-b/c", "a/b/c", "a/b/d", "a/b0", "a0", "a/", "é/x"]
    for key in keys:
        if not key.endswith("/"):
            store.set(key, b"")
    found, prefixes = store.list_dir("")
    assert sorted(found) == ["a", "a!", "a0"]
    assert sorted(prefixes) == ["a-b/", "a/", "é/"]
    assert store.list_dir("a/") == (["a/b0"], ["a/b/"])
    assert store.list_dir("é/") == (["é/x"], [])


def test_a_file_that_is_not_a_database_raises(kind, tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"certainly not a database " * 1000)
    store = kind(path)
    for call in (lambda: store.get("k"), lambda: store.set("k", b"v"), lambda: list(store.list())):
        with pytest.raises(StoreError, match="text"):
            call()
    assert path.read_bytes() == b"certainly not a database " * 1000


def test_wrong_urls_and_options(kind):
    with pytest.raises(StoreError, match="unknown option: colour"):
        kind.from_url(f"{kind.scheme}:///x", colour=1)
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
    import sqlite3
    from contextlib import closing

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
