"""Datasets on a Dask cluster of processes."""

import dask
import numpy as np
import pytest
import xarray as xr
import zarr_core
from zarr_xarray import to_zarr

distributed = pytest.importorskip("distributed")

ENGINE = {"engine": "zarr_core"}


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def ds():
    values = np.random.default_rng(4).random((24, 6))
    data = {"a": (("t", "x"), values), "label": ("t", [f"no. {n}" for n in range(24)])}
    return xr.Dataset(data, coords={"t": np.arange(24), "x": np.arange(6)})


def write_region(path, start):
    """Write one region, independently of the other workers."""
    part = xr.Dataset(
        {"a": (("t", "x"), np.full((6, 6), start))}, coords={"t": np.arange(start, start + 6)}
    )
    to_zarr(part, path, region={"t": "auto"})
    return start


@pytest.mark.slow
@pytest.mark.parametrize("zarr_format", [3, 2])
def test_processes_write_read_and_append(tmp_path, client, ds, zarr_format):
    shards = {"shards": (6, 6)} if zarr_format == 3 else {}
    encoding = {"a": {"chunks": (3, 6) if shards else (6, 6), **shards}}
    to_zarr(ds.chunk(t=6), tmp_path / "a.zarr", encoding=encoding, zarr_format=zarr_format)
    found = xr.open_dataset(tmp_path / "a.zarr", chunks={}, **ENGINE)
    assert found["a"].chunks == ((6,) * 4, (6,))  # shards if there are any
    xr.testing.assert_identical(found.compute(), ds)
    # Later, from the graph alone.
    later = to_zarr(found, tmp_path / "b.zarr", compute=False)
    assert zarr_core.open_array(tmp_path / "b.zarr", path="a").nchunks_initialized == 0
    client.compute(later).result()
    to_zarr(found.assign_coords(t=found.t + 24), tmp_path / "b.zarr", append_dim="t")
    both = xr.concat([ds, ds.assign_coords(t=ds.t + 24)], "t")
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "b.zarr", **ENGINE).load(), both)
    # Several stores as one dataset, opened by the workers.
    paths = [tmp_path / "a.zarr", tmp_path / "b.zarr"]
    with xr.open_mfdataset(
        paths, parallel=True, combine="nested", concat_dim="t", chunks={}, **ENGINE
    ) as many:
        assert float(many["a"].sum()) == pytest.approx(3 * float(ds["a"].sum()))


@pytest.mark.slow
def test_workers_write_auto_regions(tmp_path, client, ds):
    path = tmp_path / "a.zarr"
    empty = xr.zeros_like(ds[["a"]]).chunk(t=6)
    to_zarr(empty, path, encoding={"a": {"chunks": (6, 6)}}, compute=False)
    tasks = client.map(write_region, [str(path)] * 4, range(0, 24, 6), pure=False)
    assert client.gather(tasks) == [0, 6, 12, 18]
    found = xr.open_dataset(path, **ENGINE)
    assert (found["a"].values == found["t"].values[:, None] // 6 * 6).all()


@pytest.mark.slow
def test_memory_store_is_not_sent_to_processes(client, ds):
    store = zarr_core.MemoryStore()
    with pytest.raises(Exception, match="serialize"):  # instead of losing data
        to_zarr(ds.chunk(t=6), store)
    assert not list(store.list())  # what was created is removed
