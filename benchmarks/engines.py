"""Times of xarray's two engines for Zarr: ``python -m benchmarks.engines``.

Each case is done by both, in turn, and the least time of each counts.  Stores are local
directories, where processor time is measured, that of all threads; or memory of which every
operation takes 20 ms, where it is time as such.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from zarr.storage import MemoryStore, WrapperStore
from zarr_core import MemoryStore as OurMemoryStore
from zarr_core.extension import Store
from zarr_stores.wrappers.observer import ObservedStore
from zarr_xarray import to_zarr

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

LATENCY = 0.02
_WAITED_FOR = ("get", "exists", "set", "set_if_not_exists", "delete", "is_empty")
_LISTINGS = ("list", "list_prefix", "list_dir")


class OurFarStore(ObservedStore):
    """A store of zarr-core with latency."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.max_concurrency = 64

    def perform(
        self, operation: str, key: str, work: Callable[[], Any], nbytes: Callable[[Any], int]
    ) -> Any:
        time.sleep(LATENCY)
        return work()

    # One request for each key.
    set_values = Store.set_values
    erase_values = Store.erase_values


class FarStore(WrapperStore[MemoryStore]):
    """A store of zarr-python with latency."""

    def with_read_only(self, read_only: bool = False) -> FarStore:
        return type(self)(self._store.with_read_only(read_only))


async def _later(self: Any, *args: Any, name: str, **options: Any) -> Any:
    await asyncio.sleep(LATENCY)
    return await getattr(self._store, name)(*args, **options)


async def _listed_later(self: Any, *args: Any, name: str) -> AsyncIterator[str]:
    await asyncio.sleep(LATENCY)
    async for key in getattr(self._store, name)(*args):
        yield key


def _method(function: Any, name: str) -> Any:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        return function(self, *args, name=name, **options)

    return method


for _name in _WAITED_FOR:
    setattr(FarStore, _name, _method(_later, _name))
for _name in _LISTINGS:
    setattr(FarStore, _name, _method(_listed_later, _name))


def near(folder: str, ours: bool) -> Any:
    """A new directory."""
    return tempfile.mkdtemp(dir=folder) + "/a.zarr"


def far(folder: str, ours: bool) -> Any:
    """A new store with latency."""
    if ours:
        return OurFarStore(OurMemoryStore())
    return FarStore(MemoryStore())


def write(ds: Any, store: Any, ours: bool, **options: Any) -> None:
    """Write a dataset with one of the engines."""
    if ours:
        to_zarr(ds, store, **options)
    else:
        ds.to_zarr(store, **options)


def opened(store: Any, ours: bool, **options: Any) -> Any:
    """Open a written dataset."""
    return xr.open_dataset(store, engine="zarr_core" if ours else "zarr", **options)


def datasets() -> tuple[Any, Any]:
    """Ten variables of one chunk; one variable of 48 MiB that compresses a little."""
    random = np.random.default_rng(1)
    units = {"units": "K"}
    many = xr.Dataset(
        {
            f"v{n}": (("t", "y", "x"), random.random((4, 10, 10), dtype="f4"), units)
            for n in range(10)
        },
        coords={"t": np.arange(4), "y": np.arange(10), "x": np.arange(10)},
        attrs={"title": "many"},
    )
    values = random.integers(0, 1000, (48, 512, 512)).astype("f4")
    return many, xr.Dataset({"a": (("t", "y", "x"), values)}, coords={"t": np.arange(48)})


def cases(place: Any, zarr_format: int) -> dict[str, tuple[Any, Any]]:
    """Return the preparation and the timed function of each case."""
    many, large = datasets()
    new = {"zarr_format": zarr_format}
    chunked: dict[str, Any] = {"encoding": {"a": {"chunks": (4, 128, 128)}}}
    slab = many.isel(t=slice(1, 2)).drop_vars(["t", "y", "x"])

    def written(ds: Any, store: Any, ours: bool, **options: Any) -> None:
        write(ds, store, ours, **new, **options)

    def nothing(store: Any, ours: bool) -> None:
        """Do not change the store."""

    there = partial(written, many)
    found: dict[str, tuple[Any, Any]] = {
        "write 10 variables": (nothing, there),
        "append to them": (there, lambda s, ours: write(many, s, ours, append_dim="t")),
        "write a region of them": (
            there, lambda s, ours: write(slab, s, ours, region={"t": slice(1, 2)})
        ),
        "open": (there, opened),
        "open, not consolidated": (
            partial(written, many, consolidated=False),
            lambda s, ours: opened(s, ours, consolidated=False),
        ),
        "open and load": (there, lambda s, ours: opened(s, ours).load()),
    }  # fmt: skip
    if place is far or zarr_format == 2:
        return found  # latency dominates
    stored = partial(written, large, **chunked)
    parts = large.chunk(t=4, y=128, x=128)
    return found | {
        "write 48 MiB in 192 chunks": (nothing, stored),
        "the same, by Dask": (nothing, partial(written, parts)),
        "load 48 MiB": (stored, lambda s, ours: opened(s, ours).load()),
        "the same, by Dask ": (stored, lambda s, ours: opened(s, ours, chunks={}).load()),
        "load one of 48 times": (stored, lambda s, ours: opened(s, ours)["a"].isel(t=7).load()),
    }


def least(place: Any, prepare: Any, work: Any, times: int) -> tuple[float, float]:
    """Return the milliseconds of both engines: ours, theirs."""
    best = [float("inf"), float("inf")]
    for number in range(times):
        for who in (0, 1) if number % 2 else (1, 0):
            with tempfile.TemporaryDirectory() as folder:
                ours = who == 0
                store = place(folder, ours)
                prepare(store, ours)
                clock = time.process_time if place is near else time.perf_counter
                begun = clock()
                work(store, ours)
                best[who] = min(best[who], 1000 * (clock() - begun))
    return best[0], best[1]


def main() -> None:
    """Print a table."""
    warnings.simplefilter("ignore")
    print("| | version | ours, ms | zarr-python, ms | ratio |")
    print("|---|---|---|---|---|")
    for place, name in ((near, "directory"), (far, "20 ms")):
        for zarr_format in (3, 2):
            for label, (prepare, work) in cases(place, zarr_format).items():
                ours, theirs = least(place, prepare, work, 7 if place is near else 3)
                numbers = f"{ours:.1f} | {theirs:.1f} | {ours / theirs:.2f}"
                print(f"| {label.strip()}, {name} | {zarr_format} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
