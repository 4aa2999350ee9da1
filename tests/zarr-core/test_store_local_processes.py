"""Several processes with one local store, some of which are killed."""

import os
import random
import subprocess
import sys
import time

import pytest
from zarr_core.stores.local import LocalStore

WRITER = """
import sys, zlib
from zarr_core.stores.local import LocalStore
store = LocalStore(sys.argv[1])
state = int(sys.argv[2])

def value(counter):
    body = counter.to_bytes(8, "little") * (1 + counter * 7919 % 4000)
    return [zlib.crc32(body).to_bytes(4, "little"), body]

def add(reader):
    old = 0 if reader is None else int.from_bytes(reader.read(4, 8), "little")
    return value(old + 1)

print("ready", flush=True)
counter = state * 1000
while True:
    counter += 1
    store.set(f"set/{counter % 5}", value(counter))
    store.update(f"update/{counter % 2}", add)
    store.set("gone/k", value(counter))
    store.erase("gone/k")
"""


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def check(store):
    import zlib

    for key in store.list():
        assert "zarr-" not in key
        value = bytes(store.get(key))
        body = value[4:]
        assert zlib.crc32(body).to_bytes(4, "little") == value[:4], f"{key} is torn"
        counter = int.from_bytes(body[:8], "little")
        assert body == counter.to_bytes(8, "little") * (1 + counter * 7919 % 4000)


def kill_writers(store, rounds):
    generator = random.Random(rounds)
    counters = {0: 0, 1: 0}
    for number in range(rounds):
        writer = start(WRITER, store.path, number)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(generator.random() * 0.02)
        writer.kill()
        assert writer.wait() == -9
        writer.stdout.close()
        check(store)
        for index, before in counters.items():
            value = store.get(f"update/{index}")
            if value is not None:
                counters[index] = int.from_bytes(value[4:12], "little")
            assert counters[index] >= before
    store.update("update/0", lambda reader: reader.read(0, reader.size))  # no lock is held
    hidden = [name for _, _, names in os.walk(store.path) for name in names if name.startswith(".")]
    assert all(name.endswith((".zarr-partial", ".zarr-lock")) for name in hidden)


@pytest.mark.parametrize("rounds", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_killed_writers_leave_old_or_new_values(tmp_path, rounds):
    kill_writers(LocalStore(tmp_path / "store.zarr"), rounds)


FORK = """
import os, subprocess, sys, threading, time
from zarr_core.stores.local import LocalStore
store = LocalStore(sys.argv[1])
store.set("k", b"0")
inside, leave = threading.Event(), threading.Event()

def change(reader):
    inside.set()
    leave.wait()
    return b"1"

thread = threading.Thread(target=store.update, args=("k", change))
thread.start()
inside.wait()
# The child has a copy of the descriptor of the lock that the thread holds.
finish = os.pipe()
child = os.fork()
if not child:
    os.read(finish[0], 1)
    store.update("k", lambda reader: bytes(reader.read(0, reader.size)) + b"3")
    os._exit(0)
waiter = subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]])
time.sleep(0.5)  # until the other process waits for the lock
leave.set()
thread.join()
assert waiter.wait(100) == 0  # though the child still has its copy
os.write(finish[1], b".")
assert os.waitpid(child, 0)[1] == 0
assert store.get("k") == b"123", store.get("k")
"""
WAITER = """
import sys
from zarr_core.stores.local import LocalStore
LocalStore(sys.argv[1]).update("k", lambda reader: bytes(reader.read(0, reader.size)) + b"2")
"""


def test_a_fork_while_a_lock_is_held(tmp_path):
    code = "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n" + FORK
    subprocess.run([sys.executable, "-c", code, tmp_path / "s", WAITER], check=True)
