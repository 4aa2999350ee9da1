"""Program that makes calls on a server that hangs, and expects an interrupt for each.

Arguments: URL, options as JSON.  It prints a line before and after each call.
"""

import json
import sys
import time

import numpy as np
import zarr_core as zarr


def report(*words):
    print(*words, flush=True)


def main(url, options):
    values = np.full((8, 6), 7, "uint16")
    array = zarr.open_array(url, path="a", mode="r+", storage_options=options)
    one = array[:2, :3]
    calls = {
        "open": lambda: zarr.open(url, path="a", storage_options=options),
        "read": lambda: array[...],
        "read one": lambda: array[:2, :3],
        "copy": lambda: zarr.copy(array, zarr.create_group({}), "a"),
        "write": lambda: array.__setitem__(..., values),
        "write part": lambda: array.__setitem__((1, 1), 7),
        "list": lambda: list(array.store.list()),
        "create": lambda: zarr.create_array(url, path="b", data=values, storage_options=options),
    }
    report("ready", one[0, 0])
    sys.stdin.readline()
    for name, call in calls.items():
        report("begin", name)
        began = time.monotonic()
        try:
            call()
        except KeyboardInterrupt as interrupt:
            keys = len(getattr(interrupt, "unconfirmed", ()))
            report("interrupted", name, f"{time.monotonic() - began:.1f}", keys)
        else:
            report("completed", name)
    values[...] = 0  # threads that are left must not store it
    report("end")


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
