"""Databases written and read by zarr-python 2."""

from functools import partial

import numpy as np
import pytest
import zarr_core as zarr
from old_libraries import need, run
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore

STORES = {
    "SQLiteStore": (SQLiteStore, "field.sqldb"),
    "LMDBStore": (LMDBStore, "field.lmdb"),
    "DBMStore": (partial(DBMStore, backend="dumb"), "field"),  # included in every Python
}

HAS_LMDB = "from importlib.util import find_spec; print(find_spec('lmdb') is not None)"
VALUES = np.arange(600, dtype="<i4").reshape(20, 30)

WRITE = """
import sys, numpy, zarr
import dbm.dumb
options = {"open": dbm.dumb.open} if sys.argv[1] == "DBMStore" else {}
store = getattr(zarr, sys.argv[1])(sys.argv[2], **options)
root = zarr.group(store)
root.attrs["title"] = "old"
root.array("a/field", numpy.arange(600, dtype="<i4").reshape(20, 30), chunks=(7, 11))
store.close()
"""
READ = """
import sys, numpy, zarr
import dbm.dumb
options = {"open": dbm.dumb.open} if sys.argv[1] == "DBMStore" else {}
store = getattr(zarr, sys.argv[1])(sys.argv[2], **options)
root = zarr.open_group(store, mode="r")
assert root.attrs["title"] == "new", dict(root.attrs)
assert list(root) == ["a"] and list(root["a"]) == ["field"], list(root)
expected = numpy.arange(600, dtype="<i4").reshape(20, 30)
expected[3:9] = -1
assert (root["a/field"][...] == expected).all()
root = zarr.open_group(store, mode="r+")
root["a/field"][0, 0] = 77
store.close()
"""


def library_for(name):
    python = need("zarr2")
    if name == "LMDBStore" and run(python, HAS_LMDB).strip() != "True":
        pytest.skip(f"zarr-python 2 has no lmdb: {python} -m pip install lmdb")
    return python


@pytest.mark.parametrize("name", STORES)
def test_both_ways(tmp_path, name):
    python = library_for(name)
    kind, file = STORES[name]
    place = tmp_path / file
    run(python, WRITE, name, place)
    with kind(place) as store:
        root = zarr.open_group(store, mode="r+")
        assert root.attrs["title"] == "old"
        assert [path for path, _ in root.members(max_depth=None)] == ["a", "a/field"]
        assert np.array_equal(root["a/field"][...], VALUES)
        root["a/field"][3:9] = -1
        root.attrs["title"] = "new"
    run(python, READ, name, place)
    with kind(place, read_only=True) as store:
        assert zarr.open_group(store, mode="r")["a/field"][0, 0] == 77


@pytest.mark.parametrize("name", STORES)
def test_zarr_python_reads_new_features(tmp_path, name):
    python = library_for(name)
    kind, file = STORES[name]
    with kind(tmp_path / file) as store:
        root = zarr.create_group(store, zarr_format=2, attributes={"title": "new"})
        array = root.create_array("a/field", data=VALUES, chunks=(7, 11))
        array[3:9] = -1
    run(python, READ, name, tmp_path / file)
