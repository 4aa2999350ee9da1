"""The package does not import zarr-python."""

import subprocess
import sys

PROGRAM = """
import sys

sys.modules["zarr"] = None  # as if not installed: importing it raises
import numpy as np, xarray as xr, zarr_core, zarr_xarray

for zarr_format in (2, 3):
    store = zarr_core.MemoryStore()
    ds = xr.Dataset(
        {"t": ("x", np.arange(4.0)), "name": ("x", ["a", "bc", "d", "e"])},
        coords={"x": [0, 1, 2, 3]},
    )
    ds.zarr_core.to_zarr(store, zarr_format=zarr_format)
    ds.assign_coords(x=ds.x + 4).zarr_core.to_zarr(store, append_dim="x")
    ds.isel(x=[1]).zarr_core.to_zarr(store, region="auto")
    ds.chunk(x=4).drop_vars("x").zarr_core.to_zarr(store, region={"x": slice(4, 8)})
    xr.DataTree(ds).zarr_core.to_zarr(store, mode="w")
    assert xr.open_dataset(store, engine="zarr_core").load().identical(ds)
    assert xr.open_datatree(store, engine="zarr_core").to_dataset().identical(ds)
assert sys.modules["zarr"] is None
"""


def test_zarr_python_is_not_imported():
    # Other engines may need zarr-python; xarray warns about them.
    strict = ["-W", "error", "-W", "ignore:Engine:RuntimeWarning"]
    subprocess.run([sys.executable, *strict, "-c", PROGRAM], check=True)
