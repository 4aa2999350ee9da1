"""An array whose elements xarray reads when it needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray

from zarr_xarray import _xarray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array


class StoredArray(BackendArray):
    """Elements of an array in a store.

    Parameters
    ----------
    array : Array
        The array, which may be used from many threads, and pickles with its store.

    Notes
    -----
    The three kinds of keys that xarray has are three kinds of selections here, and each
    reads only the chunks that it touches.
    """

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype = array.dtype

    @property
    def array(self) -> Array:
        """The array in the store."""
        return self._array

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, _xarray.BasicIndexer):
            read = self._basic
        elif isinstance(key, _xarray.OuterIndexer):
            read = self._outer
        else:
            read = self._points
        return _xarray.select(key, self.shape, _xarray.VECTORIZED, read)

    async def async_getitem(self, key: Any) -> Any:
        """As reading, in a thread of its own, while the event loop goes on."""
        import asyncio  # noqa: PLC0415 - lazy: few programs have an event loop

        return await asyncio.to_thread(self.__getitem__, key)

    def _basic(self, key: tuple[Any, ...]) -> Any:
        return self._as_array(self._array.get_basic_selection(key))

    def _outer(self, key: tuple[Any, ...]) -> Any:
        return self._as_array(self._array.get_orthogonal_selection(key))

    def _points(self, key: tuple[Any, ...]) -> Any:
        return self._as_array(self._array.get_coordinate_selection(key))

    def _as_array(self, value: Any) -> Any:
        # A single text is a Python string, of which NumPy would make one of fixed size.
        return value if isinstance(value, np.ndarray) else np.asarray(value, self.dtype)


def arrays_read_by(data: Any) -> Iterator[Any]:
    """The stored arrays that chunks of Dask are going to be read from, as far as they show.

    Parameters
    ----------
    data : array-like
        In chunks.

    Yields
    ------
    Array or zarr.Array
        Each once.
    """
    left = [data.__dask_graph__()] if hasattr(data, "__dask_graph__") else []
    seen: dict[int, Any] = {}
    while left:
        part = left.pop()
        origin = type(part).__module__.partition(".")[0]
        if isinstance(part, list | tuple | set | frozenset):
            left += part
        elif isinstance(part, Mapping):
            left += part.values()
        elif origin not in _LEADING or id(part) in seen:
            continue
        else:
            seen[id(part)] = part
            if origin in ("zarr", "zarr_core") and hasattr(part, "store"):
                yield part
            left += [getattr(part, name) for name in _LEADING[origin] if hasattr(part, name)]


_LEADING = {
    "dask": ("args", "kwargs", "value"),  # of tasks
    "xarray": ("array", "_array"),  # of one wrapper in another
    "zarr_xarray": ("array",),
    "zarr": (),
    "zarr_core": (),
}
"""Where the parts of a graph have what they are made of, by who made them."""
