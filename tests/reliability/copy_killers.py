"""Kills copies at random moments, checks the stores and resumes; a program for test_copies.py.

Arguments: directory, kind of copy, number of kills, seed.
"""

from __future__ import annotations

import random
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import zarr_core as zarr
from reliability_data import is_killed
from zarr_core.errors import NodeNotFoundError

CHUNKS = 60


def start(root: Path) -> None:
    group = zarr.create_group(root)
    values = np.arange(1, CHUNKS * 200 + 1)
    group.create_array("g/large", data=values, chunks=200, compressors=None)
    for number in range(12):
        group.create_array(f"g/small/{number}", data=np.arange(1, 9), chunks=2)
    group.store.set("g/readme.txt", b"notes")


def is_whole(place: Path, path: str) -> bool:
    """Whether the group is visible; a visible group must be complete."""
    store = zarr.LocalStore(place)
    for name, size in [("large", CHUNKS * 200), *((f"small/{n}", 8) for n in range(12))]:
        try:
            array = zarr.open_array(store, path=f"{path}/{name}")
        except NodeNotFoundError:
            continue
        assert (array[...] == np.arange(1, size + 1)).all(), f"{path}/{name} lacks something"
    try:
        group = zarr.open_group(store, path=path)
    except NodeNotFoundError:
        return False
    assert [*group, *group["small"]] == ["large", "small", *sorted(map(str, range(12)))]
    return True


def copy(old: Path, new: Path) -> None:
    zarr.copy(zarr.open_group(old, path="g"), new, "x/g", if_exists="skip")


def copy_in_threads(old: Path, new: Path) -> None:
    source, dest = zarr.LocalStore(old), zarr.LocalStore(new)
    source.max_concurrency = dest.max_concurrency = 8
    zarr.copy(zarr.open_group(source, path="g"), dest, "x/g", if_exists="skip")


def decode(old: Path, new: Path) -> None:
    zarr.copy(zarr.open_group(old, path="g"), new, "x/g", if_exists="skip", compressors="zstd")


def copy_store(old: Path, new: Path) -> None:
    zarr.copy_store(old, new, "g", "x/g", if_exists="update")


def move(old: Path, new: Path) -> None:
    try:
        group = zarr.open_group(old, path="g")
    except NodeNotFoundError:
        if keys(old, "g/"):
            zarr.rmdir(old, "g")
    else:
        zarr.move(group, new, "x/g")


def move_within(old: Path, new: Path) -> None:
    if keys(old, "g/"):
        zarr.open_group(old).move("g", "x/g")


KINDS = {
    work.__name__: work for work in (copy, copy_in_threads, decode, copy_store, move, move_within)
}


def keys(place: Path, prefix: str) -> dict[str, bytes]:
    store = zarr.LocalStore(place)
    return {
        key[len(prefix) :]: b"" if key.endswith(".json") else bytes(store.get(key))
        for key in store.list_prefix(prefix)
    }


def main() -> None:
    folder, kind, kills, seed = Path(sys.argv[1]), *sys.argv[2:]
    generator = random.Random(f"{kind} {seed}")
    work = KINDS[kind]
    moves, within = kind in ("move", "move_within", "rename"), kind in ("move_within", "rename")
    # The duration of a copy, to kill it in the middle; the first one imports modules.
    for name in ("import", "try"):
        start(folder / name)
        expected = keys(folder / name, "g/")
        begin = time.perf_counter()
        work(folder / name, folder / f"{name} copied")
        length = time.perf_counter() - begin
    if kind == "decode":
        expected = keys(folder / "try copied", "x/g/")
    done = number = 0
    while done < int(kills):
        number += 1
        old = folder / f"old{number}"
        new = old if within else folder / f"new{number}"
        start(old)
        while done < int(kills):  # several kills during one copy
            killed = is_killed(partial(work, old, new), generator.random() * length)
            there = is_whole(new, "x/g")
            assert moves or is_whole(old, "g"), "the source is no longer whole"
            assert there or is_whole(old, "g"), "it is whole nowhere"
            if not killed:
                break
            done += 1
            if generator.random() < 0.4:
                break
        work(old, new)
        assert is_whole(new, "x/g")
        assert keys(new, "x/g/") == expected, "not the same"
        assert not moves or not keys(old, "g/"), "something is left at the source"


if __name__ == "__main__":
    main()
