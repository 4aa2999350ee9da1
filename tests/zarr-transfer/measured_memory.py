"""Measure the memory of calls with a limit, each in a process of its own.

Run with seeds as arguments; prints a line for each: seed, limit, measured bytes, what was done.
"""

import gc
import os
import sys
import tempfile
import traceback
from functools import partial
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import zarr_core as zarr
from random_layouts import LAYOUTS, random_layout
from zarr_transfer import MemoryLimitError, read_within, write_within

SMALLEST = 16 << 20  # bytes; 10 % of less could not be told from noise
SCHEMES = ("{}/a.zarr", "{}/a.zarr", "sqlite://{}/a.sqlite")


def elements(random, array, shape):
    """Return elements that cannot be compressed."""
    generator = np.random.default_rng(random.getrandbits(32))
    if array.dtype == "bool":
        return generator.integers(0, 2, shape, "u1").astype(bool)
    return generator.integers(0, 256, (*shape, array.dtype.itemsize), "u1").view(array.dtype)[
        ..., 0
    ]


def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


def measured(work):
    """Return the growth of the resident memory at its peak."""
    gc.collect()
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before = status("VmRSS:")
    work()
    return status("VmHWM:") - before


def prepared(seed, most, directory):
    """Return a function that reads or writes within a limit, and the limit."""
    random = Random(seed)
    kind = LAYOUTS[seed % len(LAYOUTS)]
    options = random_layout(random, kind, most)
    place = random.choice(SCHEMES).format(directory)
    array = zarr.create_array(place, **options)
    array[...] = elements(random, array, array.shape)
    array = zarr.open_array(place, mode="r+")
    access = random.choice(("read", "write"))
    start = tuple(random.randint(0, size // 3) for size in array.shape)
    box = tuple(slice(at, size) for at, size in zip(start, array.shape, strict=True))
    share = random.choice((1, 1, 3))  # of what a call without a limit takes
    out = elements(random, array, tuple(part.stop - part.start for part in box))
    if random.random() < 0.3 and array.dtype != "bool":
        out = np.zeros(out.shape, "f8" if array.dtype.kind == "f" else "i8") + 1
    call = (
        partial(read_within, array, box, out=out)
        if access == "read"
        else partial(write_within, array, box, out)
    )
    try:
        call(max_memory=1)
    except MemoryLimitError as error:
        limit = max(SMALLEST, error.needed * share)
    return (
        limit,
        f"{kind} {access} {place} {out.dtype} {options}",
        partial(call, max_memory=limit),
    )


def main():
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(len(LAYOUTS) * 2):  # imports
            prepared(seed, 1 << 10, f"{directory}/warm{seed}")[2]()
        for seed in map(int, sys.argv[1:]):
            if os.fork() == 0:
                try:
                    limit, done, work = prepared(seed, 1 << 23, f"{directory}/{seed}")
                    print(seed, limit, measured(work), done, flush=True)
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            os.wait()


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
