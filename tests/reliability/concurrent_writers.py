"""Operations of several processes with several threads on one store; a program.

Arguments: location of the store, task, number of this process.  Starts after a line on standard input.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import zarr_core as zarr
from zarr_core.errors import NodeExistsError

PROCESSES = 4
THREADS = 8
PER_THREAD = 6
CELLS = PROCESSES * THREADS * PER_THREAD


def mine(process: int, thread: int) -> range:
    """Cells distributed over the whole array, different for each thread."""
    return range(process * THREADS + thread, CELLS, PROCESSES * THREADS)


def cells(root: str, process: int) -> None:
    shared = zarr.open_array(root, "r+")

    def work(thread: int) -> None:
        array = shared
        for number, cell in enumerate(mine(process, thread)):
            if thread % 2 and number % 2 == 0:
                array = zarr.open_array(root, "r+")
            array[cell] = cell + 1

    each(work)


def attributes(root: str, process: int) -> None:
    shared = zarr.open_array(root, "r+")

    def work(thread: int) -> None:
        array = shared if thread % 2 else zarr.open_array(root, "r+")
        for number in range(PER_THREAD):
            array.attrs[f"{process} {thread} {number}"] = number

    each(work)


def appends(root: str, process: int) -> None:
    shared = zarr.open_array(root, "r+")

    def work(thread: int) -> None:
        array = shared if thread % 2 else zarr.open_array(root, "r+")
        for number in range(3):
            array.append(np.full((1 + number, 3), process * THREADS + thread))

    each(work)


def create(root: str, process: int) -> None:
    def work(thread: int) -> None:
        for number in range(PER_THREAD):
            try:
                array = zarr.create_array(
                    root,
                    path=f"group/{number}",
                    shape=4,
                    dtype="i4",
                    attributes={"by": [process, thread]},
                )
            except NodeExistsError:
                continue
            assert array.attrs["by"] == [process, thread]
            sys.stdout.write(f"made {number} {process} {thread}\n")  # in one call

    each(work)


def come_and_go(root: str, process: int) -> None:
    """Chunks and nodes that are created and removed while they are read and listed."""
    group = zarr.open_group(root)
    array = group["array"]

    def work(thread: int) -> None:
        for number in range(8):
            if thread % 4 == 0:
                array[...] = number
                array[...] = -1  # the fill value: erases
            elif thread % 4 == 1:
                values = array[...].reshape(8, -1)
                assert (values == values[:, :1]).all()
            elif thread % 4 == 2:
                list(group.store.list())
                group.info_complete()
                array.nbytes_stored()
                str(group.tree())
            else:
                name = f"node {process} {thread}"
                group.create_array(name, shape=8, dtype="i2", chunks=2)[...] = 3
                assert group[name][5] == 3
                del group[name]

    each(work)


TASKS = {task.__name__: task for task in (cells, attributes, appends, create, come_and_go)}


def each(work) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    TASKS[sys.argv[2]](sys.argv[1], int(sys.argv[3]))
