"""Programs for zarr-python 2 with the arrays of this library, compared with zarr-python 2."""

import json
import os
import runpy
import subprocess
from importlib.metadata import distributions
from pathlib import Path

import pytest
from old_libraries import ROOT, need
from packaging.requirements import Requirement

pytest.importorskip("zarr_compat")

SEPARATOR = ("dimension_separator", ".")  # which zarr-python adds when it changes the shape
PROGRAM = """
import json, pickle, sys
if sys.argv[1] == "ours":
    from zarr_compat import install_as_zarr
    modules = install_as_zarr(version=2)
    try:
        install_as_zarr()
    except RuntimeError as error:
        assert "version 2" in str(error), error
import h5py
import numpy as np
import numcodecs
import zarr
from zarr.storage import DirectoryStore, KVStore, init_array

found = {}

def say(name, value):
    found[name] = value.tolist() if hasattr(value, "tolist") else value

def raises(name, function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return say(name, [type(error).__name__, isinstance(error, PermissionError)])
    say(name, None)

def refused(function, selection):
    try:
        function(selection)
    except IndexError:
        return True
    return False

root = zarr.open_group(DirectoryStore(sys.argv[2]), mode="w")
a = root.create_dataset("g/a", shape=(7, 9), chunks=(3, 4), dtype="<i4", fill_value=-1,
                        compression="zlib", compression_opts=3)
say("empty", [a.nchunks_initialized, a[0, 0].item(), a.hexdigest()])
a[:] = np.arange(63).reshape(7, 9)
a.attrs["units"] = "m"
for name in ("shape", "chunks", "path", "name", "basename", "read_only", "ndim", "size", "nbytes",
             "itemsize", "cdata_shape", "nchunks", "nchunks_initialized", "order", "is_view",
             "write_empty_chunks", "nbytes_stored"):
    say(name, getattr(a, name))
say("codecs", [a.compressor.get_config(), a.filters, a.fill_value.item(), str(a.dtype)])
say("digest", a.hexdigest())
say("info", [row for row in a.info_items()])
say("repr", [repr(a), repr(root), str(root.tree())])
say("basic", a[1:5, ::2])
say("oindex", a.oindex[[0, 6], 1:3])
say("vindex", a.vindex[[0, 6], [1, 8]])
say("mask", a.vindex[np.eye(7, 9, dtype=bool)])
say("blocks", a.blocks[1, 0:2])
say("fancy", a[[0, 6]])
selections = (
    slice(None, None, -1), (0, slice(5, 1, -1)), None, (None, 0), (..., [1, 2]), [1, 2], [[0, 1], [2, 3]],
    ([0, 1], [0, 1]), ([0, 1], slice(2)), np.ones((7, 9), bool), ..., (), 2, (1, 2), (0, 0, 0), 2.3, "x",
    (np.int64(1), 0), slice(9, 20), (slice(9, 12), slice(None)), ([True] * 7, 0),
)
methods = ("__getitem__", "get_basic_selection", "get_orthogonal_selection",
           "get_mask_selection", "get_block_selection")
say("refused", [[refused(getattr(a, name), item) for item in selections] for name in methods])
say("refused writes", [
    [refused(lambda item: getattr(a, name)(item, 1), item) for item in selections]
    for name in ("__setitem__", "set_basic_selection", "set_orthogonal_selection", "set_block_selection")
])
a[:] = np.arange(63).reshape(7, 9)
out = np.zeros((2, 9), "<i4")
a.get_basic_selection(slice(0, 2), out=out)
say("out", out)
say("islice", [row.tolist() for row in a.islice(1, 3)])
a.oindex[[0, 2], [1]] = 70
a.vindex[[0, 6], [0, 8]] = 71
a.blocks[2, 2] = 72
a[5] = 73
say("written", a[:])
a.resize(4, 9)
say("append", a.append(np.full((2, 9), 8)))
say("resized", a[:])
say("sum", np.sum(a).item())
say("pickled", pickle.loads(pickle.dumps(a))[-1])
say("equal", [a == root["g/a"], a == 1])
v = a.view(dtype="<u4", read_only=True)
say("view", [v.is_view, str(v.dtype), v[0, 0].item(), v == a])
say("astype", [str(a.astype("f8").dtype), a.astype("f8")[0, :2].tolist(), a.astype("f8").is_view])
w = pickle.loads(pickle.dumps(a.astype("f8")))
say("pickled cast", [type(w).__name__, str(w.dtype), w[0, :2].tolist(), w.is_view])
for elements, dtype in (
    (np.array([1, 2]), ">f8"), (np.array(["2000-01-01"], "M8[D]"), "i8"), (np.array(["1", "22"]), "i4"),
    (np.array([1.5 + 2j]), "f8"), (np.array([True, False]), object),
):
    cast = zarr.array(elements).astype(dtype)[:]
    say(f"cast of {elements.dtype}", [cast.dtype.str, cast.tolist()])
raises("view resize", v.resize, 3, 3)
reader = zarr.open_array(sys.argv[2], path="g/a", mode="r")
raises("read-only", reader.__setitem__, 0, 1)
raises("missing", zarr.core.Array, {})
raises("negative", lambda: list(a.islice(-1, 2)))

b = zarr.array(np.arange(10.0), chunks=4)
say("defaults", [b.compressor.get_config(), b.filters, b.fill_value.item(), b.chunks, b.name])
f = zarr.create(6, chunks=4, dtype="i8", filters=[numcodecs.Delta("i8")], order="F")
f[:] = np.arange(6)
say("filters", [f[:].tolist(), [item.get_config() for item in f.filters]])

s = zarr.create(3, chunks=2, dtype=[("x", "S2"), ("y", "<i4")], fill_value=None)
s[:] = np.array([("a", 1), ("b", 2), ("c", 3)], dtype=s.dtype)
s["y", 1:] = 7
s.set_basic_selection(0, 5, fields=["y"])
say("fields", [s["y"].tolist(), s["x", 1].decode()])
raises("two fields", lambda: s.set_basic_selection(0, 5, fields=["x", "y"]))
raises("no fields", lambda: s.get_basic_selection(0, fields=slice(None)))

t = zarr.array(np.array(["a", "bb"], dtype=object), dtype=str, chunks=1)
say("text", [t[:].tolist(), str(t[:].dtype), str(t.oindex[[1]].dtype), type(t[0]).__name__])
z = zarr.zeros((), dtype="i4")
z[...] = 3
say("scalar", [z[()].item(), z.chunks, z.cdata_shape, z.nchunks])

store, chunks = KVStore({}), KVStore({})
init_array(store, shape=5, chunks=2, dtype="i2", chunk_store=chunks, path="p")
for synchronizer in (None, zarr.ThreadSynchronizer()):
    c = zarr.Array(store, path="p", chunk_store=chunks, synchronizer=synchronizer,
                   cache_metadata=False, write_empty_chunks=False)
    c[1:4] = 4
    c[4:] = 0
    say("stores", [sorted(store), sorted(chunks), c[:].tolist(), c.store is store])
    c.resize(5)
zarr.consolidate_metadata(DirectoryStore(sys.argv[2]))
say("consolidated", zarr.open_consolidated(sys.argv[2])["g/a"][0])
zarr.copy(root["g"], root, name="h", without_attrs=True)
say("copied", [root["h/a"][:].tolist(), dict(root["h/a"].attrs)])

lines = []
with h5py.File(sys.argv[2] + ".h5", "w") as file:
    file.create_dataset("g/a", data=np.arange(6), chunks=(4,), compression="gzip")
    file.create_dataset("g/h/b", data=np.arange(2.0), chunks=(2,))
    file["g"].attrs["title"] = "t"
    file["g/a"].attrs["units"] = "m"
    options = ({}, {"shallow": True}, {"without_attrs": True}, {"dry_run": True})
    for target in (zarr.group(), file.create_group("other")):
        source = file["g"] if target is not file["other"] else copies["copy-0"]
        for number, option in enumerate(options):
            name = f"copy-{number}"
            say(f"{name} {type(target).__name__}", zarr.copy(source, target, name=name, log=lines.append, **option))
        say(f"skipped {type(target).__name__}",
            zarr.copy_all(source, target["copy-0"], if_exists="skip", log=lines.append))
        raises(f"exists {type(target).__name__}", lambda: zarr.copy(source, target, name="copy-0"))
        copies = target
        for name in ("copy-0", "copy-1", "copy-2"):
            nodes = []
            copies[name].visititems(lambda path, node: nodes.append(
                [path, dict(node.attrs), node[:].tolist() if hasattr(node, "shape") else None]))
            say(f"{name} in {type(target).__name__}", [dict(copies[name].attrs), sorted(nodes)])
        say(f"members of {type(target).__name__}", sorted(copies))
        say(f"chunks of {type(target).__name__}", copies["copy-0/a"].chunks)
say("log", lines)

old, zarr.storage.default_compressor = zarr.storage.default_compressor, numcodecs.Zlib(7)
say("default compressor", [zarr.zeros(4).compressor.get_config(),
                           zarr.group().create_dataset("x", shape=4).compressor.get_config()])
zarr.storage.default_compressor = None
say("no compressor", zarr.array([1, 2]).compressor)
zarr.storage.default_compressor = old
found["file"] = sys.modules["zarr.core"].Array.__init__.__code__.co_filename
print(json.dumps(found))
"""


def run(python, which, place, environment, program=PROGRAM):
    command = [python, "-W", "ignore", "-c", program, which, str(place)]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def with_this_library(tmp_path):
    """The environment in which another interpreter finds the packages and their entry points."""
    (tmp_path / "metadata").mkdir()
    for found in distributions():
        if found.name.startswith("zarr-") and (ROOT / "packages" / found.name).is_dir():
            link = tmp_path / "metadata" / found._path.name
            link.symlink_to(found._path)
    sources = [path for path in ROOT.glob("packages/*/src") if path.parent.name != "zarr-native"]
    return {"PYTHONPATH": os.pathsep.join(map(str, [tmp_path / "metadata", *sources]))}


def test_results_are_those_of_zarr_python_2(tmp_path, with_this_library):
    python = need("zarr2")
    ours = run(python, "ours", tmp_path / "ours", with_this_library)
    theirs = run(python, "theirs", tmp_path / "theirs", {"PYTHONPATH": ""})
    assert Path(ours.pop("file")).name == "v2_array.py"
    assert Path(theirs.pop("file")).name == "core.py"
    assert ours == theirs
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")


BESIDE = """
import json
from importlib.metadata import distributions
import numcodecs, zarr
from zarr_bridge.hooks import zarr_list_extensions
from zarr_codecs.zstd import ZstdCodec

frames = numcodecs.zstd.compress(bytes(9)) + numcodecs.zstd.compress(bytes(90))
try:
    ZstdCodec().decode(frames, 99)
except Exception as error:
    assert "Upgrade numcodecs" in str(error), error
assert not [*zarr_list_extensions()]
print(json.dumps({found.name.lower(): found.version for found in distributions()}))
"""


def test_zarr_python_2_can_be_installed_beside_the_packages(tmp_path, with_this_library):
    """It is compatible with numcodecs 0.15, but not with 0.16."""
    installed = run(need("zarr2"), "", tmp_path, with_this_library, BESIDE)
    lines = runpy.run_path(str(ROOT / "scripts" / "constraints.py"))["of_packages"]()
    for requirement in map(Requirement, lines):
        if found := installed.get(requirement.name):
            assert requirement.specifier.contains(found), requirement


def files(place):
    """Files by path; those of metadata as JSON, without a separator that is the default."""
    found = {}
    for path in place.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found[str(path.relative_to(place))] = parsed(data) if path.name[:2] == ".z" else data
    return found


def parsed(data):
    def without_default(members):
        return {key: value for key, value in members.items() if (key, value) != SEPARATOR}

    return json.loads(data, object_hook=without_default)
