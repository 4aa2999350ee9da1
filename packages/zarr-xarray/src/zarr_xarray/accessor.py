"""Accessors of datasets, data arrays and trees: ``ds.zarr_core.to_zarr(...)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_xarray import _xarray
from zarr_xarray.writers import to_zarr

if TYPE_CHECKING:
    from zarr_xarray.store import DatasetStore


class DatasetWriter:
    """Accessor ``zarr_core`` of datasets, data arrays and trees."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def to_zarr(self, store: Any = None, **options: Any) -> DatasetStore | Any:
        """Write to a Zarr hierarchy; see :func:`zarr_xarray.to_zarr`."""
        return to_zarr(self._data, store, **options)


_xarray.register_dataset("zarr_core")(DatasetWriter)
_xarray.register_dataarray("zarr_core")(DatasetWriter)
_xarray.register_datatree("zarr_core")(DatasetWriter)
