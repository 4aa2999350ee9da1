"""Kills writers at random moments and checks the stores; a program for test_killed.py.

Arguments: directory, kind of writer, number of kills, seed.
"""

from __future__ import annotations

import os
import random
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import zarr_core as zarr
from reliability_data import is_killed
from zarr_core.stores.local import LocalStore

CHUNK = 1500
OURS = re.compile(r"([a-z]+/)*(zarr\.json|c(/\d+)+)").fullmatch


def start(root: Path) -> None:
    group = zarr.create_group(root, attributes={"n": 0, "m": 0})
    options = {"shape": (4 * CHUNK,), "dtype": "i8", "fill_value": -1}
    group.create_array("raw", chunks=CHUNK, compressors=None, **options)[...] = 0
    group.create_array("zip", chunks=CHUNK, compressors="zstd", **options)[...] = 0
    group.create_array("shard", chunks=CHUNK // 10, shards=CHUNK, **options)[...] = 0
    group.create_array("large", shape=(8 * 16384,), chunks=16384, dtype="i8")[...] = 0
    group.create_array("rows", shape=(0, 50), chunks=(3, 20), dtype="i8", fill_value=-1)
    group.create_array("size", shape=(20, 20), chunks=(3, 3), dtype="i8", fill_value=-1)[...] = 5
    zarr.consolidate_metadata(root)


# --- writers: each runs until it is killed; `number` always increases ---


def write_chunks(group, number: int, generator: random.Random) -> None:
    """Whole chunks, and pairs of cells within one chunk or shard."""
    for name in ("raw", "zip", "shard"):
        array = group[name]
        array[:CHUNK] = number
        array[CHUNK + 3 : CHUNK + 1000 : 700] = number
        array[[2 * CHUNK + 1, 2 * CHUNK + 1400]] = [number, number]
        if generator.random() < 0.1:
            array[3 * CHUNK :] = -1  # erases the chunk
        array[3 * CHUNK :] = number


def write_in_threads(group, number: int, generator: random.Random) -> None:
    group["large"][...] = number


def write_attributes(group, number: int, generator: random.Random) -> None:
    group.attrs.update(n=number, m=number)
    group["raw"].attrs.update(n=number, m=number, more=["x" * generator.randrange(3000)])
    if generator.random() < 0.1:
        zarr.consolidate_metadata(group.store)


def append(group, number: int, generator: random.Random) -> None:
    array = group["rows"]
    array.refresh()
    if len(array) > 60:
        array.resize(0, 50)
    count = generator.randrange(1, 8)
    first = len(array)
    array.append(np.repeat(np.arange(first, first + count), 50).reshape(count, 50))


def resize(group, number: int, generator: random.Random) -> None:
    array = group["size"]
    array.refresh()
    array.resize(generator.choice([7, 12, 20]), generator.choice([6, 10, 20]))
    array[...] = 5


def make_and_remove(group, number: int, generator: random.Random) -> None:
    group.create_group("moved", overwrite=True)  # in any state that an earlier writer left
    array = group.create_array("made", shape=(30,), chunks=4, dtype="i8", overwrite=True)
    array[...] = number
    if generator.random() < 0.5:
        del group["made"]
        group.create_group("sub/sub", overwrite=True, attributes={"n": number, "m": number})
    else:
        group.move("made", f"moved/{'abcdefghijklmnopqrstuvwxyz'[number % 26]}")


WRITERS = {
    writer.__name__: writer
    for writer in (
        write_chunks,
        write_in_threads,
        write_attributes,
        append,
        resize,
        make_and_remove,
    )
}


# --- checks after a kill ---


def check(root: Path, reached: dict[str, int]) -> None:
    def went_on(name: str, value) -> None:
        value = int(value)
        assert value >= reached.get(name, 0), f"{name}: {value} after {reached[name]}"
        reached[name] = value

    store = LocalStore(root)
    for key in store.list():
        assert OURS(key), f"{key} is listed"
    group = zarr.open_group(store, use_consolidated=False)
    assert group.attrs["n"] == group.attrs["m"]
    went_on("attributes", group.attrs["n"])
    for name in ("raw", "zip", "shard"):
        array = group[name]
        assert array.attrs.get("n") == array.attrs.get("m")
        values = array[...]
        first, second, third, fourth = values.reshape(4, CHUNK)
        assert (first == first[0]).all(), f"{name}: torn"
        assert second[3] == second[703], f"{name}: {second[3]} and {second[703]}"
        assert third[1] == third[1400], f"{name}: {third[1]} and {third[1400]}"
        assert (fourth == fourth[0]).all(), f"{name}: torn"
        for place, value in enumerate([first[0], second[3], third[1]]):
            went_on(f"{name} {place}", value)
    for chunk in group["large"][...].reshape(8, 16384):
        assert (chunk == chunk[0]).all()
    rows = group["rows"][...]
    assert (rows == np.arange(len(rows))[:, None]).all(), "rows that were not written are seen"
    size = group["size"]
    assert set(size.shape) <= {6, 7, 10, 12, 20}
    assert np.isin(size[...], (5, -1)).all()
    for _, node in group.members(None):
        node.attrs.asdict()
        if isinstance(node, zarr.Array):
            node[...]
    for _, node in zarr.open_consolidated(store).members(None):
        assert node.metadata is not None


def write(root: Path, kind: str, number: int) -> None:
    zarr.config.set(threads=2 if kind == "write_in_threads" else 1)
    group = zarr.open_group(root, use_consolidated=False)
    own = random.Random(number)
    for count in range(number * 10_000, number * 10_000 + 10_000):
        WRITERS[kind](group, count, own)


def main() -> None:
    root, kind, kills, seed = Path(sys.argv[1]), *sys.argv[2:]
    generator = random.Random(f"{kind} {seed}")
    start(root)
    reached: dict[str, int] = {}
    zarr.config.set(threads=1)
    check(root, reached)
    for number in range(1, int(kills) + 1):
        assert is_killed(partial(write, root, kind, number), 0.001 + generator.random() * 0.02)
        check(root, reached)
    # Nothing is locked, writing works, and only files of the store are left.
    group = zarr.open_group(root)
    for name in ("raw", "zip", "shard"):
        group[name][1:5000] = 3
        group[name].attrs["done"] = True
    left = [name for _, _, names in os.walk(root) for name in names if name.startswith(".")]
    assert all(name.endswith((".zarr-partial", ".zarr-lock")) for name in left), left


if __name__ == "__main__":
    main()
