"""Read and write Zarr hierarchies with xarray and zarr-core.

xarray reads them with ``xr.open_dataset(store, engine="zarr_core")``.  Importing this
package adds the accessor ``zarr_core``, which writes, to datasets, data arrays and trees.
"""

from __future__ import annotations

from zarr_xarray.accessor import DatasetWriter
from zarr_xarray.append.appender import Appender, append
from zarr_xarray.backend import ZarrCoreBackend
from zarr_xarray.writers import to_zarr

__all__ = [
    "Appender",
    "DatasetWriter",
    "ZarrCoreBackend",
    "append",
    "to_zarr",
]

__version__ = "0.1.0"
