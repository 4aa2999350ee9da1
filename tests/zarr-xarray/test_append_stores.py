"""Live appends to every kind of store, by several appenders, and by processes that are killed."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
import xarray as xr
import zarr_core
from kill_appenders import steps
from object_stores import s3_store, same_place
from zarr_core import LocalStore, MemoryStore
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.databases.redis import RedisStore
from zarr_stores.databases.sqlite import SQLiteStore
from zarr_xarray import Appender, append

pytest_plugins = ["servers.fixtures"]

KINDS = ("directory", "memory", "sqlite", "redis", "s3")


@pytest.fixture(params=[(kind, version) for kind in KINDS for version in (3, 2)], ids=str)
def place(request, tmp_path):
    """A function that opens another store object for the same location, and the format."""
    kind, zarr_format = request.param
    if kind == "directory":
        return lambda: LocalStore(tmp_path / "a.zarr"), zarr_format
    if kind == "memory":
        values = {}
        return lambda: MemoryStore(values), zarr_format
    if kind == "sqlite":
        return lambda: SQLiteStore(str(tmp_path / "a.sqlite")), zarr_format
    if kind == "redis":
        server = request.getfixturevalue("redis_server")
        url = f"{server.url}?prefix={uuid4()}"
        return lambda: RedisStore(url), zarr_format
    server = request.getfixturevalue("s3_server")
    store = s3_store(server)
    return lambda: same_place(store, server), zarr_format


def test_appenders_take_turns(place):
    open_store, zarr_format = place
    options = {"chunk": 4, "coordinate_chunk": 50, "on_unordered": "append"}

    def work(first):
        with (
            open_store() as store,
            Appender(store, "t", flush_every=3, zarr_format=zarr_format, **options) as appender,
        ):
            for start in range(first, first + 12, 2):
                appender.append(steps(start, start + 2))

    with ThreadPoolExecutor() as pool:
        list(pool.map(work, (0, 100)))
    with open_store() as store:
        found = xr.open_dataset(store, engine="zarr_core").load()
        labels = found["t"].values.tolist()
        assert sorted(labels) == [*range(12), *range(100, 112)]
        for first in (0, 100):
            assert [one for one in labels if first <= one < first + 50] == [
                *range(first, first + 12)
            ]
        assert (found["b"].values == found["t"].values * 0.5).all()
        assert append(steps(200, 203), store, "t") == 27
        assert not zarr_core.check_consolidated(zarr_core.open_group(store))
        assert not store.exists(".zarr-append")
        chunks = [key for key in store.list() if key.startswith("a/") and "zarr.json" not in key]
        assert len([key for key in chunks if "/.z" not in key]) == 7


@pytest.fixture
def kill_appenders(request, tmp_path):
    """Kill appenders in another process, which can be forked; return the lengths."""

    def kill(kind, zarr_format, kills):
        place = tmp_path / "a"
        if kind == "redis":
            place = f"{request.getfixturevalue('redis_server').url}?prefix={uuid4()}"
        program = Path(__file__).with_name("kill_appenders.py")
        result = subprocess.run(
            [sys.executable, program, place, kind, str(zarr_format), str(kills)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        lengths = [int(length) for length in result.stdout.split()]
        assert len(lengths) == kills
        return lengths

    return kill


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("kind", ["directory", "redis"])
def test_a_killed_appender(kill_appenders, kind):
    assert kill_appenders(kind, 3, kills=3)[-1] > 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("zarr_format", [3, 2])
@pytest.mark.parametrize("kind", ["directory", "sqlite", "redis"])
def test_a_thousand_kills(kill_appenders, kind, zarr_format):
    kills = 250
    assert kill_appenders(kind, zarr_format, kills)[-1] > kills


def test_cached_chunks_are_forgotten(tmp_path):
    steps = [xr.Dataset({"a": ("t", [float(i)])}, coords={"t": [i]}) for i in range(3)]
    for store in (MemoryStore(), LocalStore(tmp_path)):
        with Appender(store, "t") as appender:
            appender.append(steps[0])
            appender.flush()
            array = zarr_core.open_array(ChunkCacheStore(store, 10**6), path="a")
            for i, step in enumerate(steps):
                assert array[...].tolist() == [float(it) for it in range(array.shape[0])]
                if i:
                    appender.append(step)
                    appender.flush()
                    array.refresh()
            assert array[...].tolist() == [0.0, 1.0, 2.0]
