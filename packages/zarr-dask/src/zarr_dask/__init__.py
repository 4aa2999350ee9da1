"""Read, write, copy and rechunk Zarr arrays with Dask."""

from __future__ import annotations

from zarr_dask.copy_nodes import copy, plan
from zarr_dask.read_array import from_zarr
from zarr_dask.workers import Workers
from zarr_dask.write_array import to_zarr

__all__ = ["Workers", "copy", "from_zarr", "plan", "to_zarr"]

__version__ = "0.1.0"
