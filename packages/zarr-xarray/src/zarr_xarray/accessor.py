"""Writing from the datasets themselves: ``ds.zarr_core.to_zarr(...)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_xarray import _xarray
from zarr_xarray.writing import to_zarr

if TYPE_CHECKING:
    from zarr_xarray.store import DatasetStore


class DatasetWriter:
    """What zarr-core does with a dataset or a data array.

    Parameters
    ----------
    data : Dataset or DataArray
        What it belongs to.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def to_zarr(self, store: Any = None, **options: Any) -> DatasetStore | Any:
        """Write it; see :func:`zarr_xarray.to_zarr`."""
        return to_zarr(self._data, store, **options)


class TreeWriter(DatasetWriter):
    """What zarr-core does with a tree of datasets."""


_xarray.register_dataset("zarr_core")(DatasetWriter)
_xarray.register_dataarray("zarr_core")(DatasetWriter)
_xarray.register_datatree("zarr_core")(TreeWriter)
