"""Kill appenders at random times, and check after each kill; prints the length each time.

Arguments: path or URL, kind of the store (directory, sqlite or redis), format (3 or 2), number of
kills.
"""

import os
import random
import signal
import sys
import time

import numpy as np
import xarray as xr
import zarr_core
from zarr_core import LocalStore
from zarr_stores.databases.redis import RedisStore
from zarr_stores.databases.sqlite import SQLiteStore
from zarr_xarray import Appender, append

STORES = {"directory": LocalStore, "sqlite": SQLiteStore, "redis": RedisStore}
# Seconds from an acknowledged append to the kill, at most: about as long as some appends.
DELAYS = {"directory": 0.02, "sqlite": 0.02, "redis": 0.05}


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


def main(path, kind, zarr_format, kills):
    def open_store():
        return STORES[kind](path)

    with open_store() as store:
        length = append(steps(0, 1), store, "t", zarr_format=int(zarr_format), chunk=50)
    for seed in range(int(kills)):
        acknowledged = kill_one(open_store, length, seed, DELAYS[kind])
        with open_store() as store, xr.open_dataset(store, engine="zarr_core") as ds:
            length = ds.sizes["t"]
            xr.testing.assert_identical(ds.load(), steps(0, length))
        assert length >= acknowledged, (seed, length, acknowledged)
        print(length, flush=True)
    with open_store() as store:
        assert append(steps(length, length + 1), store, "t") == length + 1
        assert not zarr_core.check_consolidated(zarr_core.open_group(store))


if __name__ == "__main__":
    main(*sys.argv[1:])
