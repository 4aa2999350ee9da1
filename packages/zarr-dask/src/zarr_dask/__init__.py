"""Read and write Zarr arrays with Dask, and copy and rechunk them on a cluster."""

from __future__ import annotations

from zarr_dask.read_array import from_zarr
from zarr_dask.workers import Workers
from zarr_dask.write_array import to_zarr

__all__ = ["Workers", "from_zarr", "to_zarr"]

__version__ = "0.1.0"
