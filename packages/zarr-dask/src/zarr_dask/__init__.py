"""Dask on arrays of zarr-core: read, written, copied, rechunked, on one machine or many."""

from __future__ import annotations

from zarr_dask.copying import copy, plan
from zarr_dask.reading import from_zarr
from zarr_dask.workers import Workers
from zarr_dask.writing import to_zarr

__all__ = ["Workers", "copy", "from_zarr", "plan", "to_zarr"]

__version__ = "0.1.0"
