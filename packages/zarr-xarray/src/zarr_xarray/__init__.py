"""Datasets of xarray in Zarr hierarchies, through zarr-core.

Reading is xarray's own: ``xr.open_dataset(store, engine="zarr_core")``.  Importing this
adds the accessor ``.zarr_core`` to datasets, data arrays and trees, which writes.
"""

from __future__ import annotations

from zarr_xarray.accessor import DatasetWriter, TreeWriter
from zarr_xarray.backend import ZarrCoreBackend, use_for_zarr_engine
from zarr_xarray.writing import to_zarr

__all__ = ["DatasetWriter", "TreeWriter", "ZarrCoreBackend", "to_zarr", "use_for_zarr_engine"]

__version__ = "0.1.0"
