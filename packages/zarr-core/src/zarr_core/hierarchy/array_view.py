"""Views of an array: ``oindex``, ``vindex``, ``blocks``, fields, another dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from zarr_core.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.hierarchy.array import Array

    Fields: TypeAlias = str | Sequence[str] | None
    Elements = np.ndarray[Any, Any] | np.generic


def split_fields(selection: Any) -> tuple[Any, str | list[str] | None]:
    """Split a selection into indices and fields: ``z["a"]``, ``z[["a", "b"]]``, ``z["a", 0]``."""
    items = selection if isinstance(selection, tuple) else (selection,)
    found: list[str] = []
    others = []
    several = False
    for item in items:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list) and item and all(isinstance(name, str) for name in item):
            found += item
            several = True
        else:
            others.append(item)
    if not found:
        return selection, None
    rest = tuple(others) if isinstance(selection, tuple) and others else ...
    return rest, found if several or len(found) > 1 else found[0]


def as_index(dtype: np.dtype[Any], fields: Fields) -> str | list[str]:
    """Return the NumPy index of fields; raise a SelectionError for unknown fields."""
    names = dtype.names or ()
    wanted = [fields] if isinstance(fields, str) else list(fields or ())
    if not names:
        raise SelectionError(f"the data type {dtype} has no fields, so none of {wanted}")
    if unknown := [name for name in wanted if name not in names]:
        raise SelectionError(f"no fields {unknown} in the data type, which has {list(names)}")
    return fields if isinstance(fields, str) else wanted


class IndexAccessor:
    """Another way to index an array or view: ``oindex``, ``vindex`` or ``blocks``.

    Calls the methods ``get_{kind}_selection`` and ``set_{kind}_selection``.
    """

    __slots__ = ("_array", "_kind")

    def __init__(self, array: Any, kind: Literal["orthogonal", "coordinate", "block"]) -> None:
        self._array = array
        self._kind = kind

    def __getitem__(self, selection: Any) -> Any:
        selection, fields = split_fields(selection)
        return getattr(self._array, f"get_{self._kind}_selection")(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        selection, fields = split_fields(selection)
        getattr(self._array, f"set_{self._kind}_selection")(selection, value, fields=fields)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array; for ``blocks``, the number of chunks along each dimension."""
        shape: tuple[int, ...] = (
            self._array.cdata_shape if self._kind == "block" else self._array.shape
        )
        return shape


def dtype_given(given: Any) -> np.dtype[Any]:
    """Parse a dtype; raise a TypeError if NumPy does not accept it."""
    try:
        dtype: np.dtype[Any] = np.dtype(given)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{given!r} is not a NumPy dtype: {error}") from error
    return dtype


def casting(elements: Elements, dtype: np.dtype[Any]) -> Any:
    """Cast elements to another dtype."""
    if isinstance(elements, np.ndarray):
        return elements.astype(dtype)
    return np.asarray(elements).astype(dtype)[()]  # a str is not a NumPy scalar


def reinterpreting(elements: Elements, dtype: np.dtype[Any]) -> Any:
    """Reinterpret the bytes of elements as another dtype."""
    return elements.view(dtype)


class View:
    """A read-only view of an array with another dtype.

    :meth:`zarr_core.Array.astype` and :meth:`zarr_core.Array.view` return it.  ``convert``
    converts elements to the dtype of the view.
    """

    read_only = True

    def __init__(
        self,
        array: Array,
        dtype: np.dtype[Any],
        convert: Callable[[Any, np.dtype[Any]], Any],
    ) -> None:
        self.array = array
        """The array that is read."""
        self.dtype = dtype
        """The dtype of the view."""
        self._convert = convert

    def __getattr__(self, name: str) -> Any:
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

    def get_mask_selection(self, mask: Any, *, fields: Fields = None) -> Any:
        """Read the elements where a boolean array of the same shape is true."""
        return self._seen(self.array.get_mask_selection, mask, fields)

    def get_block_selection(self, selection: Any, *, fields: Fields = None) -> Any:
        """Read whole chunks."""
        return self._seen(self.array.get_block_selection, selection, fields)

    def _seen(self, read: Callable[[Any], Any], selection: Any, fields: Fields) -> Any:
        chosen = None if fields is None else as_index(self.dtype, fields)
        elements = self._convert(read(selection), self.dtype)
        return elements if chosen is None else elements[chosen]

    @property
    def oindex(self) -> IndexAccessor:
        """Orthogonal indexing: ``view.oindex[[1, 3], :]``."""
        return IndexAccessor(self, "orthogonal")

    @property
    def vindex(self) -> IndexAccessor:
        """Coordinate indexing: ``view.vindex[[1, 3], [0, 2]]``."""
        return IndexAccessor(self, "coordinate")

    @property
    def blocks(self) -> IndexAccessor:
        """Block indexing, of whole chunks: ``view.blocks[0, 1:3]``."""
        return IndexAccessor(self, "block")

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


_SAME = frozenset(
    ("shape", "ndim", "size", "chunks", "shards", "cdata_shape", "attrs", "name", "path", "store")
)
