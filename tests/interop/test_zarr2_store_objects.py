"""Store objects of zarr-python 2, which are mutable mappings, as stores for this library."""

import json
from pathlib import Path

from old_libraries import need, run

PACKAGES = Path(__file__).parents[2] / "packages"
STORES = {
    "KVStore": "({})",
    "MemoryStore": "()",
    "DirectoryStore": "(place)",
    "NestedDirectoryStore": "(place)",
    "TempStore": "()",
    "ZipStore": "(place, mode='w')",
    "DBMStore": "(place, open=dbm.dumb.open)",
    "SQLiteStore": "(place)",
    "LRUStoreCache": "(zarr.DirectoryStore(place), 10**6)",
    "FSStore": "('memory://' + place)",
}
# One process for all of them, because importing both libraries takes most of the time.
PROGRAM = """
import json, sys, traceback
folder, stores, *sys.path[:0] = sys.argv[1:]
import dbm.dumb, numpy, zarr, zarr_core
from zarr_formats.v2.format import V2
values = numpy.arange(600, dtype="<i4").reshape(20, 30)
def check(store):
    root = zarr_core.create_group(store, attributes={"title": "ours"}, zarr_format=2)
    root.create_array("a/field", data=values, chunks=(7, 11), compressors=None)
    theirs = zarr.open_group(store, mode="a")
    assert theirs.attrs["title"] == "ours"
    assert (theirs["a/field"][...] == values).all()
    theirs.array("more", values, chunks=(5, 5), compressor=None)
    root = zarr_core.open_group(store, mode="r")
    assert sorted(path for path, _ in root.members(max_depth=None)) == ["a", "a/field", "more"]
    assert (root["more"][3:9, ::2] == values[3:9, ::2]).all()
    return type(root.store).__name__
results = {}
with zarr_core.override_extensions({"format": {"v2": V2}}):
    for name, arguments in json.loads(stores).items():
        place = f"{folder}/{name}"
        try:
            results[name] = check(eval(f"zarr.storage.{name}{arguments}"))
        except Exception:
            results[name] = traceback.format_exc()
print(json.dumps(results))
"""


def test_store_objects(tmp_path):
    python = need("zarr2")
    stores = dict(STORES)
    has_fsspec = "from importlib.util import find_spec; print(find_spec('fsspec') is not None)"
    if "True" not in run(python, has_fsspec):
        del stores["FSStore"]
    sources = [PACKAGES / name / "src" for name in ("zarr-core", "zarr-formats", "zarr-codecs")]
    results = json.loads(run(python, PROGRAM, tmp_path, json.dumps(stores), *sources))
    assert results == dict.fromkeys(stores, "MemoryStore"), "\n".join(results.values())
