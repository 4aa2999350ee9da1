"""The class ``Array``."""

from __future__ import annotations

from itertools import product
from math import prod
from operator import index as as_integer
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from zarr_core import strictjson
from zarr_core.engine.write import write_fields
from zarr_core.errors import SelectionError
from zarr_core.hierarchy.array_view import (
    IndexAccessor,
    View,
    as_index,
    casting,
    dtype_given,
    reinterpreting,
    split_fields,
)
from zarr_core.hierarchy.coerce import as_array, elements_of, one_object
from zarr_core.hierarchy.node import Node, update_metadata
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.registry.scope import override_extensions
from zarr_core.selection import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.display.info import Info
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.hierarchy.array_view import Fields
    from zarr_core.interfaces.codec import ArrayToBytesCodec, Codec
    from zarr_core.selection.parsed_selection import ParsedSelection

    NDArray = np.ndarray[Any, Any]


_MAX_LENGTHS = 10**7


class Array(Node[ArrayMetadata]):
    """An array of chunks in a store.

    Returned by :func:`zarr_core.open_array`, :func:`zarr_core.create_array` and similar
    functions.

    Notes
    -----
    Reading returns NumPy arrays.  Arrays are thread-safe, and can be pickled if their store
    can.  Arrays are equal if their locations are.
    """

    stored: StoredArray
    """The array as it is stored: its chunks, codecs and format, without this interface."""

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
    def itemsize(self) -> int:
        """Bytes of an element in memory."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[Any, ...]:
        """Shape of the chunks; of the inner chunks if there are shards.

        If the lengths differ, all of them along each dimension: ``((10, 20, 30), (5, 5))``.
        They add up to the shape of the array, as in Dask.
        """
        stored = self.stored
        return stored.inner_codecs.decoded.shape if stored.is_sharded else self._stored_shape

    @property
    def shards(self) -> tuple[Any, ...] | None:
        """Shape of the shards, or None if there are none.

        If the lengths differ, all of them, as for :attr:`chunks`.
        """
        return self._stored_shape if self.stored.is_sharded else None

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of all chunks along each dimension; of inner chunks if there are shards.

        Raises
        ------
        ValueError
            If there are more than 10,000,000 lengths: use :attr:`chunks`.
        """
        stored = self.stored
        if not stored.is_sharded:
            return self.write_chunk_sizes
        inner = stored.inner_codecs.decoded.shape
        self._check_lengths(
            [-(-size // length) for size, length in zip(self.shape, inner, strict=True)]
        )
        return tuple(
            (length,) * (size // length) + ((size % length,) if size % length else ())
            for size, length in zip(self.shape, inner, strict=True)
        )

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of all stored objects along each dimension; the last ends with the array.

        Raises
        ------
        ValueError
            If there are more than 10,000,000 lengths: use :attr:`shards` or :attr:`chunks`.
        """
        axes = self.stored.axes
        self._check_lengths([axis.count for axis in axes])
        return tuple(axis.sizes() for axis in axes)

    def _check_lengths(self, counts: Sequence[int]) -> None:
        if sum(counts) > _MAX_LENGTHS:
            raise ValueError(
                f"{self.stored.location} has {' x '.join(map('{:,}'.format, counts))} chunks, too "
                f"many to return the length of each (at most {_MAX_LENGTHS:,}); use chunks or shards"
            )

    @property
    def _stored_shape(self) -> tuple[Any, ...]:
        stored = self.stored
        if stored.resolved.is_uniform:
            return stored.codecs.decoded.shape
        return tuple(axis.sizes() for axis in stored.axes)

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written, as a NumPy scalar.

        None if it is undefined, as version 2 permits; such elements are read as the default
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
        """The definitions of all codecs, in the order of encoding."""
        return self.metadata.codecs

    @property
    def chunk_codecs(self) -> tuple[Codec, ...]:
        """The codecs of a chunk in the order of encoding; of the inner chunks if there are shards."""
        inner = self.stored.inner_codecs
        return (*inner.array_to_array, inner.array_to_bytes, *inner.bytes_to_bytes)

    @property
    def filters(self) -> tuple[Codec, ...]:
        """The array to array codecs; of the inner chunks if there are shards.

        In version 2, all codecs that the metadata calls filters, whatever their kind.
        """
        return self.stored.filters

    @property
    def serializer(self) -> ArrayToBytesCodec:
        """The array to bytes codec; of the inner chunks if there are shards."""
        return self.stored.inner_codecs.array_to_bytes

    @property
    def compressors(self) -> tuple[Codec, ...]:
        """The bytes to bytes codecs; of the inner chunks if there are shards.

        In version 2, the codec that the metadata calls the compressor, if any.
        """
        return self.stored.compressors

    @property
    def compressor(self) -> Codec | None:
        """The only compressor, or None; as arrays of version 2 have it.

        Raises
        ------
        ValueError
            If there are several.
        """
        if len(self.compressors) > 1:
            raise ValueError("there are several compressors; see compressors")
        return next(iter(self.compressors), None)

    @property
    def order(self) -> Literal["C", "F"]:
        """Whether elements along the last dimension of a chunk are stored together, or the first.

        Results of reading have this order in memory, unless ``config`` sets another; those of
        ``vindex`` and of several index arrays have ``"C"``.
        """
        return self.stored.resolved.order

    @property
    def ignored_extensions(self) -> tuple[ExtensionDefinition, ...]:
        """Unknown extensions that are ignored, because ``must_understand`` is false.

        An array with ignored extensions is read-only.
        """
        return self.stored.ignored_extensions

    # --- storage ---

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of chunks, or shards if there are any, along each dimension."""
        return tuple(axis.count for axis in self.stored.resolved.axes)

    @property
    def nchunks(self) -> int:
        """Number of chunks; of inner chunks if there are shards."""
        if not self.stored.is_sharded:
            return prod(self.cdata_shape)
        return prod(
            -(-length // chunk) for length, chunk in zip(self.shape, self.chunks, strict=True)
        )

    @property
    def nchunks_initialized(self) -> int:
        """Number of chunks that are stored; lists the store.

        Every chunk of a stored shard counts, also empty ones: the index of the shard is
        not read.
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

    def stored_chunks(self) -> Iterator[tuple[tuple[int, ...], str]]:
        """Coordinates and keys of stored chunks, or shards if there are any.

        Lists the store.  Keys of other objects and of chunks outside the array are ignored.
        """
        return self.stored.stored_chunks()

    def nbytes_stored(self) -> int:
        """Bytes of the stored chunks; lists the store."""
        return sum(size for _, size in self.stored.stored_sizes())

    @property
    def info(self) -> Info:
        """Properties of the array, as a table; does not access the store."""
        from zarr_core.display.info import array_info

        return array_info(self.stored)

    def info_complete(self) -> Info:
        """Properties of the array, with its stored size; lists the store."""
        from zarr_core.display.info import array_info

        return array_info(self.stored, list_chunks=True)

    def chunk_map(
        self,
        dims: Sequence[int | str] | None = None,
        at: Mapping[int | str, int] | None = None,
        *,
        sizes: bool = True,
        inner: bool = True,
        cells: int = 64,
        most: int = 100_000,
    ) -> Any:
        """Which chunks are stored, how large they are, where compression fails.

        Parameters
        ----------
        dims : sequence of int or str, optional
            One or two dimensions to show, by number or name; by default the last two that
            are not in ``at``.
        at : mapping, optional
            Dimensions of which only one index counts: ``{"time": 3}``.  Along all others
            chunks are summed.
        sizes : bool
            Whether to ask for the stored bytes.
        inner : bool
            Whether to look into shards, if there are any.
        cells : int
            How many cells the map has at most along a dimension; more chunks share cells.
        most : int
            How many stored objects to look at.

        Returns
        -------
        zarr_display.chunk_map.ChunkMap
            Prints as text, is a picture in notebooks, has the numbers as arrays.

        Raises
        ------
        ValueError
            If there is no such dimension or index.
        StoreCapabilityError
            If the store cannot list its keys, and there are more than ``most`` chunks.
        UnknownExtensionError
            If no display extension is installed, such as zarr-display.

        Notes
        -----
        Costs one listing of the array, one request for the size of each chunk, or instead
        one read of the index of each shard.  No chunk is read.
        """
        from zarr_core.display.extension import required_display

        with override_extensions(self.stored.extensions):
            display = required_display(f"chunk_map of {self.stored.location}")
            return display.chunk_map(
                self.stored, dims, at, sizes=sizes, inner=inner, cells=cells, most=most
            )

    # --- reading ---

    def __getitem__(self, selection: Any) -> Any:
        """Read a selection, as NumPy defines it.

        Integers, slices of any step, ``...``, ``None``, arrays and lists of integers, masks
        of one or more dimensions, and names of fields for structured data types.  Index
        arrays broadcast together, as in NumPy: :attr:`oindex` selects their outer product.
        """
        fields: Fields = None
        if self.stored.resolved.dtype.names:
            selection, fields = split_fields(selection)
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
        """Read whole chunks, selected by their grid coordinates; as ``blocks[...]``.

        If there are shards, these are the blocks.
        """
        return self._get(parse.block, selection, out, fields)

    def _get(
        self,
        parser: Callable[[Any, Any], ParsedSelection],
        selection: Any,
        out: NDArray | None,
        fields: Fields,
    ) -> Any:
        stored = self.stored
        dtype = stored.resolved.dtype
        try:
            parsed = parser(
                selection, stored.axes if parser is parse.block else stored.metadata.shape
            )
            chosen = None if fields is None else as_index(dtype, fields)
        except SelectionError as error:
            self._raise_located(error)
        if out is not None:
            self._check_out(out, parsed.shape, dtype if chosen is None else dtype[chosen])
            straight = out.flags.c_contiguous or (
                parsed.shape == parsed.selection.shape and not parsed.axes
            )
            if chosen is None and out.dtype == dtype and out.flags.aligned and straight:
                stored.read(parsed.selection, parsed.view(out))
                return out
        try:
            order = stored.result_order or stored.resolved.order
            if order == "C":
                result = np.empty(parsed.shape, dtype)
            else:
                result = np.empty(parsed.shape, dtype, order if parsed.takes_any_order else "C")
        except (MemoryError, ValueError) as error:
            raise SelectionError(
                f"{self.stored.location}: the selection has {prod(parsed.shape)} elements of {dtype}, more than fit into "
                "memory; read a part of it",
                self.shape,
            ) from error
        view = result if parsed.same else parsed.view(result)
        stored.read(parsed.selection, view)
        if chosen is not None:
            result = result[chosen]
        if out is not None:
            out[...] = result
            return out
        return result[()] if parsed.scalar else result

    def _raise_located(self, error: Exception) -> NoReturn:
        """Raise the error again, with the location of the array."""
        if isinstance(error, SelectionError):
            raise SelectionError(f"{self.stored.location}: {error.reason}", error.shape) from error
        if type(error) in (TypeError, ValueError):
            raise type(error)(f"{self.stored.location}: {error}") from error
        raise error

    def _check_out(self, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise an error if ``out`` cannot contain the result."""
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out is a NumPy array, not {type(out).__name__}")
        shape += dtype.shape  # of a field that is an array
        if out.shape != shape:
            raise SelectionError(f"out has shape {out.shape}, the selection {shape}", self.shape)
        if not np.can_cast(dtype.base, out.dtype, "same_kind"):
            raise TypeError(f"cannot cast elements from {dtype} to {out.dtype}, the dtype of out")
        if not out.flags.writeable:
            raise ValueError("out is a read-only array")

    # --- other ways to select ---

    @property
    def oindex(self) -> IndexAccessor:
        """Orthogonal indexing: ``array.oindex[[1, 3], :]``."""
        return IndexAccessor(self, "orthogonal")

    @property
    def vindex(self) -> IndexAccessor:
        """Coordinate indexing: ``array.vindex[[1, 3], [0, 2]]``."""
        return IndexAccessor(self, "coordinate")

    @property
    def blocks(self) -> IndexAccessor:
        """Block indexing, of whole chunks: ``array.blocks[0, 1:3]``."""
        return IndexAccessor(self, "block")

    # --- writing ---

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write to a selection, with broadcasting and casting as in NumPy."""
        fields: Fields = None
        if self.stored.resolved.dtype.names:
            selection, fields = split_fields(selection)
        self._set(parse.fancy, selection, value, fields)

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
        """Write whole chunks, selected by their grid coordinates; as ``blocks[...] =``."""
        self._set(parse.block, selection, value, fields)

    def _set(
        self,
        parser: Callable[[Any, Any], ParsedSelection],
        selection: Any,
        value: Any,
        fields: Fields,
    ) -> None:
        stored = self.stored
        stored.check_writable()
        dtype = stored.resolved.dtype
        chosen = None
        try:
            parsed = parser(
                selection, stored.axes if parser is parse.block else stored.metadata.shape
            )
            if fields is not None:
                chosen = as_index(dtype, fields)
                dtype = dtype[chosen]
                if dtype.shape:
                    raise SelectionError(
                        f"the field {chosen!r} contains arrays of shape {dtype.shape}; "
                        "write whole elements"
                    )
            # Arrays are cast chunk by chunk; Python numbers that do not fit are refused here.
            if chosen is None:
                given = one_object(value) if dtype.kind == "O" and not parsed.shape else value
                values = parsed.broadcast(elements_of(given, stored.resolved.data_type))
            else:
                values = parsed.broadcast(as_array(value, dtype))
        except (SelectionError, TypeError, ValueError) as error:
            self._raise_located(error)
        if chosen is None:
            stored.write(parsed.selection, values)
        else:
            write_fields(stored, parsed.selection, values, chosen)

    # --- changing its size ---

    def resize(self, *shape: int | Sequence[int]) -> None:
        """Change the shape; the remaining elements keep their indices.

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
        from zarr_core.hierarchy.resize import clear_beyond, new_shape, resized

        self.check_writable()
        self.refresh()  # with an old shape, chunks would remain
        before = self.stored
        new = new_shape(before, shape)
        if new != before.metadata.shape:
            update_metadata(self, lambda metadata: resized(before, metadata, new))
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
        The array grows under the lock of its document, from the shape that is stored.  Of
        several who append at the same time, each gets a place of its own.
        """
        from zarr_core.hierarchy.resize import elements_to_append, grown

        values, axis = elements_to_append(self.stored, data, axis)
        # The elements are written first, then the metadata, both under the lock of the
        # metadata, so that readers see both, and concurrent calls append to each other.
        update_metadata(self, lambda metadata: grown(self.stored, metadata, values, axis))
        return self.shape

    # --- views ---

    def astype(self, dtype: Any) -> View:
        """A view of the array that casts elements when they are read.

        Parameters
        ----------
        dtype : dtype-like
            What to cast to.

        Raises
        ------
        TypeError
            If it is not a dtype.
        """
        return View(self, dtype_given(dtype), casting)

    def view(self, dtype: Any) -> View:
        """A view of the array that reinterprets elements as another dtype when they are read.

        Parameters
        ----------
        dtype : dtype-like
            With the same item size as that of the array.

        Raises
        ------
        TypeError
            If it is not a dtype, or the item sizes differ.
        """
        other = dtype_given(dtype)
        if other.itemsize != self.dtype.itemsize or other.hasobject or self.dtype.hasobject:
            raise TypeError(f"the item sizes of {self.dtype} and {other} differ")
        return View(self, other, reinterpreting)

    def digest(self, hashname: str = "sha1") -> bytes:
        """A checksum of the stored array: its encoded chunks and its metadata.

        Parameters
        ----------
        hashname : str
            A name that :func:`hashlib.new` knows.

        Notes
        -----
        In version 2 it is the checksum of zarr-python 2.  It depends on the layout and the
        codecs.
        """
        import hashlib

        found = hashlib.new(hashname)
        stored = self.stored
        for coords in product(*map(range, self.cdata_shape)):
            found.update(stored.chunk_store.get(stored.chunk_key(coords)) or b"")
        for key in stored.format.documents(self.path):
            found.update(self.store.get(key) or b"")
        return found.digest()

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
        yield from self.islice()

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Iterate over a part of the first dimension, reading each row of chunks once.

        Parameters
        ----------
        start, end : int, optional
            First index, and the one behind the last; from the end if negative.
        """
        (axis, *_) = self.stored.axes
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
                raise ValueError(f"the array has {self.size} elements, not one")
            index = (0,) * self.ndim
        value = self[index]
        return value.item() if isinstance(value, np.generic | np.ndarray) else value

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of an array of {self.size} elements is ambiguous; "
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
            raise TypeError(
                f"an array of {self.size} elements cannot be converted to {what}; read it: array[...]"
            )
        return self.item()

    # --- as others see it ---

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """A token that is equal for arrays with equal contents, unless they are written to."""
        stored = self.stored
        document = strictjson.encode(stored.format.to_json(stored.metadata))
        return ("zarr_core.Array", stored.store.url, stored.path, stored.format.name, document)

    def to_dask_array(self) -> Any:
        """An array of Dask, in blocks of whole stored objects; what ``dask.array.asarray`` calls."""
        from dask.array import from_array

        return from_array(self, inline_array=True)  # type: ignore[no-untyped-call]  # is Dask's

    def __repr__(self) -> str:
        from zarr_core.display.info import array_line

        return array_line(self.stored)
