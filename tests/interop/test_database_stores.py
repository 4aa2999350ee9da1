"""Databases, in files and on servers, written and read by zarr-python 2."""

import json
from functools import cache, partial

import numpy as np
import pytest
import zarr_core as zarr
from old_libraries import need, run
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore

pytest_plugins = ["servers.fixtures"]

VALUES = np.arange(600, dtype="<i4").reshape(20, 30)
# What zarr-python 2 requires for a store.
NEEDS = {"LMDBStore": "lmdb", "RedisStore": "redis", "MongoDBStore": "pymongo"}

OPEN = """
import json, sys, numpy, zarr
import dbm.dumb
name, options = sys.argv[1], json.loads(sys.argv[2])
if name == "DBMStore":
    options["open"] = dbm.dumb.open  # included in every Python
store = getattr(zarr, name)(**options)
"""
WRITE = (
    OPEN
    + """
root = zarr.group(store)
root.attrs["title"] = "old"
root.array("a/field", numpy.arange(600, dtype="<i4").reshape(20, 30), chunks=(7, 11))
store.close()
"""
)
READ = (
    OPEN
    + """
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
)

FILES = {
    "SQLiteStore": (SQLiteStore, "field.sqldb"),
    "LMDBStore": (LMDBStore, "field.lmdb"),
    "DBMStore": (partial(DBMStore, backend="dumb"), "field"),
}


def in_redis(server):
    from zarr_stores.databases.redis import RedisStore

    arguments = {"prefix": "old zarr", "host": server.host, "port": server.port, "db": 1}
    url = f"redis://{server.host}:{server.port}/1?prefix=old%20zarr"
    return arguments, partial(RedisStore, url)


def in_mongo(server):
    from zarr_stores.databases.mongodb import MongoDBStore

    arguments = {"host": server.url, "database": "old", "collection": "a zarr"}
    url = f"mongodb://{server.host}:{server.port}/old?directConnection=true"
    return arguments, partial(MongoDBStore, url, collection="a zarr")


@cache
def python_with(name):
    """The interpreter of zarr-python 2, if it has the library for a store."""
    python = need("zarr2")
    library = NEEDS.get(name, "numpy")
    has = f"from importlib.util import find_spec; print(find_spec({library!r}) is not None)"
    if run(python, has).strip() != "True":
        pytest.skip(f"zarr-python 2 has no {library}: {python} -m pip install {library}")
    return python


def check_both_ways(name, arguments, create):
    """What each library writes, the other reads and changes."""
    python = python_with(name)
    run(python, WRITE, name, json.dumps(arguments))
    with create() as store:
        root = zarr.open_group(store, mode="r+")
        assert root.attrs["title"] == "old"
        assert [path for path, _ in root.members(max_depth=None)] == ["a", "a/field"]
        assert np.array_equal(root["a/field"][...], VALUES)
        root.attrs["title"] = "new"
        root["a/field"][3:9] = -1
        assert sorted(store.list_dir("")[0]) == [".zattrs", ".zgroup"]
    run(python, READ, name, json.dumps(arguments))
    with create(read_only=True) as store:
        assert zarr.open_group(store, mode="r")["a/field"][0, 0] == 77


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path, name):
    create, file = FILES[name]
    path = str(tmp_path / file)
    check_both_ways(name, {"path": path}, partial(create, path))


def check_on_server(name, arguments, create):
    check_both_ways(name, arguments, create)
    with create() as store:
        store.erase_prefix("")


def test_redis(redis_server):
    check_on_server("RedisStore", *in_redis(redis_server))


def test_mongodb(mongo_server):
    check_on_server("MongoDBStore", *in_mongo(mongo_server))


@pytest.mark.parametrize("name", FILES)
def test_zarr_python_reads_new_features(tmp_path, name):
    python = python_with(name)
    create, file = FILES[name]
    with create(tmp_path / file) as store:
        root = zarr.create_group(store, zarr_format=2, attributes={"title": "new"})
        array = root.create_array("a/field", data=VALUES, chunks=(7, 11))
        array[3:9] = -1
    run(python, READ, name, json.dumps({"path": str(tmp_path / file)}))
