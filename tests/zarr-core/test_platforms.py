"""Platforms without some features: each is taken away and the stores are used."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import zarr_core

FEATURES = {
    "fcntl": "block('fcntl')",
    "resource": "block('resource')",
    "ctypes": "block('ctypes', '_ctypes')",
    "multiprocessing": "block('multiprocessing', '_multiprocessing')",
    "subprocesses": "block('subprocess', '_posixsubprocess')",
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


# --- the core imported from a zip archive, as programs that are one file contain it ---


IN_ARCHIVE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import zarr_core as zarr
assert zarr.__file__.startswith(sys.argv[1]), zarr.__file__

for store in (zarr.MemoryStore(), zarr.LocalStore("folder"), {}):
    root = zarr.create_group(store, attributes={"title": "in an archive"})
    data = np.arange(24, dtype=">u4").reshape(4, 6)
    root.create_array("a/b", data=data, chunks=(3, 4), compressors=None, dimension_names=["y", None])
    root.create_array("flags", shape=3, dtype="bool", compressors=None)[1] = True
    zarr.consolidate_metadata(root.store)
    again = zarr.open(root.store, mode="r")
    assert again.attrs["title"] == "in an archive"
    assert np.array_equal(again["a/b"][1:, ::2], data[1:, ::2])
    assert again["flags"][...].tolist() == [False, True, False]
    root.store.set("bad/zarr.json", b'{"zarr_format": 3, "node_type": "array", "shape": [-1]}')
    try:
        zarr.open_array(root.store, path="bad")
    except zarr.errors.MetadataError as error:
        assert "/shape/0" in str(error) and "/data_type" in str(error), error
    else:
        raise SystemExit("opened")
print("fine")
"""


@pytest.fixture
def archive(tmp_path):
    package = Path(zarr_core.__file__).parent
    file = tmp_path / "application.zip"
    with ZipFile(file, "w") as archive:
        for source in package.rglob("*"):
            if source.suffix in (".py", ".json"):
                archive.write(source, source.relative_to(package.parent))
    return file


def test_nodes_are_created_and_opened_with_a_core_in_a_zip_archive(archive, tmp_path, monkeypatch):
    monkeypatch.setenv("ZARR_CORE_DISABLE_PLUGINS", "*")
    done = subprocess.run(
        [sys.executable, "-c", IN_ARCHIVE, str(archive)],
        check=False, capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr
