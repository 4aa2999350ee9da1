"""The array as its users see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.engine.write import write, write_fields
from zarr_core.errors import SelectionError
from zarr_core.hierarchy.fields import as_index, split_fields
from zarr_core.hierarchy.readable import ReadableArray
from zarr_core.hierarchy.values import as_array, elements_of, one_object
from zarr_core.selection import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.hierarchy.fields import Fields
    from zarr_core.selection.request import Request


class Array(ReadableArray):
    """An array of chunks in a store.

    Made by :func:`zarr_core.open_array`, :func:`zarr_core.create_array` and
    their relatives, not by calling the class.

    Notes
    -----
    Reading gives NumPy arrays.  Arrays may be used from many threads at once, and
    pickle as long as their store does.  Equality is that of the place.
    """

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
            given = one_object(value) if dtype.kind == "O" and not request.shape else value
            values = request.broadcast(elements_of(given, self._binding.data_type))
            write(self._chunks, request.selection, values)
        else:
            array = as_array(value, dtype)
            write_fields(self._chunks, request.selection, request.broadcast(array), chosen)

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

    # --- as others see it ---

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """The same for arrays that read the same as long as nobody writes."""
        document = strictjson.encode(self._format.to_json(self.metadata))
        return ("zarr_core.Array", self.store.url, self.path, self._format.name, document)

    def to_dask_array(self) -> Any:
        """An array of Dask, in blocks of whole stored objects; what ``dask.array.asarray`` calls."""
        from dask.array import from_array  # noqa: PLC0415 - only for those who have it

        return from_array(self, inline_array=True)  # type: ignore[no-untyped-call]  # is Dask's

    def __reduce__(self) -> tuple[Any, ...]:
        from zarr_core.hierarchy.from_metadata import reopen  # noqa: PLC0415 - makes arrays

        return reopen, self._reopening()

    def __repr__(self) -> str:
        from zarr_core.display.info import array_line  # noqa: PLC0415 - lazy: for people only

        return array_line(self)

    def _repr_html_(self) -> str:
        from zarr_core.display.html_array import array_html  # noqa: PLC0415 - lazy: as above

        return array_html(self)
