"""Kill appenders at random times, and check after each kill; prints the length each time.

Arguments: path or URL, kind of the store (directory, sqlite, redis or s3), format (3 or 2), number
of kills.  The environment has the credentials of S3.
"""

import os
import random
import signal
import sys
import time
import traceback

import numpy as np
import xarray as xr
import zarr_core
from zarr_core import LocalStore
from zarr_stores.databases.redis import RedisStore
from zarr_stores.databases.sqlite import SQLiteStore
from zarr_stores.object import ObjectStore
from zarr_xarray import Appender, append

STORES = {
    "directory": LocalStore,
    "sqlite": SQLiteStore,
    "redis": RedisStore,
    "s3": lambda url: ObjectStore.from_url(url),
}
# Seconds from an acknowledged append to the kill, at most: about as long as some appends.
DELAYS = {"directory": 0.02, "sqlite": 0.02, "redis": 0.05, "s3": 0.2}


def steps(start, stop):
    numbers = np.arange(start, stop)
    data = {"a": (("t", "x"), np.stack([numbers, -numbers], 1)), "b": ("t", numbers * 0.5)}
    return xr.Dataset(data, coords={"t": numbers})


def append_for_ever(store, length, flush_every, acknowledge):
    """Append steps, and write the length to a pipe whenever it is acknowledged."""
    appender = Appender(store, "t", flush_every=flush_every)
    acknowledged = 0
    for number in range(length, length + 10**9):
        appender.append({"t": number, "a": np.array([number, -number]), "b": number * 0.5})
        if appender.length != acknowledged:
            acknowledged = appender.length
            os.write(acknowledge, b"%d\n" % acknowledged)


def kill_one(open_store, length, seed, delay):
    """Return the last acknowledged length of an appender that was killed."""
    numbers = random.Random(seed)
    flush_every = numbers.choice([1, 2, 7, 30])
    read, write = os.pipe()
    child = os.fork()
    if not child:
        append_for_ever(open_store(), length, flush_every, write)
    os.close(write)
    begun = os.read(read, 100) if numbers.random() < 0.9 else b""
    time.sleep(numbers.uniform(0, delay))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), (seed, "the appender failed before it was killed")
    with os.fdopen(read, "rb") as pipe:
        lines = (begun + pipe.read()).split(b"\n")[:-1]  # the last line may be incomplete
    return int(lines[-1]) if lines else length


def in_child(work):
    """Return the integer that work returns in a child: obstore must not be used before forking."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.write(write, b"%d" % work())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return int(result)


def main(path, kind, zarr_format, kills):
    def open_store():
        return STORES[kind](path)

    def create():
        with open_store() as store:
            return append(steps(0, 1), store, "t", zarr_format=int(zarr_format), chunk=50)

    def check():
        with open_store() as store, xr.open_dataset(store, engine="zarr_core") as ds:
            length = ds.sizes["t"]
            xr.testing.assert_identical(ds.load(), steps(0, length))
        return length

    def end():
        with open_store() as store:
            assert append(steps(length, length + 1), store, "t") == length + 1
            assert not zarr_core.check_consolidated(zarr_core.open_group(store))
        return length + 1

    length = in_child(create)
    for seed in range(int(kills)):
        acknowledged = kill_one(open_store, length, seed, DELAYS[kind])
        length = in_child(check)
        assert length >= acknowledged, (seed, length, acknowledged)
        print(length, flush=True)
    in_child(end)


if __name__ == "__main__":
    main(*sys.argv[1:])
