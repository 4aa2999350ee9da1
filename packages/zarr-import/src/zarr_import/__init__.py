"""Import HDF5 and NetCDF files into Zarr hierarchies, and export them."""

from __future__ import annotations

from zarr_import.errors import SourceNotFoundError, SourceReadError, UnsupportedSourceError
from zarr_import.hdf5 import import_hdf5
from zarr_import.hdf5_copy import copy_all_hdf5, copy_hdf5
from zarr_import.hdf5_export import export_hdf5
from zarr_import.report import ImportReport

__all__ = [
    "ImportReport",
    "SourceNotFoundError",
    "SourceReadError",
    "UnsupportedSourceError",
    "copy_all_hdf5",
    "copy_hdf5",
    "export_hdf5",
    "import_hdf5",
]

__version__ = "0.1.0"
