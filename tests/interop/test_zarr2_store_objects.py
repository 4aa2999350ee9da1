"""Store objects of zarr-python 2, which are mutable mappings, as stores for this library."""

from pathlib import Path

import pytest
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
PROGRAM = """
import sys
place, *sys.path[:0] = sys.argv[1:]
import dbm.dumb, numpy, zarr, zarr_core
from zarr_formats.v2.format import V2
store = zarr.storage.STORE
values = numpy.arange(600, dtype="<i4").reshape(20, 30)
with zarr_core.override_extensions({"format": {"v2": V2}}):
    root = zarr_core.create_group(store, attributes={"title": "ours"}, zarr_format=2)
    root.create_array("a/field", data=values, chunks=(7, 11), compressors=None)
    theirs = zarr.open_group(store, mode="a")
    assert theirs.attrs["title"] == "ours"
    assert (theirs["a/field"][...] == values).all()
    theirs.array("more", values, chunks=(5, 5), compressor=None)
    root = zarr_core.open_group(store, mode="r")
    assert sorted(path for path, _ in root.members(max_depth=None)) == ["a", "a/field", "more"]
    assert (root["more"][3:9, ::2] == values[3:9, ::2]).all()
print(type(root.store).__name__)
"""


@pytest.mark.parametrize("name", STORES)
def test_store_objects(name, tmp_path):
    python = need("zarr2")
    if name == "FSStore" and "True" not in run(
        python, "from importlib.util import find_spec; print(find_spec('fsspec') is not None)"
    ):
        pytest.skip(f"zarr-python 2 has no fsspec: {python} -m pip install fsspec")
    sources = [PACKAGES / name / "src" for name in ("zarr-core", "zarr-formats", "zarr-codecs")]
    program = PROGRAM.replace("STORE", name + STORES[name])
    assert run(python, program, tmp_path / "field", *sources).strip() == "MappingStore"
