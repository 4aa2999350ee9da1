"""Zarr arrays that xarray reads lazily."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray

from zarr_xarray import _xarray

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core import Array


class LazyZarrArray(BackendArray):
    """A Zarr array whose elements are read lazily.

    Basic, outer and vectorized keys of xarray become basic, orthogonal and coordinate selections,
    which read only the chunks that they overlap.  Arrays can be shared between threads, and can be
    pickled if their store can.
    """

    __slots__ = ("array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self.array = array
        """The array in the store."""
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: Any) -> Any:
        read: Callable[[Any], Any] = self.array.get_coordinate_selection
        if isinstance(key, _xarray.BasicIndexer):
            read = self.array.get_basic_selection
        elif isinstance(key, _xarray.OuterIndexer):
            read = self.array.get_orthogonal_selection

        def read_as_array(selection: tuple[Any, ...]) -> Any:
            value = read(selection)
            # A single string is a str, which NumPy would convert to a fixed-length data type.
            return value if isinstance(value, np.ndarray) else np.asarray(value, self.dtype)

        return _xarray.select(key, self.shape, _xarray.VECTORIZED, read_as_array)

    async def async_getitem(self, key: Any) -> Any:
        """Read in a thread, without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self.__getitem__, key)
