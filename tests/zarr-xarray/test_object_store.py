"""Datasets in a bucket of an S3 server."""

import pickle
from uuid import uuid4

import numpy as np
import pytest
import xarray as xr
import zarr_core
from object_stores import s3_environment, s3_options, s3_store
from zarr_xarray import to_zarr

pytest_plugins = ["servers.fixtures"]


def part(start, stop):
    values = np.arange(start, stop)
    data = {"a": (("t", "x"), np.stack([values, -values], 1)), "s": ("t", values.astype("U4"))}
    return xr.Dataset(data, coords={"t": values}, attrs={"title": "in a bucket"})


@pytest.fixture(params=["options", "environment"])
def options(s3_server, request, monkeypatch):
    """Options in addition to the URL."""
    if request.param == "options":
        return {"storage_options": s3_options(s3_server)}
    for name, value in s3_environment(s3_server).items():
        monkeypatch.setenv(name, value)
    return {"storage_options": {"client_options": {"allow_http": "true"}}}


def test_write_append_and_open_by_url(s3_server, zarr_format, options):
    url = f"s3://{s3_server.bucket}/{uuid4()}/field.zarr"
    whole = part(0, 12)
    written = to_zarr(part(0, 4), url, zarr_format=zarr_format, **options)
    assert written.target.store.url == url
    to_zarr(part(4, 12), url, append_dim="t", **options)
    with xr.open_dataset(url, engine="zarr_core", chunks={}, **options) as ds:
        xr.testing.assert_identical(ds.compute(), whole)
        if "access_key_id" not in options["storage_options"]:  # credentials are never pickled
            xr.testing.assert_identical(pickle.loads(pickle.dumps(ds)).compute(), whole)
    changed = (whole[["a"]].isel(t=slice(3, 7)) * 10).assign_coords(t=whole.t[3:7])
    to_zarr(changed, url, region="auto", **options)
    with xr.open_dataset(url, engine="zarr_core", **options) as ds:
        factor = np.where((whole.t >= 3) & (whole.t < 7), 10, 1)
        assert (ds["a"].values == whole["a"].values * factor[:, None]).all()
    with pytest.raises(FileExistsError):
        to_zarr(whole, url, **options)
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(f"{url}/none", engine="zarr_core", **options)


def test_trees_in_a_bucket(s3_server, zarr_format):
    store = s3_store(s3_server)
    tree = xr.DataTree.from_dict({"/": part(0, 3), "/below/more": xr.Dataset({"d": 1.5})})
    to_zarr(tree, store, zarr_format=zarr_format)
    found = xr.open_datatree(store, engine="zarr_core").load()
    xr.testing.assert_identical(found, tree)
    assert not zarr_core.check_consolidated(zarr_core.open_group(store))
