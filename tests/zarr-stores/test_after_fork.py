"""Forks while other threads use stores with locks."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, threading
from zarr_core import MemoryStore
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore

sys.setswitchinterval(1e-6)
inner = MemoryStore({"k": b"value"})
store = {"cache": lambda: LRUCacheStore(inner, 1000),
         "lmdb": lambda: LMDBStore(sys.argv[2]), "sqlite": lambda: SQLiteStore(sys.argv[2])}[sys.argv[1]]()
store.set("k", b"value")

def use():
    while True:
        store.get("k"), store.list_dir("")

for _ in range(2):
    threading.Thread(target=use, daemon=True).start()
for _ in range(30):
    child = os.fork()
    if not child:
        signal.alarm(100)  # ends who waits for a thread that is not there
        os._exit(bytes(store.get("k")) != b"value" or store.list_dir("") != (["k"], []))
    status = os.waitpid(child, 0)[1]
    if status:
        print(status, flush=True)
        os._exit(1)
os._exit(0)
"""


@pytest.mark.parametrize("kind", ["cache", "lmdb", "sqlite"])
def test_a_child_does_not_wait_for_threads_of_its_parent(kind, tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, kind, tmp_path / "field"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


HALF_WAY = """
import os
from zarr_core import MemoryStore
from zarr_stores.cache.lru_cache import LRUCacheStore

store = LRUCacheStore(MemoryStore({"k": b"value"}), 1000)
store.get("k")
for held in (False, True):
    if held:
        store.cache.pool._guard.acquire()  # as a thread does that is changing what is held
    child = os.fork()
    if not child:
        os._exit(store.cache_info().nbytes)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_clears_a_cache_that_a_thread_was_changing():
    done = subprocess.run([sys.executable, "-c", HALF_WAY], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["5", "0"], "")
