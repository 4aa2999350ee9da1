"""Threads and processes that use the same arrays concurrently."""

from __future__ import annotations

import itertools
import multiprocessing
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pytest
import zarr_core as zarr
from concurrent_writers import CELLS, PER_THREAD, PROCESSES, THREADS
from counting_store import CountingStore
from reliability_data import codec, sharded, together
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "concurrent_writers.py"
LAYOUTS = {
    "raw chunk": {"chunks": CELLS, "compressors": None},
    "zstd chunk": {"chunks": CELLS, "compressors": "zstd"},
    "raw shard": {"chunks": 6, "shards": CELLS, "compressors": None},
    "gzip shard": {"chunks": 6, "shards": CELLS, "compressors": "gzip"},
    "nested shard": {
        "chunks": CELLS,
        "serializer": sharded(
            CELLS // 4, codecs=[sharded(6, codecs=[codec("bytes", endian="big")])]
        ),
        "compressors": (),
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_cell_is_lost_by_4_processes_with_8_threads(tmp_path, layout):
    array = zarr.create_array(
        tmp_path / "a", shape=CELLS, dtype="i4", fill_value=0, **LAYOUTS[layout]
    )
    expected = np.arange(1, CELLS + 1)
    seen = np.zeros(CELLS, "i4")
    reads = 0

    def look() -> None:
        nonlocal seen, reads
        values = array[...]
        assert ((values == 0) | (values == expected)).all()
        assert (values >= seen).all(), "what was written is gone"
        seen = values
        reads += 1

    together(PROGRAM, tmp_path / "a", "cells", processes=PROCESSES, meanwhile=look)
    assert (array[...] == expected).all()
    assert reads
    assert sorted(array.store.list()) == ["c/0", "zarr.json"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["memory", "local"])
def test_no_cell_is_lost_by_threads_with_one_object(tmp_path, layout, kind):
    store = MemoryStore() if kind == "memory" else LocalStore(tmp_path / "a")
    array = zarr.create_array(store, shape=CELLS, dtype="i4", fill_value=0, **LAYOUTS[layout])

    def work(thread: int) -> None:
        for cell in range(thread, CELLS, 16):
            array[cell] = cell + 1

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    assert (array[...] == np.arange(1, CELLS + 1)).all()


def test_no_attribute_is_lost(tmp_path):
    zarr.create_array(tmp_path / "a", shape=4, dtype="i4")

    def look() -> None:
        zarr.open_array(tmp_path / "a", "r").attrs.asdict()

    together(PROGRAM, tmp_path / "a", "attributes", processes=PROCESSES, meanwhile=look)
    assert len(zarr.open_array(tmp_path / "a").attrs) == PROCESSES * THREADS * PER_THREAD


def test_no_row_that_is_appended_is_lost(tmp_path):
    zarr.create_array(tmp_path / "a", shape=(0, 3), chunks=(5, 2), dtype="i4", fill_value=-1)

    def look() -> None:
        values = zarr.open_array(tmp_path / "a", "r")[...]
        assert (values >= 0).all(), "rows are seen that were not written"

    together(PROGRAM, tmp_path / "a", "appends", processes=PROCESSES, meanwhile=look)
    values = zarr.open_array(tmp_path / "a")[...]
    assert (values == values[:, :1]).all()
    numbers, counts = np.unique(values[:, 0], return_counts=True)
    assert numbers.tolist() == list(range(PROCESSES * THREADS))
    assert set(counts.tolist()) == {1 + 2 + 3}


def test_one_of_several_creators_wins(tmp_path):
    zarr.create_group(tmp_path / "g")
    lines = together(PROGRAM, tmp_path / "g", "create", processes=PROCESSES)
    made = sorted(tuple(map(int, line.split()[1:])) for line in chain(*lines))
    assert [number for number, _, _ in made] == list(range(PER_THREAD))
    group = zarr.open_group(tmp_path / "g/group")
    for number, process, thread in made:
        assert group[str(number)].attrs["by"] == [process, thread]


def test_chunks_and_nodes_come_and_go_while_they_are_listed(tmp_path):
    group = zarr.create_group(tmp_path / "g")
    group.create_array("array", shape=64, chunks=8, dtype="i4", fill_value=-1, compressors=None)
    together(PROGRAM, tmp_path / "g", "come_and_go", processes=PROCESSES)
    assert list(group) == ["array"]
    assert sorted(key for key in group.store.list() if "/c/" not in key) == [
        "array/zarr.json",
        "zarr.json",
    ]


@pytest.mark.parametrize("layout", ["raw chunk", "gzip shard"])
def test_readers_see_a_whole_chunk_old_or_new(tmp_path, layout):
    array = zarr.create_array(
        tmp_path / "a", shape=CELLS, dtype="i4", fill_value=0, **LAYOUTS[layout]
    )
    array[...] = 1
    done = threading.Event()
    seen = [0, 0, 0]

    def write() -> None:
        try:
            for number in itertools.count(2):
                array[...] = number
                if number % 50 == 0:
                    array[...] = 0  # erased
                if number > 300 and min(seen) > 20:
                    break
        finally:
            done.set()

    def read(reader: int) -> None:
        other = zarr.open_array(tmp_path / "a", "r")
        while not done.is_set():
            values = other[...]
            assert (values == values[0]).all()
            part = other[10:170:7]
            assert (part == part[0]).all()
            seen[reader] += 1

    with ThreadPoolExecutor(4) as pool:
        writer = pool.submit(write)
        try:
            list(pool.map(read, range(3)))
        finally:
            seen[:] = [1000] * 3  # also if one of them has failed
        writer.result()


def test_whole_chunks_are_written_without_a_lock(tmp_path):
    for options in LAYOUTS.values():
        store = CountingStore(MemoryStore())
        array = zarr.create_array(store, shape=2 * CELLS - 5, dtype="i4", **options)
        store.calls.clear()
        array[...] = 1
        array[:CELLS] = np.arange(CELLS)
        array[CELLS:] = 3  # the complete chunk at the edge
        array[...] = 0
        assert store.count("update") == 0
        assert store.count("set", "erase") == len(store.calls)
        array[:5] = 3
        assert store.count("update") == 1


@pytest.mark.parametrize("threads", [0, 1, 2, 7])
def test_the_number_of_threads_changes_nothing_but_the_speed(tmp_path, threads):
    started: list[str] = []
    with zarr.config.set(threads=threads):
        values = np.arange(12 << 15, dtype="u4").reshape(12, -1)
        for name, options in {
            "raw": {"chunks": (1, 1 << 15)},
            "shard": {"chunks": (1, 1 << 14), "shards": (4, 1 << 15), "compressors": "zstd"},
        }.items():
            array = zarr.create_array(tmp_path / name, shape=values.shape, dtype="u4", **options)
            array[...] = values
            assert (array[...] == values).all()
            array[1:9, 100:-100] += np.uint32(5)
            values_now = values.copy()
            values_now[1:9, 100:-100] += 5
            assert (array[...] == values_now).all()
            assert (array[::-1, ::3] == values_now[::-1, ::3]).all()
        started += [thread.name for thread in threading.enumerate()]
    if threads in (0, 1):
        alone = subprocess.run(
            [sys.executable, "-c", ALONE, tmp_path / "raw", str(threads)], check=True
        )
        assert alone.returncode == 0


ALONE = """
import sys, threading
import zarr_core as zarr
threading.Thread.start = None
zarr.config.set(threads=int(sys.argv[2]))
array = zarr.open_array(sys.argv[1], "r+")
array[...] = array[...]
array[3:5, 7:999] = 3
"""


def test_resizing_while_others_read_and_write(tmp_path):
    array = zarr.create_array(
        tmp_path / "a", shape=(40, 40), chunks=(7, 7), dtype="i4", fill_value=5
    )
    array[...] = 5
    done = threading.Event()

    def resize() -> None:
        generator = np.random.default_rng(0)
        try:
            for _ in range(60):
                array.resize(*generator.integers(1, 40, 2).tolist())
        finally:
            done.set()

    def read(_: int) -> None:
        while not done.is_set():
            values = array[...]
            assert (values == 5).all()
            other = zarr.open_array(tmp_path / "a", "r")
            assert (other[...] == 5).all()

    def write(_: int) -> None:
        while not done.is_set():
            array[:3, :3] = 5
            array.attrs["n"] = 1

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(resize)]
        futures += [pool.submit(work, 0) for work in (read, read, write)]
        for future in futures:
            future.result()


CREATIONS = {
    "array": lambda place, n: zarr.create_array(
        place, data=np.full((8, 8), n, "i2"), chunks=4, overwrite=True
    ),
    "group": lambda place, n: zarr.create_group(place, overwrite=True, attributes={"n": n}),
    "member": lambda place, n: zarr.create_array(
        place, path="g/a", shape=9, dtype="f4", overwrite=True
    ),
    "opened": lambda place, n: zarr.open_array(place, mode="w", shape=4, dtype="u1"),
    "sqlite": lambda place, n: zarr.create_group(f"{place}.sqlite", overwrite=True),
}


def overwrite(kind: str, place: Path, number: int, barrier: object, results: object) -> None:
    for _ in range(5):
        barrier.wait(60)
        try:
            CREATIONS[kind](place, number)
        except Exception as error:
            results.put(f"{type(error).__name__}: {error}")
            continue
        results.put("")


@pytest.mark.parametrize("kind", CREATIONS)
def test_all_writers_succeed(tmp_path: Path, kind: str) -> None:
    context = multiprocessing.get_context("fork" if kind != "sqlite" else "spawn")
    barrier, results = context.Barrier(4), context.Queue()
    writers = [
        context.Process(target=overwrite, args=(kind, tmp_path / "x", n, barrier, results))
        for n in range(4)
    ]
    for writer in writers:
        writer.start()
    found = [results.get(timeout=120) for _ in range(20)]
    for writer in writers:
        writer.join(60)
    assert not any(found), found
