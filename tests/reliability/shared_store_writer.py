"""Writes cells of two arrays and creates nodes; a program for test_shared_stores.py.

Arguments: URL, options as JSON, number of this process.  Starts after a line on standard input, and
prints what was stored and what was refused.
"""

from __future__ import annotations

import json
import sys

import zarr_core as zarr
from zarr_core.errors import NodeExistsError, ZarrError

PROCESSES = 4
CELLS = 16 * PROCESSES
NODES = 8


def run(url: str, options: dict, number: int) -> None:
    root = zarr.open_group(url, "r+", storage_options=options)
    arrays = {name: root[name] for name in ("chunk", "shard")}
    print("ready", flush=True)
    sys.stdin.readline()
    for cell in range(number, CELLS, PROCESSES):
        for name, array in arrays.items():
            attempt(f"{name} {cell}", array.__setitem__, cell, cell + 1)
    for node in range(NODES):
        attempt(f"node {node}", root.create_array, f"new/{node}", shape=node, dtype="i2",
                attributes={"by": number})  # fmt: skip
    root.store.close()


def attempt(what: str, work, *arguments, **more) -> None:
    try:
        work(*arguments, **more)
    except NodeExistsError:
        print("exists", what)
    except ZarrError as error:
        print("refused", what, repr(str(error)))
    else:
        print("stored", what)


if __name__ == "__main__":
    run(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))
