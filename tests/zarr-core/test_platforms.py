"""Platforms without some features: each is taken away and the stores are used."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core import system_calls
from zarr_core.errors import StoreKeyError
from zarr_core.stores import local

FEATURES = {
    "fcntl": "block('fcntl')",
    "resource": "block('resource')",
    "ctypes": "block('ctypes', '_ctypes')",
    "multiprocessing": "block('multiprocessing', '_multiprocessing')",
    "subprocesses": "block('subprocess', '_posixsubprocess')",
    "positions of reads": "remove('pread', 'preadv', 'pwrite', 'writev', 'pwritev')",
    "open flags": "remove('O_CLOEXEC', 'O_NOFOLLOW', 'O_NONBLOCK')",
    "fork": "remove('fork', 'register_at_fork')",
    "processors": "remove('sched_getaffinity', 'copy_file_range')",
    "threads": "no_threads()",
}
"""A feature -> how to take it away before the library is imported."""

PROGRAM = """
import os, sys

def block(*names):
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name in names:
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    for name in names:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Finder())

def remove(*names):
    for name in names:
        if hasattr(os, name):
            delattr(os, name)

def no_threads():
    import _thread, threading
    def fails(*arguments, **options):
        raise RuntimeError("can't start new thread")
    for name in ("start_new_thread", "start_joinable_thread"):
        for module, old in ((_thread, name), (threading, f"_{{name}}")):
            if hasattr(module, old):
                setattr(module, old, fails)

import numpy as np
for change in {changes!r}:
    eval(change)

import zarr_core as zarr
# numcodecs, which other codecs may use, needs some of the features.
zarr.config.set(default_compressors="gzip")
values = np.arange(600.0).reshape(20, 30)
store = zarr.LocalStore(sys.argv[1])
group = zarr.create_group(store, attributes={{"a": 1}})
array = group.create_array("x", data=values, chunks=(5, 7))
assert (array[...] == values).all()
assert (array[3:9, ::4] == values[3:9, ::4]).all()
array[2, 3] = -1
assert array[2, 3] == -1
parts = group.create_array("shards", data=values, chunks=(5, 10), shards=(10, 30))
assert (parts[7, 3:20] == values[7, 3:20]).all()
parts[1, 1] = 5
assert parts[1, 1] == 5
group.attrs["a"] = 2
array.resize((10, 10))
assert sorted(zarr.open(sys.argv[1])) == ["shards", "x"]
assert store.sweep() == 0
group.move("x", "y")
del group["y"]
zarr.open_array(store, path="shards").append(values)
assert zarr.open_array(store, path="shards").shape == (40, 30)
"""


@pytest.mark.parametrize("feature", [*FEATURES, "all"])
def test_local_store_without(feature, tmp_path):
    changes = [*FEATURES.values()] if feature == "all" else [FEATURES[feature]]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(changes=changes), tmp_path / "a.zarr"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    left = [file.name for file in tmp_path.rglob("*") if file.name.startswith(".")]
    assert not left


def test_replacements_of_system_calls(tmp_path):
    """What is used where ``os`` lacks a function gives the same results."""
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    try:
        assert system_calls._writev(descriptor, [b"", b"01234", b"x"]) == 5
        assert system_calls._pwrite(descriptor, b"56789", 5) == 5
        assert system_calls._pread(descriptor, 4, 3) == os.pread(descriptor, 4, 3) == b"3456"
        buffer = bytearray(20)
        assert system_calls._preadv(descriptor, [memoryview(buffer)], 8) == 2
        assert buffer[:3] == b"89\0"
        assert system_calls._writev(descriptor, [b""]) == 0
    finally:
        os.close(descriptor)


# --- Windows ---


def test_open_files_are_replaced_when_they_are_closed(tmp_path, monkeypatch):
    """A file system that does not replace a file while it is open."""
    attempts = []
    replace = os.replace

    def refuse_at_first(source, target):
        attempts.append(source)
        if len(attempts) < 4:
            raise PermissionError(13, "Access is denied", target)
        replace(source, target)

    monkeypatch.setattr(system_calls, "replace", system_calls._replace_when_closed)
    monkeypatch.setattr(os, "replace", refuse_at_first)
    store = zarr.LocalStore(tmp_path)
    store.set("k", b"new")
    assert len(attempts) == 4
    monkeypatch.setattr(system_calls, "_REPLACE_SECONDS", -1.0)
    attempts.clear()
    with pytest.raises(zarr.errors.StoreError, match="Access is denied"):
        store.set("k", b"newer")
    assert [file.name for file in tmp_path.iterdir()] == ["k"]
    assert bytes(store.get("k")) == b"new"


@pytest.mark.parametrize(
    "name",
    ["a:b", "what?", "a*", "x<y", 'say"', "a|b", "end.", "end ", "con", "NUL.txt", "com1", "a\tb"],
)
def test_names_that_windows_forbids(name, tmp_path, monkeypatch):
    monkeypatch.setattr(system_calls, "IS_WINDOWS", True)
    store = zarr.LocalStore(tmp_path)
    for key in (f"{name}/zarr.json", f"a/{name}"):
        with pytest.raises(StoreKeyError, match="Windows"):
            store.set(key, b"1")
        with pytest.raises(StoreKeyError, match="Windows"):
            store.get(key)
    assert not [*tmp_path.iterdir()]


def test_ordinary_names_are_allowed_on_windows(tmp_path, monkeypatch):
    monkeypatch.setattr(system_calls, "IS_WINDOWS", True)
    array = zarr.create_array(tmp_path / "a.zarr", data=np.arange(9).reshape(3, 3), chunks=(2, 2))
    array[0, 0] = 5
    assert zarr.open_array(tmp_path / "a.zarr")[0, 0] == 5
    for name in ("console", "a.b", "c", "communication", ".zarray", "ü"):
        assert not system_calls.name_problem(name)


def test_processes_are_not_signalled_on_windows(monkeypatch):
    monkeypatch.setattr(system_calls, "IS_WINDOWS", True)
    monkeypatch.setattr(os, "kill", None)
    assert system_calls.is_running(1)


# --- file systems that do not distinguish upper and lower case ---


class FoldingOs:
    """The functions of ``os``; names match regardless of their case."""

    def __init__(self, root):
        self._root = str(root)

    def __getattr__(self, name):
        return getattr(os, name)

    def actual(self, path):
        text = os.fspath(path)
        if not text.startswith(self._root):
            return text
        found = self._root
        for part in text[len(self._root) :].strip("/").split("/"):
            names = os.listdir(found) if os.path.isdir(found) else []
            same = [name for name in names if name.casefold() == part.casefold()]
            found = f"{found}/{same[0] if same else part}"
        return found

    def lstat(self, path):
        return os.lstat(self.actual(path))


def test_names_that_differ_in_case_only(tmp_path, monkeypatch):
    folding = FoldingOs(tmp_path)
    monkeypatch.setattr(local, "os", folding)
    group = zarr.create_group(tmp_path / "data")
    group.create_array("Height", data=np.arange(3))
    assert group["Height"][1] == 1
    store = zarr.LocalStore(tmp_path / "data")
    with pytest.raises(StoreKeyError, match="does not distinguish 'height' from 'Height'"):
        store.set("height/zarr.json", b"{}")
    with pytest.raises(StoreKeyError, match="choose another name"):
        zarr.create_array(store, path="height", data=np.arange(5), overwrite=True)
    assert zarr.open(tmp_path / "data")["Height"].shape == (3,)


def test_names_that_differ_in_case_where_the_file_system_distinguishes_them(tmp_path):
    store = zarr.LocalStore(tmp_path / "Data")
    for number, name in enumerate(["12", "Height", "height", "HEIGHT"]):
        zarr.create_array(store, path=name, data=np.arange(number))
    assert [zarr.open(store, path=name).size for name in ("12", "HEIGHT", "height")] == [0, 3, 2]


# --- no function of one platform only ---

GUARDED = ("system_calls.py",)
POSIX_ONLY = (
    "os.pread(", "os.preadv(", "os.pwrite(", "os.writev(", "os.O_CLOEXEC", "os.O_NOFOLLOW",
    "os.O_NONBLOCK", "os.kill(", "os.replace(", "os.fork(", "os.getuid(", "os.geteuid(",
)  # fmt: skip


@pytest.mark.parametrize("name", POSIX_ONLY)
def test_functions_of_one_platform_are_in_one_module(name):
    packages = Path(__file__).parents[2] / "packages"
    found = [
        str(file.relative_to(packages))
        for file in packages.glob("zarr-*/src/**/*.py")
        if name in file.read_text() and file.name not in GUARDED
    ]
    # The program of zarr-conformance ends processes, which it starts with POSIX sessions.
    assert [file for file in found if not file.startswith("zarr-conformance")] == []


# --- the tests of the core, without threads, subprocesses, fcntl and ctypes ---

TESTS = Path(__file__).parent
CORE = (
    "array", "array_selections", "attributes", "consolidation", "engine_read", "group", "open",
    "store_local", "store_local_files", "store_memory",
)  # fmt: skip
"""Files of tests that use every part of the core but no other distribution."""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_tests_of_the_core_without_these_features():
    paths = os.pathsep.join([str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "taken_away", "-n0", "-p", "no:cacheprovider",
            *[str(file) for name in CORE if (file := TESTS / f"test_{name}.py").exists()],
        ],
        env=os.environ | {"PYTHONPATH": paths, "ZARR_CORE_SLOW_TESTS": ""},
        cwd=TESTS.parents[1], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
