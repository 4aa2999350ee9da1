"""Databases on servers, written and read by zarr-python 2."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from old_libraries import need, run

pytest_plugins = ["servers.fixtures"]

VALUES = np.arange(600, dtype="<i4").reshape(20, 30)
NEEDS = {"RedisStore": "redis", "MongoDBStore": "pymongo"}

WRITE = """
import json, sys, numpy, zarr
store = getattr(zarr, sys.argv[1])(**json.loads(sys.argv[2]))
root = zarr.group(store)
root.attrs["title"] = "old"
root.array("a/field", numpy.arange(600, dtype="<i4").reshape(20, 30), chunks=(7, 11))
"""
READ = """
import json, sys, numpy, zarr
store = getattr(zarr, sys.argv[1])(**json.loads(sys.argv[2]))
root = zarr.open_group(store, mode="r")
assert root.attrs["title"] == "new", dict(root.attrs)
assert list(root) == ["a"] and list(root["a"]) == ["field"], list(root)
expected = numpy.arange(600, dtype="<i4").reshape(20, 30)
expected[3:9] = -1
assert (root["a/field"][...] == expected).all()
root = zarr.open_group(store, mode="r+")
root["a/field"][0, 0] = 77
"""


def in_redis(server):
    from zarr_stores.databases.redis import RedisStore

    arguments = {"prefix": "old zarr", "host": server.host, "port": server.port, "db": 1}
    return arguments, RedisStore(f"redis://{server.host}:{server.port}/1?prefix=old%20zarr")


def in_mongo(server):
    from zarr_stores.databases.mongodb import MongoDBStore

    arguments = {"host": server.url, "database": "old", "collection": "a zarr"}
    address = f"{server.host}:{server.port}/old?directConnection=true"
    return arguments, MongoDBStore(f"mongodb://{address}", collection="a zarr")


@pytest.mark.parametrize(("name", "place"), [("RedisStore", in_redis), ("MongoDBStore", in_mongo)])
def test_both_ways(name, place, request):
    library = NEEDS[name]
    server = request.getfixturevalue(f"{place.__name__.removeprefix('in_')}_server")
    python = need("zarr2")
    has = f"from importlib.util import find_spec; print(find_spec({library!r}) is not None)"
    if run(python, has).strip() != "True":
        pytest.skip(f"zarr-python 2 has no {library}: {python} -m pip install {library}")
    arguments, store = place(server)
    run(python, WRITE, name, json.dumps(arguments))
    with store:
        root = zarr.open_group(store, mode="r+")
        assert root.attrs["title"] == "old"
        assert np.array_equal(root["a/field"][...], VALUES)
        root.attrs["title"] = "new"
        root["a/field"][3:9] = -1
        run(python, READ, name, json.dumps(arguments))
        assert zarr.open_array(store, mode="r", path="a/field")[0, 0] == 77
        assert sorted(store.list_dir("")[0]) == [".zattrs", ".zgroup"]
        store.erase_prefix("")
