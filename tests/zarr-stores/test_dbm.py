import importlib
import importlib.util
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from store_contract import StoreContract
from zarr_core.extension import StoreError
from zarr_core.stores.local_files import file_lock
from zarr_stores.databases.dbm import DBMStore


class TestDumb(StoreContract):
    name = "dbm"
    backend = "dumb"
    test_deep_keys = None  # too slow: the index is rewritten after each change

    def make(self, tmp_path):
        return DBMStore(tmp_path / "store", backend=self.backend)

    def again(self, store, *, read_only):
        return DBMStore(store.path, read_only=read_only, backend=self.backend)


def has(name):
    try:
        return importlib.util.find_spec(name) is not None and bool(importlib.import_module(name))
    except ImportError:
        return False


class TestSQLite3(TestDumb):
    backend = "sqlite3"
    test_deep_keys = StoreContract.test_deep_keys


@pytest.mark.skipif(not has("dbm.sqlite3"), reason="dbm.sqlite3 came with Python 3.13")
def test_databases_of_dbm_sqlite3_are_compatible(tmp_path):
    module = importlib.import_module("dbm.sqlite3")
    with module.open(tmp_path / "theirs", "c") as database:
        database[b"a/k"] = b"theirs"
    with DBMStore(tmp_path / "theirs") as store:  # the backend is detected
        assert store.get("a/k") == b"theirs"
        store.set("a/n", b"ours")
        with ThreadPoolExecutor(1) as pool:  # and other threads can use it
            assert pool.submit(store.get, "a/n").result() == b"ours"
    with module.open(tmp_path / "theirs", "r") as database:
        assert sorted(database) == [b"a/k", b"a/n"]
        assert database[b"a/n"] == b"ours"


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
        test_prefetch_does_not_limit_reads = None
        test_generation_changes_with_value = None

        def test_an_empty_value_is_rejected(self, store):
            with pytest.raises(StoreError, match="empty"):
                store.set("k", b"")
            assert list(store.list()) == []


@pytest.mark.parametrize("backend", ["gnu", "ndbm"])
def test_the_module_of_python_reads_the_values(tmp_path, backend):
    if not has(f"dbm.{backend}"):
        pytest.skip(f"this Python was built without dbm.{backend}")
    module = importlib.import_module(f"dbm.{backend}")
    store = DBMStore(tmp_path / "s", backend=backend)
    store.set("a/c/0", b"value")
    store.close()
    with module.open(str(tmp_path / "s")) as database:
        assert database[b"a/c/0"] == b"value"


def test_values_survive_a_killed_process(tmp_path):
    code = (
        "import os, sys; from zarr_stores.databases.dbm import DBMStore; "
        "s = DBMStore(sys.argv[1], backend='dumb'); s.set('k', b'old'); s.set('k', b'new' * 999); "
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "s"]).returncode == -9
    assert DBMStore(tmp_path / "s").get("k") == b"new" * 999


OTHER_PROCESS = """
import sys
from zarr_stores.databases.dbm import DBMStore
store = DBMStore(sys.argv[1], read_only=sys.argv[2] == "read")
store.get("k") if store.read_only else store.set("k", b"theirs")
print("open", flush=True)
sys.stdin.readline()
store.close()
"""


def other_process(path, use):
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, path, use],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "open\n"
    return process


@pytest.mark.parametrize("backend", ["dumb", "berkeley"])
def test_only_one_process_can_write(tmp_path, backend):
    if backend == "berkeley":
        pytest.importorskip("berkeleydb")
    store = DBMStore(tmp_path / "s", backend=backend)
    store.set("k", b"mine")
    store.close()

    process = other_process(store.path, "write")
    for call in (lambda: store.get("k"), lambda: store.set("k", b"lost")):
        with pytest.raises(StoreError, match="another process; close it there first"):
            call()
    process.communicate("\n")
    assert store.get("k") == b"theirs"
    store.close()

    process = other_process(store.path, "read")
    assert store.get("k") == b"theirs"
    with pytest.raises(StoreError, match="open in another process"):
        store.set("k", b"mine")
    process.communicate("\n")
    store.set("k", b"mine again")
    assert store.get("k") == b"mine again"


def test_wrong_arguments_and_files(tmp_path):
    with pytest.raises(StoreError, match="backend must be one of"):
        DBMStore(tmp_path / "s", backend="oracle")
    (tmp_path / "t").write_bytes(b"no database " * 99)
    with pytest.raises(StoreError, match="not a DBM database"):
        DBMStore(tmp_path / "t").get("k")
    assert DBMStore(tmp_path / "none").get("k") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t"]


# --- Berkeley DB ---

if has("berkeleydb"):
    import berkeleydb

    class TestBerkeleyTree(TestDumb):
        backend = "berkeley"
        test_deep_keys = StoreContract.test_deep_keys

    class TestBerkeleyHash(TestDumb):
        backend = staticmethod(berkeleydb.hashopen)


@pytest.mark.skipif(not has("berkeleydb"), reason="berkeleydb is not installed: make servers")
@pytest.mark.parametrize("kind", ["btopen", "hashopen"])
def test_databases_of_zarr_python_2_with_berkeley_db(tmp_path, kind):
    # DBMStore(path, open=berkeleydb.btopen) of zarr-python 2 stores keys as they are, in UTF-8.
    path = str(tmp_path / "field.db")
    database = getattr(berkeleydb, kind)(path, "c")
    database[b".zgroup"] = b'{"zarr_format": 2}'
    database["é/.zgroup".encode()] = b'{"zarr_format": 2}'
    database.close()
    with DBMStore(path) as store:  # the backend is detected
        assert sorted(store.list()) == [".zgroup", "é/.zgroup"]
        store.set("b/.zgroup", b"{}")
    database = getattr(berkeleydb, kind)(path, "r")
    assert database[b"b/.zgroup"] == b"{}"
    database.close()
    with DBMStore(path, read_only=True, backend=getattr(berkeleydb, kind)) as store:
        assert store.exists("b/.zgroup")


def test_berkeley_db_that_is_not_installed(tmp_path, monkeypatch):
    (tmp_path / "tree").write_bytes(bytes(12) + b"\x62\x31\x05\0" + bytes(500))
    monkeypatch.setitem(sys.modules, "berkeleydb", None)
    for store in (
        DBMStore(tmp_path / "tree"),
        DBMStore(tmp_path / "new", backend="berkeley", read_only=False),
    ):
        with pytest.raises(StoreError, match=r"pip install 'zarr-stores\[berkeleydb\]'"):
            store.set("k", b"")


def test_other_keys_survive_an_erase(tmp_path):
    with DBMStore(tmp_path / "d", backend="dumb") as store:
        store.set("k", b"old")
        (tmp_path / "d.dir").rename(tmp_path / "saved")
        for name in ("d.dir", "d.bak"):  # the new index and the old one
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name / "in the way").mkdir(parents=True)
        with pytest.raises(StoreError, match="'k': cannot be erased"):
            store.erase("k")
        for name in ("d.dir", "d.bak"):
            (tmp_path / name / "in the way").rmdir()
            (tmp_path / name).rmdir()
        (tmp_path / "saved").rename(tmp_path / "d.dir")
        assert bytes(store.get("k")) == b"old"


# --- other processes ---


def test_an_update_sees_what_other_processes_have_written(tmp_path):
    code = "import sys; from zarr_stores.databases.dbm import DBMStore; DBMStore(sys.argv[1]).set('k', b'x')"
    store = DBMStore(tmp_path / "s", backend="sqlite3")
    store.set("k", b"")
    seen = []

    def change(reader):
        seen.append(bytes(reader.read(0, reader.size)))
        if len(seen) == 1:
            subprocess.run([sys.executable, "-c", code, store.path], check=True)
        return seen[-1] + b"mine"

    store.update("k", change)
    assert (seen, store.get("k")) == ([b"", b"x"], b"xmine")


CREATE = """
import sys
from zarr_core.extension import StoreError
from zarr_stores.databases.dbm import DBMStore
store = DBMStore(sys.argv[1], backend=sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
try:
    store.set(sys.argv[3], b"v")
except StoreError:
    sys.exit(3)
"""


@pytest.mark.parametrize("backend", ["dumb", "sqlite3", "berkeley"])
def test_a_database_that_several_processes_create_keeps_what_each_stored(tmp_path, backend):
    if backend == "berkeley":
        pytest.importorskip("berkeleydb")
    for attempt in range(2):
        path = tmp_path / f"{attempt}" / "s"
        writers = {
            key: subprocess.Popen(
                [sys.executable, "-c", CREATE, path, backend, key],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for key in ("a", "b")
        }
        for writer in writers.values():
            assert writer.stdout.readline() == "ready\n"
        for writer in writers.values():
            writer.stdin.write("\n")
            writer.stdin.flush()
        for writer in writers.values():
            writer.communicate()
        stored = {key for key, writer in writers.items() if writer.returncode == 0}
        assert stored
        assert {writer.returncode for writer in writers.values()} <= {0, 3}
        assert {*DBMStore(path).list()} == stored


def test_a_database_that_is_being_created_is_not_opened(tmp_path):
    store = DBMStore(tmp_path / "s", backend="dumb")
    with file_lock(store.path):
        thread = threading.Thread(target=store.set, args=("k", b"v"))
        thread.start()
        thread.join(0.2)
        assert list(tmp_path.glob("s*")) == []
    thread.join()
    assert store.get("k") == b"v"
