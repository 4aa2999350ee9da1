"""How many operations of a store it takes to write, append, open."""

import numpy as np
import pytest
import xarray as xr
import zarr_core
from counting_store import CountingStore
from zarr_xarray import to_zarr


@pytest.fixture
def store():
    return CountingStore(zarr_core.MemoryStore())


@pytest.fixture
def ds():
    data = np.random.default_rng(1).random((4, 5))
    return xr.Dataset({f"v{number}": (("x", "y"), data + number) for number in range(10)})


def operations(store):
    """Calls of the store; what an update reads of the value that it updates is part of it."""
    count = sum(not call.method.startswith("reader.") for call in store.calls)
    store.calls.clear()
    return count


@pytest.mark.parametrize(("zarr_format", "most"), [(3, 22), (2, 33)])
@pytest.mark.parametrize("mode", ["w-", "w", None])
def test_ten_variables_are_written(store, ds, zarr_format, most, mode):
    to_zarr(ds, store, mode, zarr_format=zarr_format)
    assert len(store.calls) <= most
    assert not {call.method for call in store.calls} & {"get", "list_dir", "exists"}
    xr.testing.assert_identical(xr.open_dataset(store, engine="zarr_core"), ds)


@pytest.mark.parametrize(("zarr_format", "most"), [(3, 22), (2, 34)])
def test_attributes_cost_one_operation_in_version_2(store, ds, zarr_format, most):
    to_zarr(ds.assign_attrs(title="x"), store, zarr_format=zarr_format)
    assert len(store.calls) <= most


@pytest.mark.parametrize(("zarr_format", "most", "with_reads"), [(3, 30, 35), (2, 40, 40)])
def test_ten_variables_are_appended(store, ds, zarr_format, most, with_reads):
    to_zarr(ds, store, zarr_format=zarr_format)
    for _ in range(2):
        store.calls.clear()
        to_zarr(ds, store, append_dim="x")
        assert len(store.calls) <= with_reads
        assert operations(store) <= most
    found = xr.open_dataset(store, engine="zarr_core")
    xr.testing.assert_identical(found.load(), xr.concat([ds] * 3, "x"))


@pytest.mark.parametrize(("zarr_format", "most"), [(3, 1), (2, 4)])
def test_opening_reads_the_documents_of_the_group_alone(store, ds, zarr_format, most):
    to_zarr(ds, store, zarr_format=zarr_format)
    store.calls.clear()
    xr.open_dataset(store, engine="zarr_core", zarr_format=zarr_format)
    assert operations(store) <= most


def test_opening_one_array_of_a_group(store, ds):
    to_zarr(ds, store, consolidated=False)
    zarr_core.open_group(store, "r", zarr_format=3)
    store.calls.clear()
    zarr_core.open_group(store, "r", zarr_format=3)["v3"]
    assert operations(store) <= 2
