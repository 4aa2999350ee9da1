"""The class ``Array``."""

from __future__ import annotations

from math import prod
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import numpy as np

from zarr_core import strictjson
from zarr_core.chunk_grids import RegularGrid
from zarr_core.errors import SelectionError
from zarr_core.hierarchy.assigned_values import assigned_values, cast_assigned
from zarr_core.hierarchy.node import Node, update_metadata
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.selection import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.codec import ArrayToBytesCodec, Codec
    from zarr_core.selection.parse import ParsedSelection

    Fields: TypeAlias = str | Sequence[str] | None
    NDArray: TypeAlias = np.ndarray[Any, Any]
    Parser: TypeAlias = Callable[[Any, Any], ParsedSelection]


_MAX_LENGTHS = 10**7


class IndexAccessor:
    """Another way to index an array: ``oindex``, ``vindex`` or ``blocks``.

    ``shape`` is that of the array; for ``blocks``, the number of chunks along each dimension.
    """

    __slots__ = ("_get", "_set", "shape")

    def __init__(
        self, get: Callable[..., Any], set_: Callable[..., None], shape: tuple[int, ...]
    ) -> None:
        self._get, self._set, self.shape = get, set_, shape

    def __getitem__(self, selection: Any) -> Any:
        selection, fields = split_fields(selection)
        return self._get(selection, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        selection, fields = split_fields(selection)
        self._set(selection, value, fields=fields)


class Array(Node[ArrayMetadata]):
    """An array of chunks in a store.

    :func:`zarr_core.open_array`, :func:`zarr_core.create_array` and similar functions return it.
    Reading returns NumPy arrays.  Arrays are thread-safe, and can be pickled if their store can.
    Arrays are equal if they have the same location.
    """

    stored: StoredArray
    """The stored array: its chunks, codecs and format."""

    # --- properties ---

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.stored.metadata.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements, in native byte order."""
        return self.stored.resolved.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.stored.metadata.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.stored.metadata.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[Any, ...]:
        """Shape of the chunks; of the inner chunks if there are shards.

        If lengths differ, the lengths of all chunks along each dimension, as in Dask:
        ``((10, 20, 30), (5, 5))``.  Their sum is the length of the array.
        """
        stored = self.stored
        return stored.inner_codecs.decoded.shape if stored.is_sharded else self._stored_shape

    @property
    def shards(self) -> tuple[Any, ...] | None:
        """Shape of the shards, or None if there are none; lengths as for :attr:`chunks`."""
        return self._stored_shape if self.stored.is_sharded else None

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of all chunks along each dimension; of inner chunks if there are shards.

        Raises
        ------
        ValueError
            If there are more than 10,000,000 lengths: use :attr:`chunks`.
        """
        return self._sizes(self._chunk_axes)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of all stored objects along each dimension; the last ends with the array.

        Raises
        ------
        ValueError
            If there are more than 10,000,000 lengths: use :attr:`shards` or :attr:`chunks`.
        """
        return self._sizes(self.stored.axes)

    def _sizes(self, axes: Sequence[ChunkAxis]) -> tuple[tuple[int, ...], ...]:
        if sum(axis.count for axis in axes) > _MAX_LENGTHS:
            counts = " x ".join(f"{axis.count:,}" for axis in axes)
            raise ValueError(
                f"{self.stored.location} has {counts} chunks, too many to return the length of "
                f"each (at most {_MAX_LENGTHS:,}); use chunks or shards"
            )
        return tuple(axis.sizes() for axis in axes)

    @property
    def _chunk_axes(self) -> tuple[ChunkAxis, ...]:
        """The chunks along each dimension; inner chunks if there are shards."""
        stored = self.stored
        if not stored.is_sharded:
            return stored.axes
        return RegularGrid(stored.inner_codecs.decoded.shape).axes(self.shape)

    @property
    def _stored_shape(self) -> tuple[Any, ...]:
        stored = self.stored
        if stored.resolved.is_uniform:
            return stored.codecs.decoded.shape
        return tuple(axis.sizes() for axis in stored.axes)

    @property
    def fill_value(self) -> Any:
        """Value of elements that were never written, as a NumPy scalar.

        None if it is undefined, as version 2 permits: such elements are read as the default value
        of the data type.
        """
        if self.metadata.fill_value_undefined:
            return None
        return self.stored.resolved.fill_value.copy()[()]

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """Names of the dimensions, or None if there are none."""
        return self.metadata.dimension_names

    @property
    def codecs(self) -> tuple[ExtensionDefinition, ...]:
        """Definitions of all codecs, in the order of encoding."""
        return self.metadata.codecs

    @property
    def filters(self) -> tuple[Codec, ...]:
        """The array to array codecs; of the inner chunks if there are shards.

        In version 2, the codecs of the metadata field ``filters``, of any kind.
        """
        return self.stored.filters

    @property
    def serializer(self) -> ArrayToBytesCodec:
        """The array to bytes codec; of the inner chunks if there are shards."""
        return self.stored.inner_codecs.array_to_bytes

    @property
    def compressors(self) -> tuple[Codec, ...]:
        """The bytes to bytes codecs; of the inner chunks if there are shards.

        In version 2, the codec of the metadata field ``compressor``, if any.
        """
        return self.stored.compressors

    @property
    def order(self) -> Literal["C", "F"]:
        """``"C"`` if the last dimension of a chunk is contiguous in storage, ``"F"`` if the first.

        Results of reading have this order in memory, unless ``config`` sets another.  Results of
        ``vindex`` and of several index arrays always have the order ``"C"``.
        """
        return self.stored.resolved.order

    @property
    def ignored_extensions(self) -> tuple[ExtensionDefinition, ...]:
        """Unknown extensions with ``must_understand: false``; they make the array read-only."""
        return self.stored.ignored_extensions

    # --- storage ---

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of chunks, or shards if there are any, along each dimension."""
        return tuple(axis.count for axis in self.stored.resolved.axes)

    @property
    def nchunks(self) -> int:
        """Number of chunks; of inner chunks if there are shards."""
        return prod(axis.count for axis in self._chunk_axes)

    @property
    def nchunks_initialized(self) -> int:
        """Number of stored chunks; of stored shards, all inner chunks, also empty ones.

        Lists the store, and does not read shards.
        """
        stored = self.stored
        if not stored.is_sharded:
            return sum(1 for _ in stored.stored_chunks())
        inner = stored.inner_codecs.decoded.shape
        return sum(
            prod(
                -(-size // part) for size, part in zip(stored.chunk_extent(at), inner, strict=True)
            )
            for at, _ in stored.stored_chunks()
        )

    def nbytes_stored(self) -> int:
        """Bytes of the stored chunks; lists the store."""
        return sum(size for _, size in self.stored.stored_sizes())

    # --- reading ---

    def __getitem__(self, selection: Any) -> Any:
        """Read a selection, with the rules of NumPy.

        Supports integers, slices of any step, ``...``, ``None``, arrays and lists of integers,
        masks of one or more dimensions, and names of fields of structured data types.  Index
        arrays broadcast together; :attr:`oindex` selects their outer product.
        """
        fields: Fields = None
        if self.stored.resolved.dtype.names:
            selection, fields = split_fields(selection)
        elif (native := self.stored.native) is not None:
            result = native.read_index(self.stored, selection)
            if result is not None:
                return result
        return self._get(parse.fancy, selection, None, fields)

    def get_basic_selection(
        self, selection: Any = ..., *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read integers and slices.

        Parameters
        ----------
        selection : int, slice, ``...``, None or a tuple of them
            What to read; steps may be negative.
        out : ndarray, optional
            Receives the result.  It must have the shape of the result, any strides, and a dtype to
            which the elements can be cast (``same_kind``).
        fields : str or sequence of str, optional
            Fields of a structured data type.

        Returns
        -------
        ndarray or scalar
            ``out`` if passed; a scalar if every dimension has an integer.

        Raises
        ------
        SelectionError
            If the selection does not fit the array, or ``out`` the selection.
        TypeError
            If the elements cannot be cast to the dtype of ``out``.
        ChunkDecodeError, StoreError
            If a chunk cannot be read.
        """
        return self._get(parse.basic, selection, out, fields)

    def get_orthogonal_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read the outer product of a selection in each dimension; as ``oindex[...]``."""
        return self._get(parse.orthogonal, selection, out, fields)

    def get_coordinate_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read single elements by their coordinates; as ``vindex[...]``."""
        return self._get(parse.coordinate, selection, out, fields)

    def get_mask_selection(
        self, mask: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read the elements where a boolean array of the same shape is true."""
        return self._get(parse.mask, mask, out, fields)

    def get_block_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields = None
    ) -> Any:
        """Read whole chunks, or shards, by their grid coordinates; as ``blocks[...]``."""
        return self._get(parse.block, selection, out, fields)

    def _get(self, parser: Parser, selection: Any, out: NDArray | None, fields: Fields) -> Any:
        stored = self.stored
        dtype = stored.resolved.dtype
        parsed = _parsed(stored, parser, selection)
        chosen = None if fields is None else field_index(stored, fields)
        if out is not None:
            check_out(stored, out, parsed.shape, dtype if chosen is None else dtype[chosen])
            is_direct = out.dtype == dtype and out.flags.aligned and parsed.can_view(out)
            if chosen is None and is_direct:
                stored.read(parsed.selection, parsed.view(out))
                return out
        try:
            order = stored.result_order or stored.resolved.order
            if order == "C":
                result = np.empty(parsed.shape, dtype)
            else:
                result = np.empty(parsed.shape, dtype, order if parsed.allows_fortran else "C")
        except (MemoryError, ValueError) as error:
            raise SelectionError(
                f"{stored.location}: the selection has {prod(parsed.shape)} elements of {dtype}, "
                "more than fit into memory; read a part of it",
                self.shape,
            ) from error
        view = result if parsed.is_identity else parsed.view(result)
        stored.read(parsed.selection, view)
        if chosen is not None:
            result = result[chosen]
        if out is not None:
            out[...] = result
            return out
        return result[()] if parsed.scalar else result

    # --- other ways to select ---

    @property
    def oindex(self) -> IndexAccessor:
        """Orthogonal indexing: ``array.oindex[[1, 3], :]``."""
        return IndexAccessor(
            self.get_orthogonal_selection, self.set_orthogonal_selection, self.shape
        )

    @property
    def vindex(self) -> IndexAccessor:
        """Coordinate indexing: ``array.vindex[[1, 3], [0, 2]]``."""
        return IndexAccessor(
            self.get_coordinate_selection, self.set_coordinate_selection, self.shape
        )

    @property
    def blocks(self) -> IndexAccessor:
        """Block indexing, of whole chunks or shards: ``array.blocks[0, 1:3]``."""
        return IndexAccessor(self.get_block_selection, self.set_block_selection, self.cdata_shape)

    # --- writing ---

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write to a selection, with broadcasting and casting as in NumPy."""
        fields: Fields = None
        if self.stored.resolved.dtype.names:
            selection, fields = split_fields(selection)
        self._set(parse.fancy, selection, value, fields)

    def __delitem__(self, selection: Any) -> None:
        """Raise a TypeError: elements can be overwritten, but not removed."""
        raise TypeError(
            f"{self.stored.location}: elements cannot be removed; assign the fill value to reset "
            "them, or call resize to shorten a dimension"
        )

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
        self._set(parse.basic, selection, value, fields)

    def set_orthogonal_selection(
        self, selection: Any, value: Any, *, fields: Fields = None
    ) -> None:
        """Write the outer product of a selection in each dimension; as ``oindex[...] =``."""
        self._set(parse.orthogonal, selection, value, fields)

    def set_coordinate_selection(
        self, selection: Any, value: Any, *, fields: Fields = None
    ) -> None:
        """Write single elements by their coordinates; as ``vindex[...] =``."""
        self._set(parse.coordinate, selection, value, fields)

    def set_mask_selection(self, mask: Any, value: Any, *, fields: Fields = None) -> None:
        """Write the elements where a boolean array of the same shape is true."""
        self._set(parse.mask, mask, value, fields)

    def set_block_selection(self, selection: Any, value: Any, *, fields: Fields = None) -> None:
        """Write whole chunks, or shards, by their grid coordinates; as ``blocks[...] =``."""
        self._set(parse.block, selection, value, fields)

    def _set(self, parser: Parser, selection: Any, value: Any, fields: Fields) -> None:
        stored = self.stored
        if stored.read_only:
            stored.check_writable()
        parsed = _parsed(stored, parser, selection)
        chosen = None if fields is None else field_index(stored, fields)
        try:
            values = assigned_values(stored, parsed, value, chosen)
        except (SelectionError, TypeError, ValueError) as error:
            _raise_with_location(stored, error)
        stored.write(parsed.selection, values, chosen)

    # --- changing the shape ---

    def resize(
        self,
        *shape: int | Sequence[int | None] | None,
        only: Literal["grow", "shrink"] | None = None,
        metadata_only: bool = False,
    ) -> None:
        """Change the shape; the remaining elements keep their indices.

        Parameters
        ----------
        *shape : int, None, or one sequence of them
            The new length of each dimension; None for a length that stays as it is stored.
        only : {"grow", "shrink"}, optional
            Raise an error, and change nothing, if a length would become smaller, or larger.
        metadata_only : bool
            Whether chunks outside the new shape are kept.  Their elements reappear when the array
            grows again.

        Raises
        ------
        ValueError
            If the number of dimensions differs, a length is negative, or ``only`` forbids the
            change.
        StoreReadOnlyError
            If the array was opened for reading.
        StoreCapabilityError
            If chunks have to be removed and the store cannot list or remove keys.

        Notes
        -----
        The change starts from the stored shape, which other writers may have changed.  When an
        array shrinks, its metadata is changed first.  Then chunks outside the array are removed,
        and elements of other chunks beyond the edge are set to the fill value; otherwise they
        would reappear when the array grows again, as they do if the process is killed in between.
        A store that requires metadata first (``metadata_first`` of :class:`StoreTraits`) does not change chunks
        outside the array, so its metadata is changed last.

        Examples
        --------
        >>> import zarr_core as zarr
        >>> array = zarr.array([1, 2, 3])
        >>> array.resize(2)
        >>> array[...]
        array([1, 2])
        """
        from zarr_core.hierarchy.resize import clear_beyond, new_shape, resized

        self.stored.check_writable()
        self.refresh()  # an outdated shape would leave chunks in the store
        before = self.stored

        def change(metadata: ArrayMetadata) -> ArrayMetadata:
            # Another writer may have changed the shape since the refresh.
            new = new_shape(before, metadata.shape, shape, only, metadata_only)
            changed = resized(before, metadata, new)
            if clears_first:
                clear_beyond(before.with_metadata(metadata), before.with_metadata(changed))
            return changed

        clears_first = self.store.traits.metadata_first and not metadata_only

        old = before.metadata.shape
        if new_shape(before, old, shape, only, metadata_only) != old:
            update_metadata(self, change)
            if not metadata_only and not clears_first:
                clear_beyond(before, self.stored)

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
        The array grows from its stored shape, under the lock of its metadata: concurrent calls
        append one after the other.

        Examples
        --------
        >>> import zarr_core as zarr
        >>> array = zarr.array([1, 2])
        >>> array.append([3])
        (3,)
        """
        from zarr_core.hierarchy.resize import grown

        stored = self.stored
        stored.check_not_fixed()
        values = cast_assigned(data, stored.resolved.data_type)
        # The elements are written before the metadata, so that readers see both.
        update_metadata(self, lambda metadata: grown(stored, metadata, values, axis))
        return self.shape

    # --- protocols of NumPy and Python ---

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        """Read everything, for ``numpy.asarray(array)``.

        Raises
        ------
        ValueError
            If ``copy`` is False: stored elements can only be copied.
        """
        if copy is False:
            raise ValueError("copy=False is not possible: reading from a store always copies")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __len__(self) -> int:
        """Length of the first dimension."""
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first dimension, reading each row of chunks once."""
        if not self.shape:
            raise TypeError("an array without dimensions cannot be iterated over")
        axis = self.stored.axes[0]
        for number in range(axis.count):
            first = axis.start(number)
            yield from self[first : min(first + axis.length(number), axis.size)]

    def __bool__(self) -> bool:
        """The truth value of the only element; otherwise Python would ask for the length."""
        if self.size != 1:
            raise ValueError(
                f"{self.size} elements have no truth value; read them and use any() or all()"
            )
        return bool(self[...])

    def __eq__(self, other: object) -> bool:
        """Whether both have the same location; elements are not compared.

        Raises
        ------
        TypeError
            If the other object is a number, a list or an array of NumPy: ``array[...] == other``
            compares the elements.
        """
        if isinstance(other, int | float | complex | list | np.ndarray | np.generic):
            raise TypeError(
                f"an array is compared with {brief(other)}: == compares locations; "
                "to compare elements, read them: array[...] == other"
            )
        return super().__eq__(other)

    __hash__ = Node.__hash__

    def _no_operator(self, *others: object) -> Any:
        """Raise a TypeError: an operator does not read the elements of an array."""
        if others and not isinstance(others[0], int | float | complex | str | list | Node):
            return NotImplemented  # arrays of NumPy and Dask read this one
        location = self.stored.location
        raise TypeError(
            f"{location}: an array has no such operator; read its elements first: array[...]"
        )

    __neg__ = __pos__ = __abs__ = __invert__ = _no_operator
    __lt__ = __le__ = __gt__ = __ge__ = _no_operator
    __add__ = __sub__ = __mul__ = __matmul__ = __truediv__ = __floordiv__ = __mod__ = _no_operator
    __radd__ = __rsub__ = __rmul__ = __rmatmul__ = __rtruediv__ = __rfloordiv__ = _no_operator
    __divmod__ = __pow__ = __lshift__ = __rshift__ = __and__ = __or__ = __xor__ = _no_operator
    __rmod__ = __rdivmod__ = __rpow__ = __rlshift__ = __rrshift__ = _no_operator
    __rand__ = __ror__ = __rxor__ = _no_operator

    # --- Dask, display ---

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """A token that is equal for arrays with the same location and metadata."""
        stored = self.stored
        document = strictjson.encode(stored.format.to_json(stored.metadata))
        return ("zarr_core.Array", stored.store.url, stored.path, stored.format.name, document)

    def __repr__(self) -> str:
        from zarr_core.hierarchy.display import array_line

        return array_line(self.stored)


def _parsed(stored: StoredArray, parser: Parser, selection: Any) -> ParsedSelection:
    try:
        return parser(selection, stored.axes if parser is parse.block else stored.metadata.shape)
    except SelectionError as error:
        _raise_with_location(stored, error)


def check_out(stored: StoredArray, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise an error if ``out`` cannot contain a result of this shape and dtype."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    shape += dtype.shape  # of a field that is an array
    if out.shape != shape:
        message = f"out has shape {out.shape}, the selection {shape}"
        raise SelectionError(message, stored.metadata.shape)
    if not np.can_cast(dtype.base, out.dtype, "same_kind"):
        raise TypeError(f"cannot cast elements from {dtype} to {out.dtype}, the dtype of out")
    if not out.flags.writeable:
        raise ValueError("out is a read-only array")


def split_fields(selection: Any) -> tuple[Any, str | list[str] | None]:
    """Split a selection into indices and fields: ``z["a"]``, ``z[["a", "b"]]``, ``z["a", 0]``."""
    items = selection if isinstance(selection, tuple) else (selection,)
    fields: list[str] = []
    others = []
    several = False
    for item in items:
        if isinstance(item, str):
            fields.append(item)
        elif isinstance(item, list) and item and all(isinstance(name, str) for name in item):
            fields += item
            several = True
        else:
            others.append(item)
    if not fields:
        return selection, None
    rest = tuple(others) if isinstance(selection, tuple) and others else ...
    return rest, fields if several or len(fields) > 1 else fields[0]


def field_index(stored: StoredArray, fields: Fields) -> str | list[str]:
    """Return the NumPy index of fields; raise a SelectionError for unknown fields."""
    dtype = stored.resolved.dtype
    names = dtype.names or ()
    wanted = [fields] if isinstance(fields, str) else list(fields or ())
    if not names:
        reason = f"the data type {dtype} has no fields, so none of {wanted}"
    elif unknown := [name for name in wanted if name not in names]:
        reason = f"no fields {unknown} in the data type, which has {list(names)}"
    else:
        return fields if isinstance(fields, str) else wanted
    raise SelectionError(f"{stored.location}: {reason}", stored.metadata.shape)


def _raise_with_location(stored: StoredArray, error: Exception) -> NoReturn:
    """Raise the error again, with the location of the array."""
    if isinstance(error, SelectionError):
        raise SelectionError(f"{stored.location}: {error.reason}", error.shape) from error
    if type(error) in (TypeError, ValueError):
        raise type(error)(f"{stored.location}: {error}") from error
    raise error
