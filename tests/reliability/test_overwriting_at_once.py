"""Processes that overwrite the same node at the same time all succeed."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr

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
