"""The array as its users see it."""

from __future__ import annotations

from math import prod
from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core import strictjson
from zarr_core.engine.read import read
from zarr_core.engine.write import write, write_fields
from zarr_core.errors import SelectionError
from zarr_core.hierarchy.accessors import BlockIndex, OrthogonalIndex, VectorisedIndex
from zarr_core.hierarchy.described import DescribedArray
from zarr_core.hierarchy.fields import as_index, split_fields
from zarr_core.hierarchy.values import as_array, elements_of
from zarr_core.selection import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.hierarchy.fields import Fields
    from zarr_core.selection.request import Request

    NDArray = np.ndarray[Any, Any]


class Array(DescribedArray):
    """An array of chunks in a store.

    Made by :func:`zarr_core.open_array`, :func:`zarr_core.create_array` and
    their relatives, not by calling the class.

    Notes
    -----
    Reading gives NumPy arrays.  Arrays may be used from many threads at once, and
    pickle as long as their store does.  Equality is that of the place.
    """

    # --- reading ---

    def __getitem__(self, selection: Any) -> Any:
        """Read, with NumPy's meaning of the selection.

        Integers, slices of any step, ``...`` and ``None``; an array, list or mask for
        one dimension (orthogonal), index arrays for all of them (by coordinate), or a
        mask of the whole shape.  Names of fields, for structured data types.
        """
        fields: Fields = None
        if self._binding.dtype.names:
            selection, fields = split_fields(selection)
        return self._get(parse.fancy(selection, self.metadata.shape), fields=fields)

    def get_basic_selection(
        self, selection: Any = ..., *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read integers and slices.

        Parameters
        ----------
        selection : int, slice, ``...``, None or a tuple of them
            What to read; steps may be negative.
        out : ndarray, optional
            Receives the result, whose shape it must have, with any strides; of a
            dtype to which that of the array can be cast within its kind.
        fields : str or sequence of str, optional
            Fields of a structured data type.

        Returns
        -------
        ndarray or scalar
            ``out`` if given; a scalar if every dimension has an integer.

        Raises
        ------
        SelectionError
            If the selection does not fit the array, or ``out`` the selection.
        TypeError
            If ``out`` is of a dtype that cannot receive the elements.
        ChunkDecodeError, StoreError
            If a chunk cannot be read.
        """
        return self._get(parse.basic(selection, self.shape), out, fields)

    def get_orthogonal_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read the outer product of a selection in each dimension; as ``oindex[...]``."""
        return self._get(parse.orthogonal(selection, self.shape), out, fields)

    def get_coordinate_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read single elements by their coordinates; as ``vindex[...]``."""
        return self._get(parse.coordinate(selection, self.shape), out, fields)

    def get_mask_selection(
        self, mask: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read the elements where a boolean array of the same shape is true."""
        return self._get(parse.mask(mask, self.shape), out, fields)

    def get_block_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read whole chunks, selected by their grid coordinates; as ``blocks[...]``.

        If there are shards, these are the blocks.
        """
        return self._get(parse.block(selection, self._binding.axes), out, fields)

    def _get(self, request: Request, out: NDArray | None = None, fields: Fields = None) -> Any:
        dtype = self._binding.dtype
        chosen = None if fields is None else as_index(dtype, fields)
        if out is not None:
            self._check_out(out, request.shape, dtype if chosen is None else dtype[chosen])
            straight = out.flags.c_contiguous or request.shape == request.selection.shape
            if chosen is None and out.dtype == dtype and out.flags.aligned and straight:
                read(self._chunks, request.selection, request.view(out))
                return out
        try:
            result = np.empty(request.shape, dtype)
        except (MemoryError, ValueError) as error:
            raise SelectionError(
                f"the selection has {prod(request.shape)} elements of {dtype}, more than fit into "
                "memory; read a part of it",
                self.shape,
            ) from error
        view = result if request.same else request.view(result)
        read(self._chunks, request.selection, view)
        if chosen is not None:
            result = result[chosen]
        if out is not None:
            out[...] = result
            return out
        return result[()] if request.scalar else result

    def _check_out(self, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Refuse what cannot receive a result, before anything is read."""
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out is a NumPy array, not {type(out).__name__}")
        shape += dtype.shape  # of a field that is an array
        if out.shape != shape:
            raise SelectionError(f"out has shape {out.shape}, the selection {shape}", self.shape)
        if not np.can_cast(dtype.base, out.dtype, "same_kind"):
            raise TypeError(f"elements of {dtype} do not go into an out of {out.dtype}")
        if not out.flags.writeable:
            raise ValueError("out is a read-only array")

    # --- writing ---

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write, with NumPy's meaning of the selection, of broadcasting and of casts."""
        fields: Fields = None
        if self._binding.dtype.names:
            selection, fields = split_fields(selection)
        self._set(parse.fancy(selection, self.metadata.shape), value, fields)

    def set_basic_selection(self, selection: Any, value: Any, *, fields: Fields = None) -> None:
        """Write integers and slices.

        Parameters
        ----------
        selection : int, slice, ``...``, None or a tuple of them
            Where to write.
        value : array-like
            Broadcasts to the shape of the selection.
        fields : str or sequence of str, optional
            Fields of a structured data type; the others keep their values.

        Raises
        ------
        SelectionError
            If the selection does not fit the array, or the value the selection.
        StoreReadOnlyError
            If the array was opened for reading.
        CodecError, StoreError
            If a chunk cannot be encoded or stored.
        """
        self._set(parse.basic(selection, self.shape), value, fields)

    def set_orthogonal_selection(
        self, selection: Any, value: Any, *, fields: Fields = None
    ) -> None:
        """Write the outer product of a selection in each dimension; as ``oindex[...] =``."""
        self._set(parse.orthogonal(selection, self.shape), value, fields)

    def set_coordinate_selection(
        self, selection: Any, value: Any, *, fields: Fields = None
    ) -> None:
        """Write single elements by their coordinates; as ``vindex[...] =``."""
        self._set(parse.coordinate(selection, self.shape), value, fields)

    def set_mask_selection(self, mask: Any, value: Any, *, fields: Fields = None) -> None:
        """Write the elements where a boolean array of the same shape is true."""
        self._set(parse.mask(mask, self.shape), value, fields)

    def set_block_selection(self, selection: Any, value: Any, *, fields: Fields = None) -> None:
        """Write whole chunks, selected by their grid coordinates; as ``blocks[...] =``."""
        self._set(parse.block(selection, self._binding.axes), value, fields)

    def _set(self, request: Request, value: Any, fields: Fields = None) -> None:
        self._check_writable()
        dtype = self._binding.dtype
        chosen = None
        if fields is not None:
            chosen = as_index(dtype, fields)
            dtype = dtype[chosen]
            if dtype.shape:
                raise SelectionError(
                    f"the field {chosen!r} holds arrays of shape {dtype.shape}; write whole elements"
                )
        # Arrays are cast chunk by chunk; Python numbers that do not fit are refused here.
        if chosen is None:
            values = request.broadcast(elements_of(value, self._binding.data_type))
            write(self._chunks, request.selection, values)
        else:
            array = value if isinstance(value, np.ndarray) else as_array(value, dtype)
            write_fields(self._chunks, request.selection, request.broadcast(array), chosen)

    # --- other ways to select ---

    @property
    def oindex(self) -> OrthogonalIndex:
        """Selects in each dimension by itself: ``array.oindex[[1, 3], :]``."""
        return OrthogonalIndex(self)

    @property
    def vindex(self) -> VectorisedIndex:
        """Selects single elements: ``array.vindex[[1, 3], [0, 2]]``."""
        return VectorisedIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """Selects whole chunks by their grid coordinates: ``array.blocks[0, 1:3]``."""
        return BlockIndex(self)

    # --- changing its size ---

    def resize(self, *shape: int | Sequence[int]) -> None:
        """Change the shape; elements that stay keep their place.

        Parameters
        ----------
        *shape : int or one sequence of int
            The new length of each dimension.

        Raises
        ------
        ValueError
            If the number of dimensions differs, or a length is negative.
        StoreReadOnlyError
            If the array was opened for reading.

        Notes
        -----
        The shape that is stored counts, which others may have changed.  When it
        shrinks, the document is changed first.  Then stored chunks that lie outside
        are erased, and what the others hold beyond the edge is set to the fill value,
        so that it does not come back when the array grows again.
        """
        from zarr_core.hierarchy.resize import resize  # noqa: PLC0415 - lazy: not on the hot path

        resize(self, shape)

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Add elements at the end of one dimension.

        Parameters
        ----------
        data : array-like
            Has the shape of the array except along ``axis``.
        axis : int
            The dimension that grows.

        Returns
        -------
        tuple of int
            The new shape.

        Raises
        ------
        ValueError
            If the shapes do not fit.
        StoreReadOnlyError
            If the array was opened for reading.

        Notes
        -----
        The array grows under the lock of its document, from the shape that is stored.  Of
        several who append at the same time, each gets a place of its own.
        """
        from zarr_core.hierarchy.resize import append  # noqa: PLC0415 - lazy: not on the hot path

        return append(self, data, axis)

    # --- what NumPy and Python expect of an array ---

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        """Read everything; what ``numpy.asarray(array)`` calls.

        Raises
        ------
        ValueError
            If ``copy`` is False: stored elements can only be copied.
        """
        if copy is False:
            raise ValueError("the elements are in a store: reading them makes a copy")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __len__(self) -> int:
        """Length of the first dimension."""
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Go through the first dimension, reading each row of chunks once."""
        if not self.shape:
            raise TypeError("an array without dimensions cannot be iterated over")
        (axis, *_) = self._binding.axes
        for number in range(axis.count):
            start = axis.start(number)
            yield from self[start : min(start + axis.length(number), axis.size)]

    def item(self, *index: int) -> Any:
        """One element as a Python object; without an index, the only one of the array."""
        if not index:
            if self.size != 1:
                raise ValueError(f"an array of {self.size} elements is not a single one")
            index = (0,) * self.ndim
        value = self[index]
        return value.item() if isinstance(value, np.generic | np.ndarray) else value

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"whether an array of {self.size} elements is true is not defined; "
                "read it first, and say any() or all()"
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._single("integer"))

    def __float__(self) -> float:
        return float(self._single("floating-point number"))

    def __complex__(self) -> complex:
        return complex(self._single("complex number"))

    def __index__(self) -> int:
        if self.ndim:
            raise TypeError("only an array without dimensions is an index")
        return as_integer(self._single("integer"))

    def _single(self, what: str) -> Any:
        if self.size != 1:
            raise TypeError(f"an array of {self.size} elements is no {what}; read it: array[...]")
        return self.item()

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """The same for arrays that read the same as long as nobody writes."""
        document = strictjson.encode(self._format.to_json(self.metadata))
        return ("zarr_core.Array", self.store.url, self.path, self._format.name, document)

    def to_dask_array(self) -> Any:
        """An array of Dask, in blocks of whole stored objects; what ``dask.array.asarray`` calls."""
        from dask.array import from_array  # noqa: PLC0415 - only for those who have it

        return from_array(self, inline_array=True)  # type: ignore[no-untyped-call]  # is Dask's

    def __reduce__(self) -> tuple[Any, ...]:
        from zarr_core.hierarchy.open import reopen  # noqa: PLC0415 - opening makes arrays

        return reopen, self._reopening()

    def __repr__(self) -> str:
        from zarr_core.display.info import array_line  # noqa: PLC0415 - lazy: for people only

        return array_line(self)

    def _repr_html_(self) -> str:
        from zarr_core.display.html_array import array_html  # noqa: PLC0415 - lazy: as above

        return array_html(self)
