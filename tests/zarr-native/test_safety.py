"""Damage, links, interrupts, forks: the errors of Python, and nothing left behind."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import ChunkDecodeError, MissingChunkError, StoreError, StoreReadError

DATA = np.arange(400, dtype="int32").reshape(20, 20)


def message_without(function, array):
    with zarr.config.set(native="off"):
        return error_of(function, zarr.open_array(array.store, mode="r+"))


def error_of(function, array):
    with pytest.raises((StoreError, ChunkDecodeError, MissingChunkError)) as caught:
        function(array)
    return type(caught.value), str(caught.value)


def read(array):
    return array[...]


@pytest.mark.parametrize("shards", [None, 10])
@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(file.read_bytes() + b"0"),
        lambda file: file.write_bytes(b"\xff" * file.stat().st_size),
        lambda file: (file.unlink(), file.mkdir()),
        lambda file: (file.unlink(), os.mkfifo(file)),
        lambda file: (file.unlink(), file.symlink_to("/etc/passwd")),
        lambda file: (file.unlink(), file.symlink_to("missing")),
    ],
    ids=["empty", "cut", "longer", "other", "directory", "pipe", "link out", "broken link"],
)
def test_damage_is_reported_by_python(tmp_path, damage, shards):
    array = zarr.create_array(tmp_path, data=DATA, chunks=5, shards=shards, compressors=["crc32c"])
    damage(tmp_path / "c" / "1" / "0")
    assert error_of(read, array) == message_without(read, array)
    assert np.array_equal(array[:5], DATA[:5])  # the others can be read


def test_links_within_the_store_are_followed_and_others_are_not(tmp_path, counted):
    store = tmp_path / "a.zarr"
    zarr.create_array(store, data=DATA, chunks=5)
    outside = tmp_path / "outside"
    (store / "c" / "1").rename(store / "moved")
    (store / "c" / "1").symlink_to("../moved")
    array = zarr.open_array(store)
    counted()
    assert np.array_equal(array[...], DATA)
    assert counted()[0] == 16
    (store / "c" / "2").rename(outside)
    (store / "c" / "2").symlink_to(outside)
    array = zarr.open_array(store, mode="r+")
    assert error_of(read, array)[0] is StoreReadError
    before = {it: it.read_bytes() for it in outside.iterdir()}
    with pytest.raises(StoreError, match="leads out of the store"):
        array[...] = DATA + 1
    assert {it: it.read_bytes() for it in outside.iterdir()} == before
    following = zarr.open_array(zarr.LocalStore(store, follow_links=True))
    counted()
    assert (following[10:15] == DATA[10:15]).all()
    assert counted()[0] == 4


def test_a_replaced_directory_is_noticed(tmp_path):
    store = tmp_path / "a.zarr"
    array = zarr.create_array(store, data=DATA, chunks=5)
    assert array[0, 0] == 0
    store.rename(tmp_path / "old")
    other = zarr.create_array(store, data=DATA + 1, chunks=5)
    assert np.array_equal(array[...], other[...])


def test_no_descriptor_and_no_thread_remain(tmp_path):
    array = zarr.create_array(tmp_path, shape=(64, 1 << 15), chunks=(1, 1 << 15), dtype="int64")
    array[...] = 3
    array[...] = np.random.default_rng(0).integers(0, 9, array.shape)
    array[...]
    before = set(os.listdir("/proc/self/fd")), set(os.listdir("/proc/self/task"))
    with zarr.config.set(threads=4):
        for _ in range(3):
            array[...] = array[...]
    # Threads of other tests may have ended.
    assert set(os.listdir("/proc/self/fd")) <= before[0]
    assert set(os.listdir("/proc/self/task")) <= before[1]


def test_failed_writes_leave_nothing(tmp_path):
    if os.geteuid() == 0:
        (tmp_path / "file").write_text("")  # a file where a directory should be
        zarr.create_array(tmp_path / "a.zarr", shape=DATA.shape, chunks=5, dtype="int32")
        (tmp_path / "a.zarr" / "c").write_text("")
    else:
        zarr.create_array(tmp_path / "a.zarr", shape=DATA.shape, chunks=5, dtype="int32")
        (tmp_path / "a.zarr").chmod(0o500)
    array = zarr.open_array(tmp_path / "a.zarr", mode="r+")
    with pytest.raises(StoreError):
        array[...] = DATA + 1
    (tmp_path / "a.zarr").chmod(0o700)
    assert not [it for it in tmp_path.rglob("*") if "zarr-partial" in it.name]


def test_a_directory_at_the_place_of_a_chunk(tmp_path):
    array = zarr.create_array(tmp_path, shape=DATA.shape, chunks=5, dtype="int32")
    (tmp_path / "c" / "1" / "2").mkdir(parents=True)
    with pytest.raises(StoreError, match="is a directory"):
        array[...] = DATA + 1
    assert not [it for it in tmp_path.rglob("*") if "zarr-partial" in it.name]
    assert np.array_equal(array[10:], DATA[10:] + 1)


def test_fsync_is_left_to_the_store(tmp_path, counted, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(fd), fsync(fd)))
    array = zarr.create_array(zarr.LocalStore(tmp_path, fsync=True), shape=8, chunks=4)
    synced.clear()
    array[...] = np.arange(8)
    assert synced
    assert counted()[1] == 0
    assert array[...].tolist() == list(range(8))
    assert counted()[0] == 2


START = """
import ctypes, errno, os, signal, sys, threading, time
import numpy as np, zarr_core as zarr
from zarr_native import processed_chunks
from zarr_native.executor import Executor
override = zarr.override_extensions({"native": {"default": Executor}})
override.__enter__()
place = sys.argv[1]
"""


def run_program(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", START + textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ZARR_CORE_THREADS": "3", "ZARR_CORE_NATIVE": "require"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="the allocator of AddressSanitizer deadlocks after a fork during calls of other threads",
)
def test_forks_during_calls_of_other_threads(tmp_path):
    data = np.random.default_rng(0).integers(0, 99, (64, 1 << 14)).astype("int32")
    zarr.create_array(tmp_path, data=data, chunks=(1, 1 << 14), compressors=["zstd"])
    program = """
        array = zarr.open_array(place)
        expected = array[...]
        over = threading.Event()

        def work():
            while not over.is_set():
                assert np.array_equal(array[...], expected)

        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(5):
            child = os.fork()
            if not child:
                os._exit(0 if np.array_equal(array[...], expected) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        over.set()
        thread.join()
        assert processed_chunks()[0] > 64
        print("done")
    """
    assert run_program(program, tmp_path) == "done\n"


INTERRUPT = """

def interrupted(work):
    # Whether an interrupt during a call of some seconds ends it, long before its end.
    start = time.monotonic()
    work()
    whole = time.monotonic() - start
    for _ in range(5):
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(whole / 20, interrupt)
        timer.start()
        try:
            work()
            timer.join()
            time.sleep(1)  # for an interrupt that came too late
        except KeyboardInterrupt:
            if time.monotonic() - sent[0] < whole / 2:
                return True
    return False
"""


@pytest.mark.parametrize("threads", ["1", "3"])
def test_an_interrupt_ends_a_long_read(threads):
    program = """
        store = zarr.MemoryStore()
        array = zarr.create_array(
            store, shape=(400 << 20), chunks=1 << 20, dtype="uint8", compressors=["gzip"]
        )
        array[: 1 << 20] = np.random.default_rng(0).integers(0, 9, 1 << 20, "uint8")
        value = store.get("c/0")
        for number in range(1, 400):
            store.set(f"c/{number}", value)
        out = np.empty(400, "uint8")
        with zarr.config.set(threads=int(sys.argv[1])):
            assert interrupted(lambda: array.get_basic_selection(slice(None, None, 1 << 20), out=out))
            array.get_basic_selection(slice(None, None, 1 << 20), out=out)
        assert (out == out[0]).all()
        print("done")
    """
    assert run_program(INTERRUPT + textwrap.dedent(program), threads) == "done\n"


@pytest.mark.parametrize("kind", ["memory", "chunks", "shards"])
def test_an_interrupt_ends_a_long_write(tmp_path, kind):
    program = """
        kind = sys.argv[2]
        data = np.random.default_rng(0).integers(0, 9, (64, 1 << 17), "uint8")
        array = zarr.create_array(
            zarr.MemoryStore() if kind == "memory" else place, shape=data.shape,
            chunks=(1, 1 << 17), shards=(4, 1 << 17) if kind == "shards" else None,
            dtype="uint8", compressors=[{"name": "zstd", "configuration": {"level": 15}}],
        )
        assert interrupted(lambda: array.set_basic_selection(..., data))
        assert np.array_equal(array[...], data)
        assert not any("partial" in name for _, _, names in os.walk(place) for name in names)
        print("done")
    """
    assert run_program(INTERRUPT + textwrap.dedent(program), tmp_path, kind) == "done\n"


def test_without_openat2_links_are_left_to_python(tmp_path):
    """A filter of system calls lets openat2 fail as on an older kernel."""
    program = """
        class Filter(ctypes.Structure):
            _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte),
                        ("k", ctypes.c_uint)]

        class Program(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ushort), ("filters", ctypes.POINTER(Filter))]

        OPENAT2 = 437
        filters = (Filter * 4)(
            Filter(0x20, 0, 0, 0),  # the number of the system call
            Filter(0x15, 0, 1, OPENAT2),
            Filter(0x06, 0, 0, 0x00050000 | errno.ENOSYS),
            Filter(0x06, 0, 0, 0x7FFF0000),  # allowed
        )
        libc = ctypes.CDLL(None, use_errno=True)
        PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
            PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Program(4, filters)), 0, 0
        ):
            sys.exit("seccomp")
        how = (ctypes.c_ulonglong * 3)()
        assert libc.syscall(OPENAT2, -100, b".", how, 24) == -1
        assert ctypes.get_errno() == errno.ENOSYS

        data = np.arange(400, dtype="int32").reshape(20, 20)
        array = zarr.create_array(place + "/a.zarr", shape=data.shape, chunks=5, dtype="int32")
        array[...] = data
        assert np.array_equal(array[...], data)
        assert processed_chunks() == (16, 16)
        os.rename(place + "/a.zarr/c/1", place + "/a.zarr/moved")
        os.symlink("../moved", place + "/a.zarr/c/1")
        array = zarr.open_array(place + "/a.zarr", mode="r+")
        assert np.array_equal(array[...], data)
        assert processed_chunks()[0] == 16 + 12
        os.rename(place + "/a.zarr/moved", place + "/outside")
        os.unlink(place + "/a.zarr/c/1")
        os.symlink(place + "/outside", place + "/a.zarr/c/1")
        before = {it.path: open(it.path, "rb").read() for it in os.scandir(place + "/outside")}
        array = zarr.open_array(place + "/a.zarr", mode="r+")
        for work in (lambda: array[...], lambda: array.set_basic_selection(..., data + 1)):
            try:
                work()
            except zarr.errors.StoreError:
                continue
            raise AssertionError("a link that leads out of the store was followed")
        assert before == {it.path: open(it.path, "rb").read() for it in os.scandir(place + "/outside")}
        print("done")
    """
    if sys.platform != "linux":
        pytest.skip("openat2 is a system call of Linux")
    assert run_program(program, tmp_path) == "done\n"


def test_arguments_of_the_compiled_code_are_checked(tmp_path):
    from zarr_native import _native

    array = zarr.create_array(tmp_path, data=DATA, chunks=5)
    array[...]
    plan = array.stored.native._plan
    out = np.empty((5, 5), "int32")
    for lo, wrong in (
        ((16, 0), out),
        ((-1, 0), out),
        ((0,), out),
        ((0, 0), np.empty((5, 5), "int16")),
        ((0, 0), np.empty(5, "int32")),
        ((0, 0), np.empty((21, 1), "int32")),
        ((2**62, 0), out),
    ):
        index = tuple(slice(it, it + 1, 1) for it in lo)
        with pytest.raises((ValueError, OverflowError)):
            _native.read_box(plan, index, wrong, 1)
        with pytest.raises((ValueError, OverflowError)):
            _native.write_box(plan, index, wrong, 1)
    every_second = (slice(0, 10, 2), slice(0, 5, 1))
    assert _native.read_box(plan, every_second, out, 1) == []
    assert np.array_equal(out, DATA[every_second])
    for index in (
        (slice(0, 25, 5), slice(0, 5, 1)),
        (slice(0, 10, -1), slice(0, 5, 1)),
        (np.array([0, 1, 2, 3, 20]), slice(0, 5, 1)),
        (np.array([0, 1, 2, 3, -1]), slice(0, 5, 1)),
        (np.array([0, 1, 2, 3]), slice(0, 5, 1)),
        (np.array([0, 1, 2, 3, 4], "int32"), slice(0, 5, 1)),
        (np.zeros((5, 1), "int64"), slice(0, 5, 1)),
    ):
        with pytest.raises(ValueError, match=r"selection|int64"):
            _native.read_box(plan, index, out, 1)
    for index in (every_second, (np.arange(5), slice(0, 5, 1))):
        with pytest.raises((ValueError, TypeError)):
            _native.write_box(plan, index, out, 1)
    box = (slice(0, 5, 1), slice(0, 5, 1))
    with pytest.raises(TypeError):
        _native.read_box(plan, (0, 0), out, 1)
    with pytest.raises(ValueError, match="not within"):
        _native.read_points(plan, (np.array([20]), np.array([0])), np.empty(1, "int32"), 1)
    with pytest.raises(ValueError, match="of one length"):
        _native.read_points(plan, (np.array([2]), np.array([0, 1])), np.empty(1, "int32"), 1)
    with pytest.raises(ValueError, match="one value"):
        _native.read_box(plan, box, out, 1, [])
    points = (np.array([2, 12]), np.array([0, 1]))
    with pytest.raises(ValueError, match="one value"):
        _native.read_points(plan, points, np.empty(2, "int32"), 1, [None])
    with pytest.raises(TypeError):
        _native.read_points(plan, points, np.empty(2, "int32"), 1, [None, 3])
    frozen = out.copy()
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        _native.read_box(plan, box, frozen, 1)
