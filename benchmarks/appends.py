"""Times of live appends of single steps, and of writing all at once: ``python -m benchmarks.appends``.

Five variables of float32 and their times, in a local directory.  Each case is done several times
in turn; the least processor time of all threads and the least time as such count.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from zarr_xarray import Appender, to_zarr

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 100_000
SIZES = (1, 64, 256, 512)  # elements of a step of each variable
NAMES = "abcde"
_ENCODING = {"units": "nanoseconds since 1970-01-01", "dtype": "int64", "chunks": (100_000,)}


def _dataset(size: int) -> xr.Dataset:
    few = np.random.default_rng(0).standard_normal((2000, size), "float32").cumsum(0, "float32")
    values = np.resize(few, (STEPS, size))
    times = np.datetime64("2000-01-01", "ns") + np.arange(STEPS) * np.timedelta64(1, "m")
    data = {name: (("time", "x"), values.copy()) for name in NAMES}
    return xr.Dataset(data, coords={"time": times})


def _at_once(data: xr.Dataset, path: str) -> None:
    chunks = (1000, data.sizes["x"])
    encoding: dict[str, Any] = {name: {"chunks": chunks} for name in NAMES}
    to_zarr(data, path, encoding={**encoding, "time": _ENCODING})


def _by_steps(data: xr.Dataset, flush_every: int, path: str, *, count: int = STEPS) -> None:
    values = {str(name): variable.values for name, variable in data.variables.items()}
    with Appender(path, "time", flush_every=flush_every, flush_seconds=1e9) as appender:
        appender.append(data.isel(time=[0]))
        for step in range(1, count):
            appender.append({name: array[step] for name, array in values.items()})


def _measured(work: Callable[[str], None]) -> tuple[float, float]:
    """Return processor time and time, in seconds."""
    with tempfile.TemporaryDirectory() as directory:
        began = time.process_time(), time.perf_counter()
        work(f"{directory}/data.zarr")
        return time.process_time() - began[0], time.perf_counter() - began[1]


def main() -> None:
    """Print a table."""
    for size in SIZES:
        data = _dataset(size)
        cases = {
            "at once": partial(_at_once, data),
            "flush_every=1000": partial(_by_steps, data, 1000),
            "flush_every=10000": partial(_by_steps, data, 10_000),
        }
        rounds = [{name: _measured(work) for name, work in cases.items()} for _ in range(3)]
        best = {name: np.min([one[name] for one in rounds], axis=0) for name in cases}
        for name, (used, passed) in best.items():
            share = best["at once"] / (used, passed)
            print(
                f"{size:4} elements, {name:17} processor {used / STEPS * 1e6:6.1f} us per step "
                f"({share[0]:4.0%}), time {passed / STEPS * 1e6:6.1f} us ({share[1]:4.0%})"
            )
    count = 1000
    used, passed = _measured(partial(_by_steps, data, 1, count=count))
    print(
        f"flush_every=1: processor {used / count * 1e3:.1f} ms, time {passed / count * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
