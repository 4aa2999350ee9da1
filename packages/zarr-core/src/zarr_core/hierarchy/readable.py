"""An array as far as it can be read."""

from __future__ import annotations

from math import prod
from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.read import read
from zarr_core.errors import SelectionError
from zarr_core.hierarchy.accessors import BlockIndex, OrthogonalIndex, VectorisedIndex
from zarr_core.hierarchy.described import DescribedArray
from zarr_core.hierarchy.fields import as_index, split_fields
from zarr_core.selection import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.hierarchy.fields import Fields
    from zarr_core.hierarchy.views import View
    from zarr_core.selection.request import Request

    NDArray = np.ndarray[Any, Any]


class ReadableArray(DescribedArray):
    """What is in an array."""

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

    # --- seen otherwise ---

    def astype(self, dtype: Any) -> View:
        """The array with its elements cast as they are read; nothing is read now.

        Parameters
        ----------
        dtype : dtype-like
            What to cast to.
        """
        from zarr_core.hierarchy.views import View, casting  # noqa: PLC0415 - lazy: rare

        return View(self, np.dtype(dtype), casting)

    def view(self, dtype: Any) -> View:
        """The array with the bytes of its elements taken for another dtype, as they are read.

        Parameters
        ----------
        dtype : dtype-like
            As long as that of the array.

        Raises
        ------
        TypeError
            If its elements are longer or shorter.
        """
        from zarr_core.hierarchy.views import View, reinterpreting  # noqa: PLC0415 - lazy: rare

        other = np.dtype(dtype)
        if other.itemsize != self.dtype.itemsize or other.hasobject or self.dtype.hasobject:
            raise TypeError(f"elements of {self.dtype} are not as long as those of {other}")
        return View(self, other, reinterpreting)

    def digest(self, hashname: str = "sha1") -> bytes:
        """A checksum of all that is stored of the array: its chunks as they are encoded, its documents.

        Parameters
        ----------
        hashname : str
            A name that :func:`hashlib.new` knows.

        Notes
        -----
        For version 2 it is the one that zarr-python 2 computes.  Arrays of the same elements
        that are stored otherwise have another.
        """
        from zarr_core.hierarchy.views import digest  # noqa: PLC0415 - lazy: rare

        return digest(self, hashname)

    def hexdigest(self, hashname: str = "sha1") -> str:
        """The checksum of :meth:`digest` in hexadecimal digits."""
        return self.digest(hashname).hex()

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
        yield from self.islice()

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Go through part of the first dimension, reading each row of chunks once.

        Parameters
        ----------
        start, end : int, optional
            First index, and the one behind the last; from the end if negative.
        """
        (axis, *_) = self._binding.axes
        first, last, _ = slice(start, end).indices(axis.size)
        for number in range(axis.count):
            begin = max(first, axis.start(number))
            stop = min(last, axis.start(number) + axis.length(number))
            if begin < stop:
                yield from self[begin:stop]

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
