"""A codec chain prepared for chunks of one shape.

What depends on the metadata alone is computed once: sizes, dtypes and the fastest way to decode.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_core.config import max_encoded_nbytes
from zarr_core.engine import codec_calls
from zarr_core.engine.fill_value import fill_test
from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecChainError
from zarr_core.interfaces.byte_reader import BufferByteReader
from zarr_core.interfaces.codec import PartialDecodeCodec, PartialEncodeCodec, SubchunkCodec
from zarr_core.interfaces.selection import BasicIndexer, MaskIndexer
from zarr_core.selection.projection import put, take

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.codec import (
        ArrayRepresentation,
        ArrayToArrayCodec,
        ArrayToBytesCodec,
        BytesToBytesCodec,
    )
    from zarr_core.interfaces.selection import AnySelection, Selection
    from zarr_core.interfaces.store import Buffers

    Array = np.ndarray[Any, Any]

_SIZE = (int, type(None))
_DTYPE = (np.dtype, type(None))
_UINT8 = np.dtype(np.uint8)  # NumPy takes a tenth of a microsecond to find it
_MAX_NBYTES = sys.maxsize
_MIN_PARTIAL_NBYTES = 1 << 17  # smaller chunks are read faster as a whole


class PreparedCodecChain:
    """Codecs for chunks of one shape.

    Parameters
    ----------
    array_to_array : sequence of (str, ArrayToArrayCodec)
        Names and codecs, in the order of encoding.
    array_to_bytes : tuple of (str, ArrayToBytesCodec)
        The array -> bytes codec.
    bytes_to_bytes : sequence of (str, BytesToBytesCodec)
        The bytes -> bytes codecs.
    representations : sequence of ArrayRepresentation
        The decoded chunk, and the result of each array -> array codec.

    Attributes
    ----------
    decoded : ArrayRepresentation
        The decoded chunk.
    encoded_size : int or None
        Bytes of an encoded chunk; None if the size depends on the content.
    max_encoded_size : int
        Largest size of an encoded chunk that is read, in bytes.
    memory_dtype : dtype or None
        The dtype of the output of the array -> bytes codec, if that is an array in memory.
    is_raw : bool
        Whether an encoded chunk is the memory of the chunk, byte for byte.
    has_memory_layout : bool
        Whether the bytes -> bytes codecs decode to the elements as they are in memory,
        except for the byte order.
    decodes_bytes_into : bool
        Whether :meth:`decode_bytes_into` can be used: there are bytes -> bytes codecs, and the
        size of their output is known.
    supports_partial_encode : bool
        Whether a part can be read and written without the rest.
    prefers_partial_decode : bool
        Whether a part can be decoded without the rest, and chunks are so large that this is faster.
    read_buffer_size : int
        Bytes of memory to provide for reading an encoded chunk.
    prefetch : ByteRange or None
        What partial decoding reads first.
    inner_codecs : PreparedCodecChain or None
        The codecs of the inner chunks, if chunks are shards.
    order : {"C", "F"}
        Whether elements along the last dimension of a chunk are contiguous, or the first.
    max_concurrency : int or None
        Maximum number of concurrent calls, if a codec waits.
    inner_chunk_nbytes : int or None
        Decoded bytes that a codec processes at once: of an inner chunk if there are any.
    inner_chunk_count : int
        Number of inner chunks in a chunk; 1 if there are none.
    """

    def __init__(
        self,
        array_to_array: Sequence[tuple[str, ArrayToArrayCodec]],
        array_to_bytes: tuple[str, ArrayToBytesCodec],
        bytes_to_bytes: Sequence[tuple[str, BytesToBytesCodec]],
        representations: Sequence[ArrayRepresentation],
    ) -> None:
        decoded = self.decoded = representations[0]
        nbytes = decoded.nbytes or 0
        if nbytes > _MAX_NBYTES:
            raise CodecChainError(
                f"chunks of shape {decoded.shape} take {nbytes} bytes, more than can be addressed"
            )
        self.dtype = decoded.data_type.numpy_dtype
        self._array_to_array = tuple(array_to_array)
        self._array_to_bytes = array_to_bytes
        self._representations = tuple(representations)
        last = self._serialized = representations[-1]
        name, serializer = array_to_bytes
        self.memory_dtype = codec_calls.query(name, _DTYPE, serializer.memory_dtype, last)
        size = codec_calls.query(name, _SIZE, serializer.encoded_size, last)
        # Text takes several times as much as numbers.
        known = 8 * last.nbytes if size is None and last.nbytes is not None else size
        encoders, decoders = [], []
        for name, codec in bytes_to_bytes:
            decoders.append((name, codec, size, max_encoded_nbytes(known, last.size)))
            decoded_size = size
            if size is not None:
                size = codec_calls.query(name, _SIZE, codec.encoded_size, size)
                known = known if size is None else size
            encoders.append((name, codec, decoded_size, size))
        self.encoded_size = size
        self.max_encoded_size = max_encoded_nbytes(known, last.size) if size is None else size
        self._bytes_encoders = tuple(encoders)
        self._bytes_decoders = tuple(reversed(decoders))
        self._is_fill = fill_test(decoded.fill_value)
        in_memory = self.memory_dtype is not None
        # A byte other than 0 and 1 is not a bool, but NumPy would compute with it.
        self._is_boolean = in_memory and self.memory_dtype.kind == "b"
        self._is_in_place = in_memory and not array_to_array and self.memory_dtype == self.dtype
        self.decodes_bytes_into = in_memory and bool(bytes_to_bytes)
        self.is_raw = self._is_in_place and not bytes_to_bytes and not self._is_boolean
        self.has_memory_layout = in_memory and not array_to_array and not self._is_boolean
        partial = None
        if isinstance(serializer, PartialDecodeCodec) and not bytes_to_bytes:
            name = array_to_bytes[0]
            if codec_calls.query(name, bool, serializer.supports_partial, last):
                partial = serializer
        self.supports_partial_encode = isinstance(partial, PartialEncodeCodec)
        if nbytes <= _MIN_PARTIAL_NBYTES and not self.supports_partial_encode:
            partial = None
        self.prefers_partial_decode = partial is not None
        self.prefetch = None if partial is None else partial.prefetch(last)
        # The codec in _array_to_bytes if it supports partial decoding.
        self._partial: Any = partial
        # Compressors may add a little to incompressible data.
        self.read_buffer_size = size if size is not None else nbytes + (nbytes >> 4) + 1024
        inner: PreparedCodecChain | None = None
        if isinstance(serializer, SubchunkCodec) and not array_to_array:
            found = serializer.inner_codecs(last)
            if not isinstance(found, PreparedCodecChain):
                raise TypeError(f"inner_codecs returned {found!r}, not a PreparedCodecChain")
            inner = found
        self.inner_codecs = inner
        codecs = [
            *self.array_to_array,
            serializer,
            *self.bytes_to_bytes,
            *([inner] if inner else ()),
        ]
        limits = [codec.max_concurrency for codec in codecs if codec.max_concurrency is not None]
        self.max_concurrency: int | None = max(limits, default=None)
        self.inner_chunk_nbytes: int | None = (
            decoded.nbytes if inner is None else inner.inner_chunk_nbytes
        )
        self.order: Literal["C", "F"] = (
            _memory_order(array_to_array, len(decoded.shape)) if inner is None else inner.order
        )
        self.inner_chunk_count: int = (nbytes or 1) // (self.inner_chunk_nbytes or 1) or 1

    def with_write_empty_chunks(self) -> PreparedCodecChain:
        """Return the same codecs, with empty chunks stored."""
        return self._with(lambda item: replace(item, write_empty_chunks=True))

    def with_missing_as_error(self) -> PreparedCodecChain:
        """Return codecs that raise an error for missing inner chunks; the same if there are none."""
        if not isinstance(self.array_to_bytes, SubchunkCodec):
            return self
        return self._with(lambda item: replace(item, missing_is_error=True))

    def _with(
        self, change: Callable[[ArrayRepresentation], ArrayRepresentation]
    ) -> PreparedCodecChain:
        """Return the same codecs for changed representations."""
        representations = [change(item) for item in self._representations]
        bytes_to_bytes = [(name, codec) for name, codec, *_ in self._bytes_encoders]
        return PreparedCodecChain(
            self._array_to_array, self._array_to_bytes, bytes_to_bytes, representations
        )

    @cached_property
    def full_selection(self) -> BasicIndexer:
        """The selection of a whole chunk."""
        return BasicIndexer(tuple(slice(0, length, 1) for length in self.decoded.shape))

    @property
    def array_to_array(self) -> tuple[ArrayToArrayCodec, ...]:
        """The array -> array codecs."""
        return tuple(codec for _, codec in self._array_to_array)

    @property
    def array_to_bytes(self) -> ArrayToBytesCodec:
        """The array -> bytes codec."""
        return self._array_to_bytes[1]

    @property
    def bytes_to_bytes(self) -> tuple[BytesToBytesCodec, ...]:
        """The bytes -> bytes codecs."""
        return tuple(codec for _, codec, *_ in self._bytes_encoders)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all codecs, in the order of encoding."""
        before = (name for name, _ in self._array_to_array)
        after = (name for name, *_ in self._bytes_encoders)
        return (*before, self._array_to_bytes[0], *after)

    # --- decoding ---

    def check_size(self, size: int) -> None:
        """Raise a ChunkDecodeError if an encoded chunk of this size is damaged."""
        if self.encoded_size is not None and size != self.encoded_size:
            raise ChunkDecodeError(f"{size} bytes instead of {self.encoded_size}")
        if size > self.max_encoded_size:
            raise ChunkDecodeError(codec_calls.too_large(size, self.max_encoded_size))

    def decode(self, data: Buffer) -> Array:
        """Decode the bytes of a chunk; the result may be a view of them.

        Raises
        ------
        ChunkDecodeError
            If the bytes are damaged.
        """
        return self._decode_array(self.decode_bytes(data))

    def decode_bytes(self, data: Buffer) -> Buffer:
        """Decode with the bytes -> bytes codecs alone."""
        for name, codec, size, limit in self._bytes_decoders:
            data = codec_calls.decode_bytes(name, codec, data, size, limit)
        return data

    def decode_bytes_into(self, data: Buffer, out: memoryview) -> None:
        """Decode with the bytes -> bytes codecs into memory of exactly the decoded size.

        Only if :attr:`decodes_bytes_into`.
        """
        decoders = self._bytes_decoders
        for name, codec, size, limit in decoders[:-1]:
            data = codec_calls.decode_bytes(name, codec, data, size, limit)
        name, codec, _, _ = decoders[-1]
        codec_calls.call(ChunkDecodeError, name, codec.decode_into, data, out)

    def decode_into(self, data: Buffer, out: Array, selection: AnySelection | None = None) -> None:
        """Decode a chunk, or the selected elements, into an array with any strides.

        Parameters
        ----------
        data : Buffer
            The stored bytes.
        out : ndarray
            Has the shape of the selection, or of the chunk.
        selection : Selection or MaskIndexer, optional
            The elements to copy; all by default.
        """
        if not self.decodes_bytes_into:
            decoded = self.decode_bytes(data)
            if self.decoded.missing_is_error and self._decode_selected(decoded, selection, out):
                return
            array = self._decode_array(decoded)
            out[...] = array if selection is None else take(array, selection)
        elif selection is None and self._is_in_place and out.flags.c_contiguous:
            octets = out.reshape(-1).view(_UINT8)
            self.decode_bytes_into(data, octets.data)
            if self._is_boolean:
                _check_booleans(octets)
        else:
            with scratch(self._serialized.nbytes or 0) as buffer:
                self.decode_bytes_into(data, buffer)
                array = self._decode_array(buffer)
                out[...] = array if selection is None else take(array, selection)

    def _decode_selected(self, data: Buffer, selection: AnySelection | None, out: Array) -> bool:
        """Decode only the selected inner chunks; others may be missing.  Return whether it did."""
        name, codec = self._array_to_bytes
        last = self._serialized
        if not (isinstance(codec, PartialDecodeCodec) and codec.supports_partial(last)):
            return False
        part = self._encoded_part(self.full_selection if selection is None else selection, out)
        if part is not None:
            codec_calls.partial_decode(name, codec, BufferByteReader(data), last, *part)
        return part is not None

    def partial_decode(self, reader: ByteReader, selection: AnySelection, out: Array) -> None:
        """Decode a part of a stored chunk, reading no more than needed.

        Only if :attr:`prefers_partial_decode`.  ``out`` has the shape of the selection.
        """
        if self.encoded_size is not None:
            self.check_size(reader.size)
        encoded_part = self._encoded_part(selection, out)
        if encoded_part is None:
            self.check_size(reader.size)
            self.decode_into(reader.read(0, reader.size), out, selection)
            return
        name = self._array_to_bytes[0]
        codec_calls.partial_decode(name, self._partial, reader, self._serialized, *encoded_part)
        if self._is_boolean:
            _check_booleans(out.view(_UINT8))

    def read_whole(self, reader: ByteReader | None) -> Array:
        """Return the stored chunk as a new array, or one of fill values if it is missing."""
        decoded = self.decoded
        if reader is None:
            return np.full(decoded.shape, decoded.fill_value, self.dtype)
        self.check_size(reader.size)
        array = np.empty(decoded.shape, self.dtype)
        with scratch(reader.size) as buffer:
            reader.read_into([(0, buffer)])
            self.decode_into(buffer, array)
        return array

    def _decode_array(self, data: Buffer) -> Array:
        """Decode the bytes of the array -> bytes codec."""
        last = self._serialized
        name, serializer = self._array_to_bytes
        if self.memory_dtype is None:
            array = codec_calls.decode_array(name, serializer, data, last)
        elif len(data) != last.nbytes:
            raise ChunkDecodeError(f"{len(data)} bytes instead of {last.nbytes}", name)
        else:
            array = np.ndarray(last.shape, self.memory_dtype, data)
            if self._is_boolean:
                _check_booleans(array.view(_UINT8))
            if self._array_to_array and not self.memory_dtype.isnative:
                array = array.astype(self.memory_dtype.newbyteorder("="))
        for number in range(len(self._array_to_array) - 1, -1, -1):
            name, codec = self._array_to_array[number]
            array = codec_calls.decode_array(name, codec, array, self._representations[number])
        return array

    # --- encoding ---

    def encode(self, array: Array, memory: memoryview | None = None) -> Buffers | None:
        """Encode a chunk.

        Parameters
        ----------
        array : ndarray
            The whole chunk, with any strides; dtype of the data type, native order.
        memory : memoryview, optional
            Memory for a copy in C order, ``decoded.nbytes`` long.

        Returns
        -------
        Buffer, sequence of Buffer, or None
            The bytes to store, perhaps a view of ``array`` or ``memory``; None for an empty chunk
            that is not stored.
        """
        if not self.decoded.write_empty_chunks and self._is_fill(array):
            return None
        if self._array_to_array or self.memory_dtype is None:
            array = codec_calls.read_only_view(array)
        for number, (name, codec) in enumerate(self._array_to_array):
            decoded, encoded = self._representations[number : number + 2]
            array = codec_calls.encode_array(name, codec, array, decoded, encoded)
        if self.memory_dtype is None:
            name, serializer = self._array_to_bytes
            return self._encode_bytes(
                codec_calls.encode_elements(name, serializer, array, self._serialized)
            )
        return self._encode_bytes(self._memory_of(array, memory))

    def partial_encode(
        self, reader: ByteReader | None, selection: AnySelection, value: Array
    ) -> Buffers | None:
        """Encode a chunk with new elements in a part; only if :attr:`supports_partial_encode`.

        Parameters
        ----------
        reader : ByteReader or None
            The stored chunk; None if it is missing.
        selection : Selection
            The part.
        value : ndarray
            Its new elements; has the shape of the selection.
        """
        encoded_part = self._encoded_part(selection, value)
        if encoded_part is None:
            array = self.read_whole(reader)
            put(array, selection, value)
            return self.encode(array)
        name = self._array_to_bytes[0]
        return codec_calls.partial_encode(
            name, self._partial, reader, self._serialized, *encoded_part
        )

    def _memory_of(self, array: Array, memory: memoryview | None) -> Buffer:
        """The elements in C order and the stored byte order."""
        dtype = self.memory_dtype
        if array.dtype == dtype and array.flags.c_contiguous:
            data: Buffer = array.reshape(-1).view(_UINT8).data
        elif memory is not None and len(memory) == self._serialized.nbytes:
            np.ndarray(array.shape, dtype, memory)[...] = array
            data = memory
        elif array.dtype == dtype:
            data = array.tobytes()
        else:  # tobytes would make a second copy
            data = np.ascontiguousarray(array, dtype).reshape(-1).view(_UINT8).data
        if self._is_boolean and data:
            octets = np.frombuffer(data, np.uint8)
            if octets.max() > 1:  # NumPy allows such bools
                data = (octets != 0).tobytes()
        return data

    def _encode_bytes(self, buffers: Buffers | None) -> Buffers | None:
        """Encode the result of the array -> bytes codec with the bytes -> bytes codecs."""
        encoders = self._bytes_encoders
        if buffers is None or not encoders:
            return buffers
        data = buffers if isinstance(buffers, codec_calls.BUFFERS) else b"".join(buffers)
        for name, codec, decoded_size, encoded_size in encoders:
            data = codec_calls.encode_bytes(name, codec, data, decoded_size, encoded_size)
        return data

    def _encoded_part(self, selection: AnySelection, part: Array) -> tuple[Selection, Array] | None:
        """The part of the input of the array -> bytes codec that encodes a part of the chunk.

        None if it needs the whole chunk.
        """
        if isinstance(selection, MaskIndexer):
            selection = selection.to_coordinates()
        for _, codec in self._array_to_array:
            encoded = codec.encoded_part(selection, part)
            if encoded is None:
                return None
            selection, part = encoded
        return selection, part


def _memory_order(
    array_to_array: Sequence[tuple[str, ArrayToArrayCodec]], ndim: int
) -> Literal["C", "F"]:
    is_reversed = ndim > 1 and any(
        name == "transpose"
        and codec.to_configuration().get("order") in ("F", [*reversed(range(ndim))])
        for name, codec in array_to_array
    )
    return "F" if is_reversed else "C"


def _check_booleans(octets: Array) -> None:
    """Raise an error for bytes that are not bools; NumPy would compute with them."""
    if octets.size and octets.max() > 1:
        raise ChunkDecodeError(f"the byte {octets.max()} is not a bool; only 0 and 1 are", "bytes")
