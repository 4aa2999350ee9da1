"""How many operations of a store it takes to write, append, open; how often one waits for it."""

import time

import numpy as np
import pytest
import xarray as xr
import zarr_core
from counting_store import CountingStore
from zarr_xarray import to_zarr

ENGINE = {"engine": "zarr_core"}
LATENCY = 0.02


class FarStore(CountingStore):
    """As if far away: counts how often somebody waits, for one answer or several at once."""

    def __init__(self, inner):
        super().__init__(inner)
        self.requests = 16
        self.waits = 0
        self._active = 0

    def perform(self, operation, key, work, nbytes):
        if operation == "update":  # which is a read and a write, of which the first is performed
            self.waits += self._active == 0
            return super().perform(operation, key, work, nbytes)
        with self._guard:
            self.waits += self._active == 0
            self._active += 1
        time.sleep(LATENCY)
        try:
            return super().perform(operation, key, work, nbytes)
        finally:
            with self._guard:
                self._active -= 1


@pytest.fixture
def store():
    return CountingStore(zarr_core.MemoryStore())


@pytest.fixture(params=[3, 2], ids=["v3", "v2"])
def zarr_format(request):
    return request.param


@pytest.fixture
def ds():
    data = np.random.default_rng(1).random((4, 5))
    units = {"units": "K"}
    return xr.Dataset({f"v{number}": (("x", "y"), data + number, units) for number in range(10)})


def operations(store):
    """Calls of the store; what an update reads of the value that it updates is part of it."""
    count = sum(not call.method.startswith("reader.") for call in store.calls)
    store.calls.clear()
    return count


@pytest.mark.parametrize("mode", ["w-", "w", None])
def test_ten_variables_are_written(store, ds, zarr_format, mode):
    to_zarr(ds, store, mode, zarr_format=zarr_format)
    # Documents, chunks, the root, its copies; one to see that nothing is there.
    assert len(store.calls) == {3: 22, 2: 33}[zarr_format]
    assert not {call.method for call in store.calls} & {"get", "list_dir", "exists"}
    xr.testing.assert_identical(xr.open_dataset(store, **ENGINE), ds)


def test_attributes_cost_one_operation_in_version_2(store, ds, zarr_format):
    to_zarr(ds.assign_attrs(title="x"), store, zarr_format=zarr_format)
    assert len(store.calls) == {3: 22, 2: 34}[zarr_format]


def test_ten_variables_are_appended(store, ds, zarr_format):
    store.requests = 16
    to_zarr(ds, store, zarr_format=zarr_format)
    for _ in range(2):
        store.calls.clear()
        to_zarr(ds, store, append_dim="x")
        # Ten documents are read and written, ten chunks written; the copies read, written.
        assert len(store.calls) == {3: 33, 2: 37}[zarr_format]
        assert operations(store) == {3: 22, 2: 26}[zarr_format]
    found = xr.open_dataset(store, **ENGINE)
    xr.testing.assert_identical(found.load(), xr.concat([ds] * 3, "x"))


def test_a_root_without_copies_is_not_written_by_who_appends(store, ds, zarr_format):
    to_zarr(ds, store, zarr_format=zarr_format, consolidated=False)
    store.calls.clear()
    to_zarr(ds, store, append_dim="x", consolidated=False)
    written = {call.key for call in store.calls if call.method in ("set", "update")}
    assert len(written - {".zmetadata"}) == 20  # of which is only seen that it is not there
    assert not written & {"zarr.json", ".zgroup", ".zattrs"}
    assert not store.exists(".zmetadata")


@pytest.mark.parametrize("consolidated", [True, False])
def test_opening_reads_documents_alone(store, ds, zarr_format, consolidated):
    store.requests = 16  # else it is looked whether documents of another format are beside
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
def test_opening_one_array_waits_twice_at_most(ds, zarr_format, opening, most):
    far = FarStore(zarr_core.MemoryStore())
    to_zarr(ds, far.inner, zarr_format=zarr_format)
    for _ in range(3):  # others may need the processor just now
        far.waits = 0
        opening(far)
        if far.waits <= most:
            break
    assert far.waits <= most


def test_indexes_are_read_at_once(ds, zarr_format):
    far = FarStore(zarr_core.MemoryStore())
    to_zarr(ds.assign_coords(x=np.arange(4), y=np.arange(5)), far.inner, zarr_format=zarr_format)
    opened = xr.open_dataset(far, **ENGINE)
    assert far.waits <= {3: 3, 2: 4}[zarr_format]
    assert opened["v3"].sel(x=2, y=3).values == ds["v3"].values[2, 3]


def test_variables_in_memory_are_written_at_once(ds, zarr_format):
    far = FarStore(zarr_core.MemoryStore())
    to_zarr(ds, far, zarr_format=zarr_format)
    assert far.waits <= {3: 6, 2: 10}[zarr_format]
    xr.testing.assert_identical(xr.open_dataset(far.inner, **ENGINE), ds)
    far.waits = 0
    to_zarr(ds, far, append_dim="x")
    assert far.waits <= 14
