"""Members of arrays of zarr-python 2 that the core does not have: views, checksums, slices of rows."""

from __future__ import annotations

import hashlib
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import zarr_core

__all__ = ["View", "cast_view", "digest", "item", "reinterpreted_view", "rows"]


def rows(array: zarr_core.Array, start: int | None = None, end: int | None = None) -> Iterator[Any]:
    """Iterate over a slice of the first dimension, reading each row of chunks once."""
    if not array.shape:
        raise TypeError("an array without dimensions cannot be iterated over")
    axis = array.stored.axes[0]
    first, last, _ = slice(start, end).indices(axis.size)
    for number in range(axis.count):
        begin = max(first, axis.start(number))
        stop = min(last, axis.start(number) + axis.length(number))
        if begin < stop:
            yield from array[begin:stop]


def item(array: zarr_core.Array, *index: int) -> Any:
    """Return one element as a Python object; without an index, the only one of the array."""
    if not index:
        if array.size != 1:
            raise ValueError(f"the array has {array.size} elements, not one")
        index = (0,) * array.ndim
    value = array[index]
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def digest(array: zarr_core.Array, hashname: str = "sha1") -> bytes:
    """Return a checksum of the encoded chunks and the metadata, as zarr-python 2 computes it.

    ``hashname`` is an algorithm of :func:`hashlib.new`.
    """
    checksum = hashlib.new(hashname)
    stored = array.stored
    stored.check_not_fixed()
    for coords in product(*map(range, array.cdata_shape)):
        checksum.update(stored.chunk_store.get(stored.chunk_key(coords)) or b"")
    for key in stored.format.documents(array.path):
        checksum.update(stored.store.get(key) or b"")
    return checksum.digest()


def cast_view(array: zarr_core.Array, dtype: Any) -> View:
    """Return a view of the array that casts elements when they are read."""
    return View(array, _parse_dtype(dtype), _cast)


def reinterpreted_view(array: zarr_core.Array, dtype: Any) -> View:
    """Return a view of the array that reinterprets elements as another dtype when they are read."""
    other = _parse_dtype(dtype)
    if other.itemsize != array.dtype.itemsize or other.hasobject or array.dtype.hasobject:
        raise TypeError(f"the item sizes of {array.dtype} and {other} differ")
    return View(array, other, lambda elements, dtype: elements.view(dtype))


def _parse_dtype(value: Any) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{value!r} is not a NumPy dtype: {error}") from error
    return dtype


def _cast(elements: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(elements, np.ndarray):
        return elements.astype(dtype)
    return np.asarray(elements).astype(dtype)[()]  # a str is not a NumPy scalar


class View:
    """A read-only view of an array with another dtype.

    Parameters
    ----------
    array : zarr_core.Array
        The array that is read.
    dtype : numpy.dtype
        The dtype of the view.
    convert : callable
        Converts elements to the dtype of the view.
    """

    read_only = True

    def __init__(
        self,
        array: zarr_core.Array,
        dtype: np.dtype[Any],
        convert: Callable[[Any, np.dtype[Any]], Any],
    ) -> None:
        self.array = array
        self.dtype = dtype
        self._convert = convert

    def __getattr__(self, name: str) -> Any:
        if name.startswith("get_") and name.endswith("_selection"):
            return partial(self._read, getattr(self.array, name))
        if name in ("oindex", "vindex", "blocks"):
            return _ViewIndex(partial(self._read, getattr(self.array, name).__getitem__))
        if name not in _SAME:
            raise AttributeError(f"a view has no attribute {name!r}; use view.array")
        return getattr(self.array, name)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.array.size * self.dtype.itemsize

    def __getitem__(self, selection: Any) -> Any:
        return self._read(self.array.__getitem__, selection)

    def _read(self, read: Callable[[Any], Any], selection: Any = ..., *, fields: Any = None) -> Any:
        """Read elements, convert them and select fields of the view."""
        items = selection if isinstance(selection, tuple) else (selection,)
        names = [item for item in items if isinstance(item, str) or _are_names(item)]
        if names:
            fields = names[0]
            selection = tuple(item for item in items if item is not fields) or ...
        elements = self._convert(read(selection), self.dtype)
        if fields is None:
            return elements
        known = self.dtype.names or ()
        wanted = [fields] if isinstance(fields, str) else [*fields]
        if unknown := [name for name in wanted if name not in known]:
            raise SelectionError(f"no fields {unknown} in the data type, which has {[*known]}")
        return elements[fields]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("copy=False is not possible: reading from a store always copies")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return (self._convert(row, self.dtype) for row in self.array)

    def __repr__(self) -> str:
        return f"<View as {self.dtype} of {self.array!r}>"


def _are_names(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and isinstance(item[0], str)


class _ViewIndex:
    """``view.oindex``, ``view.vindex`` or ``view.blocks``."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __getitem__(self, selection: Any) -> Any:
        return self._read(selection)


_SAME = frozenset(
    ("shape", "ndim", "size", "chunks", "shards", "cdata_shape", "attrs", "name", "path", "store")
)
