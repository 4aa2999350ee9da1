"""Four processes that change one chunk and one shard, and create the same nodes.

In every store that several processes can write to, a change is either stored or refused.
"""

import importlib.util
import json
from collections import Counter
from uuid import uuid4

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_options
from reliability_data import together
from shared_store_writer import CELLS, NODES, PROCESSES

pytest_plugins = ["servers.fixtures"]


def local(name, needs=None, **options):
    def at(request):
        if needs is not None and importlib.util.find_spec(needs) is None:
            pytest.skip(f"{needs} is not installed")
        return str(request.getfixturevalue("tmp_path") / name), options

    return at


def remote(fixture, url, options=lambda server: {}):
    def at(request):
        server = request.getfixturevalue(fixture)
        return url(server, f"t{uuid4().hex}"), options(server)

    return at


# Where several processes wait for each other.
SHARED = {
    "directory": local("a.zarr"),
    "sqlite": local("a.sqlite"),
    "lmdb": local("a.lmdb", "lmdb"),
    "dbm.sqlite3": local("a.dbm", backend="sqlite3"),
    "dbm.dumb": local("a.dbm", backend="dumb"),
    "redis": remote("redis_server", lambda it, name: f"{it.url}?prefix={name}"),
    "postgresql": remote("postgres_server", lambda it, name: f"{it.url}?table={name}"),
    "mongodb": remote(
        "mongo_server",
        lambda it, name: (
            f"mongodb://{it.host}:{it.port}/zarr?directConnection=true&collection={name}"
        ),
    ),
    "s3": remote("s3_durable", lambda it, name: f"s3://{it.bucket}/{name}", s3_options),
}
# Where changes are refused, because another process has locked the store, or because WebDAV
# has no reliable conditional writes.
EXCLUSIVE = {
    "zip": local("a.zip"),
    "nginx": remote(
        "http_server", lambda it, name: f"{it.dav_url}{name}", lambda _: {"webdav": True}
    ),
}


# Other databases in files than SQLite.
SLOW = ("lmdb", "dbm.sqlite3", "dbm.dumb")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind in SLOW)) for kind in SHARED | EXCLUSIVE],
)
def test_every_change_is_stored_or_refused(request, kind):
    url, options = (SHARED | EXCLUSIVE)[kind](request)
    more = {"conditional": False} if "webdav" in options else {}
    root = zarr.create_group(url, storage_options=options | more)
    root.create_array("chunk", data=np.zeros(CELLS, "i4"), chunks=CELLS, fill_value=-1)
    root.create_array("shard", data=np.zeros(CELLS, "f8"), chunks=8, shards=CELLS, fill_value=-1)
    root.create_group("new")
    root.store.close()

    arguments = (url, json.dumps(options))
    printed = together("shared_store_writer.py", *arguments, processes=PROCESSES)
    lines = [line for own in printed for line in own]
    found = Counter(line.partition(" ")[0] for line in lines)
    assert bool(found["stored"]) == (kind != "nginx")
    if kind in SHARED:
        assert not found["refused"], lines

    root = zarr.open_group(url, "r", storage_options=options)
    for name in ("chunk", "shard"):
        stored = cells(lines, "stored", name)
        expected = np.zeros(CELLS)
        expected[stored] = stored + 1
        values = root[name][...]
        for cell in cells(lines, "refused", name):  # such as a lost response: old or new
            expected[cell] = values[cell] if values[cell] == cell + 1 else 0
        assert np.array_equal(values, expected), np.flatnonzero(values != expected)
    winners = Counter(cells(lines, "stored", "node").tolist())
    assert set(winners.values()) <= {1}
    assert set(winners) == {int(name) for name in root["new"]}
    if kind in SHARED:
        assert len(winners) == NODES
    for name, array in root["new"].arrays():
        assert f"stored node {name}" in printed[array.attrs["by"]]
    root.store.close()


def cells(lines, outcome, what):
    """The numbers in the lines of an outcome."""
    start = f"{outcome} {what} "
    return np.array([int(line.split()[2]) for line in lines if line.startswith(start)], int)
