"""An array without its elements: everything that its document says."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.engine.chain import codec_definition
from zarr_core.engine.chunks import Chunks
from zarr_core.engine.stored import chunks_in, sizes_along, stored_chunks, stored_sizes
from zarr_core.hierarchy import cached
from zarr_core.hierarchy.node import Node
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.registry.scope import extensions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.display.chunk_map import ChunkMap
    from zarr_core.display.info import Info
    from zarr_core.engine.binding import Binding
    from zarr_core.engine.bound import BoundChain
    from zarr_core.hierarchy.consolidation import Consolidation
    from zarr_core.interfaces.codec import (
        ArrayToArrayCodec,
        ArrayToBytesCodec,
        BytesToBytesCodec,
    )
    from zarr_core.interfaces.format import Format
    from zarr_core.interfaces.store import Store


class DescribedArray(Node[ArrayMetadata]):
    """What an array is and how it is stored."""

    def __init__(
        self,
        store: Store,
        path: str,
        format_: Format,
        binding: Binding,
        *,
        read_only: bool = False,
        missing_is_error: bool = False,
        consolidation: Consolidation | None = None,
    ) -> None:
        super().__init__(
            store,
            path,
            format_,
            binding.metadata,
            read_only=read_only,
            consolidation=consolidation,
        )
        self._missing_is_error = missing_is_error
        self._use(binding)

    # --- what it is ---

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.metadata.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements, in native byte order."""
        return self._binding.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.metadata.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.metadata.shape)

    @property
    def itemsize(self) -> int:
        """Bytes that an element takes in memory."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes that all elements would take in memory."""
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[Any, ...]:
        """Shape of the smallest part that is read by itself: of inner chunks if there are shards.

        Where lengths differ, all of them along each dimension: ``((10, 20, 30), (5, 5))``.
        The last ends with the array, so that they add up to its shape, as Dask has it.
        """
        return self._inner.decoded.shape if self._is_sharded else self._stored_shape

    @property
    def shards(self) -> tuple[Any, ...] | None:
        """Shape of the shards, or None if every chunk is an object of its own.

        Where lengths differ, all of them, as for :attr:`chunks`.
        """
        return self._stored_shape if self._is_sharded else None

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of all chunks along each dimension; of inner chunks if there are shards."""
        if not self._is_sharded:
            return self.write_chunk_sizes
        return tuple(
            (length,) * (size // length) + ((size % length,) if size % length else ())
            for size, length in zip(self.shape, self._inner.decoded.shape, strict=True)
        )

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of all stored objects along each dimension; the last ends with the array."""
        return tuple(map(sizes_along, self._binding.axes))

    @property
    def _is_sharded(self) -> bool:
        outer = self._outer
        return (outer.inner or outer) is not outer

    @property
    def _stored_shape(self) -> tuple[Any, ...]:
        return self._outer.decoded.shape if self._binding.is_uniform else self.write_chunk_sizes

    @property
    def _outer(self) -> BoundChain:
        """The codecs of a stored object."""
        return self._binding.bound((0,) * self.ndim)

    @property
    def _inner(self) -> BoundChain:
        """The codecs of a chunk: those of an inner chunk if there are shards."""
        return self._outer.inner or self._outer

    @property
    def fill_value(self) -> Any:
        """What elements are that were never written, as a NumPy scalar.

        None if the document leaves that open, as version 2 permits; they are read as
        zeros, or the like.
        """
        if self.metadata.fill_value_undefined:
            return None
        return self._binding.fill_value.copy()[()]

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """Names of the dimensions, or None if there are none."""
        return self.metadata.dimension_names

    @property
    def codecs(self) -> tuple[ExtensionDefinition, ...]:
        """The definitions of all codecs, in the order of encoding."""
        return self.metadata.codecs

    @property
    def filters(self) -> tuple[ArrayToArrayCodec, ...]:
        """The array to array codecs; of the inner chunks if there are shards."""
        return self._inner.array_to_array

    @property
    def serializer(self) -> ArrayToBytesCodec:
        """The array to bytes codec; of the inner chunks if there are shards."""
        return self._inner.array_to_bytes

    @property
    def compressors(self) -> tuple[BytesToBytesCodec, ...]:
        """The bytes to bytes codecs; of the inner chunks if there are shards."""
        return self._inner.bytes_to_bytes

    @property
    def compressor(self) -> BytesToBytesCodec | None:
        """The only bytes to bytes codec, or None; as arrays of version 2 have it.

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
        """Whether elements along the last dimension of a chunk are stored together, or the first."""
        reverse = [*reversed(range(self.ndim))]
        turned = map(codec_definition, self.filters)
        is_turned = any(
            definition.name == "transpose" and definition.configuration["order"] == reverse
            for definition in turned
        )
        return "F" if is_turned and self.ndim > 1 else "C"

    @property
    def skipped_extensions(self) -> tuple[ExtensionDefinition, ...]:
        """Extensions that nobody here knows and that need not be understood.

        An array that has some is read-only.
        """
        return self._binding.skipped

    # --- how it is stored ---

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of stored objects along each dimension, if all were stored."""
        return tuple(axis.count for axis in self._binding.axes)

    @property
    def nchunks(self) -> int:
        """Number of chunks that hold elements of the array; inner chunks if there are shards."""
        if not self._is_sharded:
            return prod(self.cdata_shape)
        return prod(
            -(-length // chunk) for length, chunk in zip(self.shape, self.chunks, strict=True)
        )

    @property
    def nchunks_initialized(self) -> int:
        """Number of chunks that are stored; lists the store.

        Every chunk of a stored shard counts, also one that holds nothing but the
        fill value: to tell, each shard would have to be read.
        """
        inner = self._inner.decoded.shape if self._is_sharded else None
        return sum(chunks_in(self._chunks, at, inner) for at, _ in stored_chunks(self._chunks))

    def stored_chunks(self) -> Iterator[tuple[tuple[int, ...], str]]:
        """Grid coordinates and keys of what is stored: chunks, or shards if there are any.

        Lists the store.  Keys that are no chunk's, or of one outside the array, are left out.
        """
        return stored_chunks(self._chunks)

    def nbytes_stored(self) -> int:
        """Bytes that the stored chunks take; lists the store."""
        return sum(size for _, size in stored_sizes(self._chunks))

    @property
    def info(self) -> Info:
        """What the array is, as a table; never touches the store."""
        from zarr_core.display.info import array_info  # noqa: PLC0415 - lazy: for people only

        return array_info(self)

    def info_complete(self) -> Info:
        """What the array is, with what it takes in the store, which is listed for it."""
        from zarr_core.display.info import array_info  # noqa: PLC0415 - lazy: for people only

        return array_info(self, stored=True)

    def chunk_map(
        self,
        dims: Sequence[int | str] | None = None,
        at: Mapping[int | str, int] | None = None,
        *,
        sizes: bool = True,
        inner: bool = True,
        cells: int = 64,
        most: int = 100_000,
    ) -> ChunkMap:
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
        ChunkMap
            Prints as text, is a picture in notebooks, has the numbers as arrays.

        Raises
        ------
        ValueError
            If there is no such dimension or index.
        StoreCapabilityError
            If the store cannot list its keys, and there are more than ``most`` chunks.

        Notes
        -----
        Costs one listing of the array, one request for the size of each chunk, or instead
        one read of the index of each shard.  No chunk is read.
        """
        from zarr_core.display.chunk_map import chunk_map  # noqa: PLC0415 - lazy: for people only

        return chunk_map(self, dims, at, sizes=sizes, inner=inner, cells=cells, most=most)

    def _reopening(self) -> tuple[Any, ...]:
        """The arguments of :func:`zarr_core.hierarchy.from_metadata.reopen` that give this array again."""
        config = {
            "write_empty_chunks": self._binding.keep_empty,
            "missing_chunks": "error" if self._missing_is_error else "fill",
        }
        document = self._format.to_json(self.metadata)
        return (
            self.store, self.path, self._format.name, document, self.read_only, config,
            self._extensions,
        )  # fmt: skip

    def _why_read_only(self) -> str:
        if self.skipped_extensions:
            names = ", ".join(definition.name for definition in self.skipped_extensions)
            return f"can only be read: nobody here knows the extensions {names}; install them"
        return super()._why_read_only()

    def _adopt(self, metadata: ArrayMetadata) -> None:
        old = self._binding
        if metadata.replace(attributes=old.metadata.attributes) == old.metadata:
            self._use(replace(old, metadata=metadata))
            return
        with extensions(self._extensions):
            self._use(cached.binding(metadata, self.store, self.path, old.keep_empty))

    def _use(self, binding: Binding) -> None:
        # The shape last: a thread that has read it must find the chunks that go with it,
        # lest it take a chunk that has grown for one that it covers.
        prefix = self._format.chunk_prefix(self.path)
        self._chunks = Chunks(self.store, prefix, binding, self._missing_is_error)
        self._binding = binding
        self.read_only = self.read_only or bool(binding.skipped)
        self.metadata = binding.metadata
