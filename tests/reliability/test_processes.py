"""Forks, interpreter exits and interrupts while threads work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr_core as zarr
from reliability_data import run

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

MAKE = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
import numpy as np
import zarr_core as zarr
zarr.config.set(threads=4)
VALUES = np.arange(16 << 15, dtype="i4").reshape(16, -1)
def make(name, **options):
    options = {"chunks": (1, 1 << 14), "shards": (4, 1 << 15), "compressors": "zstd"} | options
    return zarr.create_array(f"{sys.argv[1]}/{name}", data=VALUES, **options)
def used(array):
    assert (array[...] == VALUES).all()
    array[3:9, 50:-50] = VALUES[3:9, 50:-50]
    array[...] = VALUES
    array.attrs["n"] = 1
    array[0, 0] = 0
"""

FORK = """
array = make("a")
used(array)  # threads and locks are there now
children = []
for _ in range(4):
    child = os.fork()
    if not child:
        try:
            used(array)
            os._exit(0)
        finally:
            os._exit(1)
    children.append(child)
used(array)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
"""

FORK_IN_THE_MIDDLE = """
array = make("a")
used(array)  # a child cannot import a module that another thread imported during the fork
stop = threading.Event()
def go_on():
    while not stop.is_set():
        used(array)
threads = [threading.Thread(target=go_on) for _ in range(3)]
for thread in threads:
    thread.start()
for number in range(12):
    time.sleep(0.004 * number)
    child = os.fork()
    if not child:
        try:
            used(array)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
"""


@needs_fork
@pytest.mark.parametrize("code", [FORK, FORK_IN_THE_MIDDLE], ids=["after use", "during use"])
def test_a_forked_process_can_go_on(tmp_path, code):
    run(MAKE + code, tmp_path)


AT_EXIT = """
import atexit
array = make("a")
atexit.register(lambda: (used(array), print("written")))
"""

THREADS_AT_EXIT = """
array = make("a")
def late():
    threading.main_thread().join()
    used(array)
    print("written")
threading.Thread(target=late).start()
"""

FIRST_USE_AT_EXIT = """
import atexit
def late():
    used(make("a"))
    print("written")
atexit.register(late)
"""

GONE_WITHOUT_CLOSING = """
array = make("a")
used(array)
print("written")
"""


@pytest.mark.parametrize(
    "code",
    [AT_EXIT, THREADS_AT_EXIT, FIRST_USE_AT_EXIT, GONE_WITHOUT_CLOSING],
    ids=["at exit", "threads at exit", "first use at exit", "just gone"],
)
def test_arrays_can_be_used_until_the_interpreter_ends(tmp_path, code):
    result = run("import warnings; warnings.simplefilter('error')\n" + MAKE + code, tmp_path)
    assert result.stdout == "written\n"
    assert result.stderr == ""
    assert zarr.open_array(tmp_path / "a")[15, -1] == (16 << 15) - 1


DAEMONS = """
array = make("a")
def go_on():
    while True:
        array[...] = VALUES
        array[...] = VALUES + 1
for _ in range(3):
    threading.Thread(target=go_on, daemon=True).start()
time.sleep(0.3)
"""


def test_daemons_that_write_when_the_interpreter_ends(tmp_path):
    result = run(MAKE + DAEMONS, tmp_path)
    assert "Fatal" not in result.stderr
    array = zarr.open_array(tmp_path / "a")
    values = array[...] - np.arange(16 << 15, dtype="i4").reshape(16, -1)
    shards = values.reshape(4, -1)  # of 4 rows each
    assert ((shards == 0) | (shards == 1)).all()
    assert (shards == shards[:, :1]).all()


INTERRUPT = """
import signal
from zarr_core.extension import BytesToBytesCodec
busy = []
class Slow(BytesToBytesCodec):
    def to_configuration(self):
        return {}
    def encode(self, data, decoded_size):
        busy.append(1)
        try:
            time.sleep(0.02)
            return bytes(data)
        finally:
            busy.pop()
    decode = lambda self, data, size: self.encode(data, size)
array = None
with zarr.override_extensions({"codec": {"slow": Slow}}):
    array = zarr.create_array(f"{sys.argv[1]}/a", shape=VALUES.shape, chunks=(1, 1 << 15),
        dtype="i4", serializer="bytes", compressors=["slow"])
array[...] = VALUES
out = np.zeros_like(VALUES)
for work in (
    lambda: array.__setitem__(..., VALUES + 1),
    lambda: array.get_basic_selection(..., out=out),
):
    for _ in range(3):
        try:
            print("begin", flush=True)
            while True:
                work()
        except KeyboardInterrupt:
            assert not busy, "a thread is still at work"
            seen = out.copy()
            time.sleep(0.05)
            assert (out == seen).all(), "someone still writes"
print("end", flush=True)
values = array[...] - VALUES
assert ((values == 0) | (values == 1)).all() and (values == values[:, :1]).all()
array[...] = VALUES
used(array)
print("fine", flush=True)
"""


def test_an_interrupt_leaves_no_thread_at_work(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", MAKE + INTERRUPT, tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stdout:
            if line == "begin\n":
                time.sleep(0.1)
                process.send_signal(signal.SIGINT)
            last = line
        _, errors = process.communicate()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
    assert process.returncode == 0, errors
    assert last == "fine\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_arrays_go_to_other_processes(tmp_path, method):
    import multiprocessing

    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("not here")
    program = f"""
import multiprocessing, sys, warnings
import numpy as np
import zarr_core as zarr
def work(item):
    array, number = item
    array[number] = number
    return int(array[number, 0])
if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    array = zarr.create_array(sys.argv[1], shape=(12, 5), chunks=(12, 5), dtype="i4")
    array[...] = -1
    context = multiprocessing.get_context({method!r})
    with context.Pool(3) as pool:
        assert pool.map(work, [(array, n) for n in range(12)], chunksize=1) == list(range(12))
    assert (array[...] == np.arange(12)[:, None]).all()
"""
    (tmp_path / "program.py").write_text(program)
    subprocess.run([sys.executable, tmp_path / "program.py", tmp_path / "a"], check=True)


FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
array = make("a", chunks=(1, 1 << 15), shards=None, compressors=None)
names = lambda: sorted(f for _, _, files in os.walk(sys.argv[1]) for f in files)
before = names()
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
for selection in (..., (3, slice(0, 5)), (slice(3, 9), slice(1, None))):
    try:
        array[selection] = -1
    except zarr.errors.StoreError as error:
        assert "c/" in str(error) and "kept" in str(error), error
    else:
        raise SystemExit("no error")
assert (array[...] == VALUES).all()
try:
    array.attrs["large"] = "x" * 60_000
except zarr.errors.StoreError as error:
    assert "zarr.json" in str(error)
array.attrs["small"] = 1
assert names() == before
assert dict(zarr.open_array(f"{sys.argv[1]}/a").attrs) == {"small": 1}
"""


def test_a_full_disk_keeps_what_was_there(tmp_path):
    run(MAKE + FULL_DISK, tmp_path)


FEW_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
array = make("a", chunks=(1, 1 << 12), shards=None)
for _ in range(3):
    used(array)
nodes = [zarr.create_array(f"{sys.argv[1]}/b", path=f"n{n}", data=VALUES[0]) for n in range(100)]
assert all((node[...] == VALUES[0]).all() for node in nodes)
"""


def test_few_open_files_are_enough(tmp_path):
    run(MAKE + FEW_FILES, tmp_path)


@pytest.mark.parametrize("flags", [["-O"], ["-bb"], ["-X", "dev", "-W", "error"]], ids=str)
def test_flags_of_the_interpreter(tmp_path, flags):
    code = MAKE + "used(make('a'))"
    subprocess.run([sys.executable, *flags, "-c", code, tmp_path], check=True)
