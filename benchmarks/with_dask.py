"""Compare reading and writing of arrays by Dask with this library and with zarr-python.

``python -m benchmarks.with_dask [FOLDER]``; a folder in memory, if none is given.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import zarr
import zarr_dask

if TYPE_CHECKING:
    from collections.abc import Callable

LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks of 1 MiB": {"chunks": (256, 512)},
    "chunks of 128 KiB": {"chunks": (128, 128)},
    "128 KiB in shards of 8 MiB": {"chunks": (128, 128), "shards": (1024, 1024)},
}
BLOCKS = (1024, 1024)
ROUNDS = 8
ZSTD: Any = {"name": "zstd", "configuration": {"level": 0, "checksum": True}}


def field() -> np.ndarray[Any, Any]:
    """200 MiB that compress like measurements."""
    y, x = np.mgrid[0:4096, 0:6400]
    noise = np.random.default_rng(0).normal(0, 3, x.shape)
    made: np.ndarray[Any, Any] = np.round(1000 * np.sin(x / 50) * np.cos(y / 70) + noise)
    return made


def best(*calls: Callable[[], object]) -> list[float]:
    """Return the seconds of the fastest round of each, measured in turn."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, mine in zip(calls, seconds, strict=True):
            start = perf_counter()
            call()
            mine.append(perf_counter() - start)
    return [min(mine) for mine in seconds]


def measure(folder: Path, x: Any, layout: dict[str, Any]) -> dict[str, list[float]]:
    """Return the seconds of this library and of zarr-python for each operation."""
    ours, theirs = str(folder / "ours.zarr"), str(folder / "theirs.zarr")
    untyped: Any = da

    def total(x: Any) -> object:
        return x.sum().compute()

    def write_theirs() -> None:
        made = zarr.create_array(
            theirs, shape=x.shape, dtype=x.dtype, compressors=[ZSTD], overwrite=True, **layout
        )
        untyped.to_zarr(x, made)

    return {
        "write": best(
            lambda: zarr_dask.to_zarr(x, ours, compressors=[ZSTD], overwrite=True, **layout),
            write_theirs,
        ),
        "read in blocks of 8 MiB": best(
            lambda: total(zarr_dask.from_zarr(theirs, chunks=BLOCKS)),
            lambda: total(untyped.from_zarr(theirs, chunks=BLOCKS)),
        ),
        "read in the blocks of `from_zarr`": best(
            lambda: total(zarr_dask.from_zarr(theirs)),
            lambda: total(untyped.from_zarr(theirs)),
        ),
    }


def main() -> None:
    """Measure all cases and print a table."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "/dev/shm"
    untyped: Any = da
    x = untyped.from_array(field(), chunks=BLOCKS)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name, layout in LAYOUTS.items():
            for operation, (mine, other) in measure(Path(place), x, layout).items():
                print(
                    f"| {name} | {operation} | {mine:.2f} s | {other:.2f} s | {mine / other:.2f} |"
                )


if __name__ == "__main__":
    main()
