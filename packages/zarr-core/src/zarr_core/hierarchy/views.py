"""An array with its elements seen as others; a checksum of what is stored of it."""

from __future__ import annotations

import hashlib
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.hierarchy.accessors import BlockIndex, OrthogonalIndex, VectorisedIndex
from zarr_core.hierarchy.fields import as_index, split_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.hierarchy.fields import Fields
    from zarr_core.hierarchy.readable import ReadableArray

    Elements = np.ndarray[Any, Any] | np.generic


def casting(elements: Elements, dtype: np.dtype[Any]) -> Any:
    """Elements as another dtype has them."""
    if isinstance(elements, np.ndarray):
        return elements.astype(dtype)
    return np.asarray(elements).astype(dtype)[()]  # a text is no scalar of NumPy


def reinterpreting(elements: Elements, dtype: np.dtype[Any]) -> Any:
    """The bytes of elements as those of another dtype."""
    return elements.view(dtype)


class View:
    """An array to be read, with its elements as those of another dtype.

    Made by :meth:`zarr_core.Array.astype` and :meth:`zarr_core.Array.view`.

    Parameters
    ----------
    array : Array
        The array.
    dtype : dtype
        Of the elements that are read from this.
    convert : callable
        Makes them.
    """

    read_only = True

    def __init__(
        self,
        array: ReadableArray,
        dtype: np.dtype[Any],
        convert: Callable[[Any, np.dtype[Any]], Any],
    ) -> None:
        self.array = array
        """The array that is read."""
        self.dtype = dtype
        """Of the elements."""
        self._convert = convert

    def __getattr__(self, name: str) -> Any:
        if name not in _SAME:
            raise AttributeError(f"a view has no {name!r}; see what its .array has")
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
        selection, fields = split_fields(selection)
        return self._seen(self.array.__getitem__, selection, fields)

    def get_basic_selection(self, selection: Any = ..., *, fields: Fields = None) -> Any:
        """Read integers and slices; fields are those of the dtype of the view."""
        return self._seen(self.array.get_basic_selection, selection, fields)

    def get_orthogonal_selection(self, selection: Any, *, fields: Fields = None) -> Any:
        """Read the outer product of a selection in each dimension."""
        return self._seen(self.array.get_orthogonal_selection, selection, fields)

    def get_coordinate_selection(self, selection: Any, *, fields: Fields = None) -> Any:
        """Read single elements."""
        return self._seen(self.array.get_coordinate_selection, selection, fields)

    def get_block_selection(self, selection: Any, *, fields: Fields = None) -> Any:
        """Read whole chunks."""
        return self._seen(self.array.get_block_selection, selection, fields)

    def _seen(self, read: Callable[[Any], Any], selection: Any, fields: Fields) -> Any:
        chosen = None if fields is None else as_index(self.dtype, fields)
        elements = self._convert(read(selection), self.dtype)
        return elements if chosen is None else elements[chosen]

    @property
    def oindex(self) -> OrthogonalIndex:
        """Selects in each dimension by itself."""
        return OrthogonalIndex(self)

    @property
    def vindex(self) -> VectorisedIndex:
        """Selects single elements."""
        return VectorisedIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """Selects whole chunks."""
        return BlockIndex(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("the elements are in a store: reading them makes a copy")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return (self._convert(row, self.dtype) for row in self.array)

    def __repr__(self) -> str:
        return f"<View as {self.dtype} of {self.array!r}>"


_SAME = frozenset(
    ("shape", "ndim", "size", "chunks", "shards", "cdata_shape", "attrs", "name", "path", "store")
)


def digest(array: ReadableArray, hashname: str) -> bytes:
    """See :meth:`zarr_core.Array.digest`."""
    found = hashlib.new(hashname)
    chunks = array._chunks
    for place in product(*map(range, array.cdata_shape)):
        found.update(chunks.store.get(chunks.key(place)) or b"")
    for key in array._format.documents(array.path):
        found.update(array.store.get(key) or b"")
    return found.digest()
