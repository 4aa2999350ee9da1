"""Zarr arrays that xarray reads lazily."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray
from zarr_core.threads import parallel_for

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

        def select() -> Any:
            return _xarray.select(key, self.shape, _xarray.VECTORIZED, read_as_array)

        max_concurrency = self.array.store.max_concurrency
        if max_concurrency is None:
            return select()
        return _load_together(self, select, max_concurrency)

    async def async_getitem(self, key: Any) -> Any:
        """Read in a thread, without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self.__getitem__, key)


class _Local(threading.local):
    loading = False
    """Whether this thread loads the variables of a dataset."""


_local = _Local()


def _load_together(array: LazyZarrArray, select: Callable[[], Any], max_concurrency: int) -> Any:
    """Read an array; if xarray loads its dataset, load the other variables concurrently.

    ``Dataset.load`` loads one variable after the other, and has no interface for a backend that
    could load them together.  So the dataset is taken from the calling frame.  Variables that are
    loaded here are already in memory when it reaches them.
    """
    dataset = None if _local.loading else _dataset_being_loaded()
    variables = () if dataset is None else dataset.variables.values()
    sources = [(variable, _stored_array(variable)) for variable in variables]
    others = [
        variable.load for variable, source in sources if source is not None and source is not array
    ]
    if not others:
        return select()
    result: list[Any] = []
    tasks: list[Callable[[], Any]] = [lambda: result.append(select()), *others]
    _local.loading = True  # this thread takes tasks, too
    try:
        parallel_for(tasks, lambda task: task(), True, max_concurrency)
    finally:
        _local.loading = False
    return result[0]


def _dataset_being_loaded() -> Any:
    """Return the dataset whose ``load`` the calling thread executes; None if there is none."""
    frame = sys._getframe() if hasattr(sys, "_getframe") else None  # noqa: SLF001 - documented
    while frame is not None:
        if frame.f_code is _xarray.LOAD_CODE:
            return frame.f_locals["self"]
        frame = frame.f_back
    return None


def _stored_array(variable: Any) -> LazyZarrArray | None:
    """Return the stored array that a variable is read from; None if it is in memory."""
    data = _xarray.lazy_data(variable)
    while data is not None and not isinstance(data, LazyZarrArray):
        data = getattr(data, "array", None)
    return data
