import copy
import os
import pickle
import subprocess
import sys
import threading
import time

import pytest
import zarr_core as zarr
from database_contract import program
from store_contract import LocalWrapperContract, WrapperContract
from waits import PATIENCE
from zarr_core.extension import StoreError, StoreKeyError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.wrappers.synchronized_store import SynchronizedStore
from zarr_stores.wrappers.synchronizers import ProcessSynchronizer, ThreadSynchronizer


class TestThreads(WrapperContract):
    synchronizer = ThreadSynchronizer()

    def wrap(self, store):
        return SynchronizedStore(store, self.synchronizer)


class TestProcesses(LocalWrapperContract):
    @pytest.fixture(autouse=True)
    def _synchronizer(self, tmp_path):
        self.synchronizer = ProcessSynchronizer(tmp_path / "locks")

    def wrap(self, store):
        return SynchronizedStore(store, self.synchronizer)


_threads = []


@pytest.fixture(autouse=True)
def _end_of_threads(tmp_path):
    """Wait for the threads that wait for a lock, before its directory is removed."""
    yield
    while _threads:
        _threads.pop().join(30)


def is_locked(synchronizer, key, patience=0.1):
    """Return whether the lock is held."""
    waiting = threading.Event()

    def work():
        with synchronizer[key]:
            waiting.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    _threads.append(thread)
    free = waiting.wait(patience)
    return not free


@pytest.fixture(params=["threads", "processes"])
def locks(request, tmp_path):
    return (
        ThreadSynchronizer()
        if request.param == "threads"
        else ProcessSynchronizer(tmp_path / "locks")
    )


def test_a_lock_for_each_key(locks):
    with locks["a/b"]:
        assert is_locked(locks, "a/b")
        assert not is_locked(locks, "a/c", PATIENCE)
    assert not is_locked(locks, "a/b", PATIENCE)
    with pytest.raises(LookupError), locks["a/b"]:
        raise LookupError
    assert not is_locked(locks, "a/b", PATIENCE)


def test_objects_of_one_directory_are_the_same_locks(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "locks")
    one, two = ProcessSynchronizer(tmp_path / "locks"), ProcessSynchronizer(tmp_path / "link")
    with one["k"]:
        assert is_locked(two, "k")
        assert is_locked(pickle.loads(pickle.dumps(one)), "k")
    assert one == two == copy.deepcopy(one)
    assert hash(one) == hash(two)
    assert one != ProcessSynchronizer(tmp_path)
    assert repr(one) == f"ProcessSynchronizer({str(tmp_path / 'locks')!r})"


@pytest.mark.parametrize("key", ["../x", "/x", "a/../../x", "", "a\\b", "nul\0"])
def test_no_lock_outside_the_directory(key, tmp_path):
    for locks in (ProcessSynchronizer(tmp_path / "locks"), ThreadSynchronizer()):
        with pytest.raises(StoreKeyError):
            locks[key]
    assert list(tmp_path.iterdir()) == []


def test_a_failed_lock_raises(tmp_path):
    (tmp_path / "locks").write_bytes(b"a file is in the way")
    store = SynchronizedStore(MemoryStore(), ProcessSynchronizer(tmp_path / "locks"))
    with pytest.raises(StoreError, match="cannot be locked.*a/b|a/b.*cannot be locked"):
        store.set("a/b", b"")
    assert store.get("a/b") is None


def test_changes_hold_the_lock_reads_do_not(tmp_path):
    class Noting:
        def __init__(self):
            self.keys = []

        def __getitem__(self, key):
            self.keys.append(key)
            return locks[key]

    locks, noted = ThreadSynchronizer(), Noting()
    store = SynchronizedStore(MemoryStore(), noted)
    store.set("s", b"v")
    store.update("u", lambda _: b"v")
    store.set_partial_values([("p", 0, b"v"), ("q", 1, b"v")])
    store.erase("s")
    store.erase_values(["p", "q"])
    assert noted.keys == ["s", "u", "p", "q", "s", "p", "q"]
    store.get("u"), store.exists("u"), list(store.list())
    assert len(noted.keys) == 7


HOLDER = """
import sys, time
from zarr_stores.wrappers.synchronizers import ProcessSynchronizer
with ProcessSynchronizer(sys.argv[1])["c/0"]:
    print("held", flush=True)
    time.sleep(3600)
"""


def test_the_lock_of_a_killed_process_is_released(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    locks = ProcessSynchronizer(tmp_path)
    assert is_locked(locks, "c/0")
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with locks["c/0"]:
        pass


def test_a_forked_child_does_not_have_the_lock(tmp_path):
    locks = ProcessSynchronizer(tmp_path)
    read, write = os.pipe()
    with locks["k"]:
        child = os.fork()
        if not child:
            with locks["k"]:
                os.write(write, b"c")
            os._exit(0)
        time.sleep(0.2)
        os.write(write, b"p")
    os.waitpid(child, 0)
    assert os.read(read, 2) == b"pc"
    os.close(read), os.close(write)


# --- several writers ---

WRITERS = """
import sys, threading, time
from zarr_core.extension import Store
from zarr_core.stores.local import LocalStore
from zarr_stores.wrappers.synchronized_store import SynchronizedStore
from zarr_stores.wrappers.synchronizers import ProcessSynchronizer

class Files(Store):
    # As a mapping on a shared file system: whole values, exclusion among threads alone.
    def __init__(self, path):
        self.inner = LocalStore(path)
    url = property(lambda self: self.inner.url)
    def get(self, key): return self.inner.get(key)
    def erase(self, key): self.inner.erase(key)
    def list_prefix(self, prefix): return self.inner.list_prefix(prefix)
    def set(self, key, value):
        time.sleep(0.0005)  # so that others come in between
        self.inner.set(key, value)

path, locks, process = sys.argv[1:]
store = SynchronizedStore(Files(path), ProcessSynchronizer(locks))

def work(cell):
    for _ in range(12):
        store.set_partial_values([("k", 4 * int(process) + cell, b"x")])
        store.update("k", lambda reader: bytes(reader.read(0, reader.size)) + b".")

print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_four_processes_of_four_threads_lose_nothing_in_one_value(tmp_path):
    store = LocalStore(tmp_path / "s")
    store.set("k", bytes(16))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    runs = [
        subprocess.Popen(program(WRITERS, tmp_path / "s", tmp_path / "locks", number), **pipes)
        for number in range(4)
    ]
    for run in runs:
        assert run.stdout.readline() == b"ready\n"
    for run in runs:
        run.stdin.write(b"go\n")
        run.stdin.flush()
    for run in runs:
        assert run.communicate() == (b"", b"")
    assert store.get("k") == b"x" * 16 + b"." * 4 * 4 * 12


def test_arrays_and_groups_are_opened_with_locks(tmp_path, locks):
    root = zarr.open_group(SynchronizedStore(LocalStore(tmp_path / "a"), locks), "w")
    root.zeros("x", shape=4, chunks=4, dtype="i1")[1] = 5
    assert root["x"].store.synchronizer is locks
    assert zarr.open(tmp_path / "a")["x"][...].tolist() == [0, 5, 0, 0]
    assert (tmp_path / "locks").exists() == isinstance(locks, ProcessSynchronizer)


def test_locks_are_reentrant(tmp_path, locks):
    root = zarr.create_group(SynchronizedStore(LocalStore(tmp_path / "x.zarr"), locks))
    twice = SynchronizedStore(root.store, locks)
    array = zarr.create_array(twice, path="a", shape=4, dtype="int8")
    array[1] = 5
    assert zarr.open_array(twice, path="a")[1] == 5
    with locks["k"]:
        with locks["k"]:
            assert is_locked(locks, "k")
        assert is_locked(locks, "k")
    assert not is_locked(locks, "k", PATIENCE)
