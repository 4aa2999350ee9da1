"""Number of store operations and round trips to write, append and open."""

import time

import numpy as np
import pytest
import xarray as xr
import zarr_core
from counting_store import CountingStore
from waits import LATENCIES
from zarr_xarray import to_zarr

ENGINE = {"engine": "zarr_core"}


class FarStore(CountingStore):
    """A store with latency that counts round trips; concurrent operations count once."""

    def __init__(self, inner):
        super().__init__(inner)
        self.max_concurrency = 16
        self.waits = 0
        self.latency = 0.0
        self._active = 0

    def perform(self, operation, key, work, nbytes):
        if operation == "update":  # a read and a write; only the read is performed here
            self.waits += self._active == 0
            return super().perform(operation, key, work, nbytes)
        with self._guard:
            self.waits += self._active == 0
            self._active += 1
        time.sleep(self.latency)
        try:
            return super().perform(operation, key, work, nbytes)
        finally:
            with self._guard:
                self._active -= 1


def fewest_waits(far, work, most):
    """Count the round trips, with a latency that exceeds the processor time."""
    for far.latency in LATENCIES:
        far.waits = 0
        work()
        if far.waits <= most:
            break
    return far.waits


@pytest.fixture
def store():
    return CountingStore(zarr_core.MemoryStore())


@pytest.fixture
def ds():
    data = np.random.default_rng(1).random((4, 5))
    units = {"units": "K"}
    return xr.Dataset({f"v{number}": (("x", "y"), data + number, units) for number in range(10)})


def operations(store):
    """Count store calls; the read of an update is part of the update."""
    count = sum(not call.method.startswith("reader.") for call in store.calls)
    store.calls.clear()
    return count


@pytest.mark.parametrize("mode", ["w-", "w", None])
def test_write_ten_variables(store, ds, zarr_format, mode):
    to_zarr(ds, store, mode, zarr_format=zarr_format)
    # Documents, chunks, the root, consolidated metadata; one to see that the store is empty.  In
    # version 2, another to see that no process has created an array meanwhile.
    assert len(store.calls) == {3: 22, 2: 34}[zarr_format]
    assert [call.method for call in store.calls].count("exists") == {3: 0, 2: 1}[zarr_format]
    assert not {call.method for call in store.calls} & {"get", "list_dir"}
    xr.testing.assert_identical(xr.open_dataset(store, **ENGINE), ds)


def test_attributes_take_one_operation_in_version_2(store, ds, zarr_format):
    to_zarr(ds.assign_attrs(title="x"), store, zarr_format=zarr_format)
    assert len(store.calls) == {3: 22, 2: 35}[zarr_format]


def test_append_ten_variables(store, ds, zarr_format):
    store.max_concurrency = 16
    to_zarr(ds, store, zarr_format=zarr_format)
    for _ in range(2):
        store.calls.clear()
        to_zarr(ds, store, append_dim="x")
        # Ten documents are read, then these and the consolidated metadata are read and written; ten
        # chunks are written.
        assert len(store.calls) == {3: 43, 2: 77}[zarr_format]
        assert operations(store) == {3: 32, 2: 66}[zarr_format]
    found = xr.open_dataset(store, **ENGINE)
    xr.testing.assert_identical(found.load(), xr.concat([ds] * 3, "x"))


def test_append_does_not_write_an_unconsolidated_root(store, ds, zarr_format):
    to_zarr(ds, store, zarr_format=zarr_format, consolidated=False)
    store.calls.clear()
    to_zarr(ds, store, append_dim="x", consolidated=False)
    written = {call.key for call in store.calls if call.method in ("set", "update")}
    assert len(written - {".zmetadata"}) == 20  # it is only checked, and does not exist
    assert not written & {"zarr.json", ".zgroup", ".zattrs"}
    assert not store.exists(".zmetadata")


@pytest.mark.parametrize("consolidated", [True, False])
def test_open_reads_only_documents(store, ds, zarr_format, consolidated):
    store.max_concurrency = 16  # otherwise documents of the other format are looked for
    to_zarr(ds, store, zarr_format=zarr_format)
    store.calls.clear()
    xr.open_dataset(store, consolidated=consolidated, **ENGINE)
    most = {(3, True): 1, (3, False): 12, (2, True): 5, (2, False): 26}
    assert operations(store) <= most[zarr_format, consolidated]


def opened_by_path(store):
    zarr_core.open(store, "r", path="v3")


def opened_of_a_group(store):
    zarr_core.open_group(store, "r")["v3"]


def opened_of_a_group_of_known_format(store):
    group = zarr_core.open_group(store, "r", use_consolidated=False)
    store.waits = 0
    group["v3"]


@pytest.mark.parametrize(
    ("opening", "most"),
    [(opened_by_path, 2), (opened_of_a_group, 2), (opened_of_a_group_of_known_format, 1)],
)
def test_open_array_takes_at_most_two_round_trips(ds, zarr_format, opening, most):
    far = FarStore(zarr_core.MemoryStore())
    to_zarr(ds, far.inner, zarr_format=zarr_format)
    assert fewest_waits(far, lambda: opening(far), most) <= most


def test_indexes_are_read_concurrently(ds, zarr_format):
    far = FarStore(zarr_core.MemoryStore())
    to_zarr(ds.assign_coords(x=np.arange(4), y=np.arange(5)), far.inner, zarr_format=zarr_format)
    most = {3: 3, 2: 4}[zarr_format]
    assert fewest_waits(far, lambda: xr.open_dataset(far, **ENGINE), most) <= most
    opened = xr.open_dataset(far, **ENGINE)
    assert opened["v3"].sel(x=2, y=3).values == ds["v3"].values[2, 3]


def test_variables_in_memory_are_written_concurrently(ds, zarr_format):
    for latency in LATENCIES:
        far = FarStore(zarr_core.MemoryStore())
        far.latency = latency
        to_zarr(ds, far, zarr_format=zarr_format)
        if far.waits <= {3: 6, 2: 10}[zarr_format]:
            break
    assert far.waits <= {3: 6, 2: 10}[zarr_format]
    xr.testing.assert_identical(xr.open_dataset(far.inner, **ENGINE), ds)
    assert fewest_waits(far, lambda: to_zarr(ds, far, append_dim="x"), 14) <= 14
