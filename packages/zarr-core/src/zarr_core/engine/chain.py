"""Codec chains: the codecs of an array, in the order of encoding.

Specification: v3.1, "Codecs": array -> array codecs, exactly one array -> bytes codec,
bytes -> bytes codecs.

A :class:`CodecChain` is what metadata name.  :meth:`CodecChain.prepare` computes once what depends
on the shape of a chunk: a :class:`PreparedCodecChain` has sizes, dtypes and the fastest way to
decode, and encodes and decodes chunks.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_core.config import max_encoded_nbytes
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine import codec_calls
from zarr_core.engine.fill_value import fill_test
from zarr_core.engine.scratch import Scratch
from zarr_core.errors import ChunkDecodeError, CodecChainError, ZarrError, is_ordinary_error, reason
from zarr_core.interfaces.byte_reader import BufferByteReader
from zarr_core.interfaces.codec import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    Codec,
    PartialDecodeCodec,
    PartialEncodeCodec,
    SubchunkCodec,
)
from zarr_core.interfaces.selection import BasicIndexer, MaskIndexer
from zarr_core.location import NO_LOCATION, Location
from zarr_core.registry.discovery import name_of
from zarr_core.registry.resolve import create_extension, must_be_complete
from zarr_core.selection.projection import put, take
from zarr_core.strictjson import identical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.selection import AnySelection, Selection
    from zarr_core.interfaces.store import Buffers

    Array = np.ndarray[Any, Any]

CODEC_KINDS = {
    ArrayToArrayCodec: "array -> array",
    ArrayToBytesCodec: "array -> bytes",
    BytesToBytesCodec: "bytes -> bytes",
}
"""The interfaces of codecs in the order of encoding, and what they are called."""
_SIZE = (int, type(None))
_DTYPE = (np.dtype, type(None))
_UINT8 = np.dtype(np.uint8)  # NumPy takes a tenth of a microsecond to find it
_MIN_PARTIAL_NBYTES = 1 << 17  # smaller chunks are read faster as a whole


@dataclass(frozen=True, eq=False)
class CodecChain:
    """The codecs of an array in the order of encoding, each with its definition.

    Parameters
    ----------
    definitions : tuple of ExtensionDefinition
        All codecs of the list, including ignored ones.
    codecs : tuple of Codec or None
        None for an ignored codec: unknown, with must_understand false.
    """

    definitions: tuple[ExtensionDefinition, ...]
    codecs: tuple[Codec | None, ...]

    @classmethod
    def from_definitions(
        cls, definitions: Sequence[ExtensionDefinition], location: Location = NO_LOCATION
    ) -> CodecChain:
        """Find the code for each member of a ``codecs`` list at a location.

        Without a store in the location, the list is part of the configuration of another codec; in
        an argument of a new array, such a list can omit the array -> bytes codec.
        """
        codecs = tuple(
            create_extension("codec", definition, location.at(f"/{number}"))
            for number, definition in enumerate(definitions)
        )
        chain = cls(tuple(definitions), codecs)
        complete = location.store is not None or must_be_complete()
        chain._check_order(location, complete=complete)
        return chain

    @classmethod
    def of(
        cls,
        *items: ExtensionDefinition | Codec | str,
        location: Location = NO_LOCATION,
        complete: bool = True,
    ) -> CodecChain:
        """Create a chain for a new array, from definitions, names or codecs.

        The constructors of the codecs and :meth:`complete` add what definitions omit.  Without
        ``complete``, the array -> bytes codec can be missing.
        """
        definitions = tuple(codec_definition(item) for item in items)
        codecs = tuple(
            item
            if isinstance(item, Codec)
            else create_extension("codec", definition, location.at(f"/{number}"), complete=False)
            for number, (item, definition) in enumerate(zip(items, definitions, strict=True))
        )
        chain = cls(definitions, codecs)
        chain._check_order(location, complete=complete)
        return chain

    @property
    def ignored(self) -> tuple[ExtensionDefinition, ...]:
        """Ignored codecs, including those inside other codecs."""
        here = [d for d, codec in zip(self.definitions, self.codecs, strict=True) if codec is None]
        for codec in self.codecs:
            here += () if codec is None else codec.ignored
        return tuple(here)

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """The byte order of the stored elements, if the array -> bytes codec has one."""
        return next((c.byte_order for c in self.codecs if isinstance(c, ArrayToBytesCodec)), None)

    def complete(self, decoded: ArrayRepresentation) -> CodecChain:
        """The chain of a new array: with an array -> bytes codec, and all that depends on the chunk."""
        definitions, codecs = [], []
        items = [*zip(self.definitions, self.codecs, strict=True)]
        if not any(isinstance(codec, ArrayToBytesCodec) for codec in self.codecs):
            serialized = decoded
            for definition, codec in items:
                if isinstance(codec, ArrayToArrayCodec):
                    serialized = encoded_representation(codec, definition.name, serialized)
            default = serialized.data_type.default_serializer()
            compressors = (
                number
                for number, codec in enumerate(self.codecs)
                if isinstance(codec, BytesToBytesCodec)
            )
            position = next(compressors, len(items))
            items.insert(position, (default, create_extension("codec", default, complete=False)))
        for definition, codec in items:
            completed = codec
            if codec is not None:
                name = definition.name
                completed = codec_calls.query(name, Codec, codec.complete, decoded)
                configuration = codec_calls.query(name, Mapping, completed.to_configuration)
                if not identical(dict(configuration), dict(definition.configuration)):
                    definition = replace(definition, configuration=configuration, spelling=None)
            if isinstance(completed, ArrayToArrayCodec):
                decoded = encoded_representation(completed, definition.name, decoded)
            definitions.append(definition)
            codecs.append(completed)
        return CodecChain(tuple(definitions), tuple(codecs))

    def prepend(
        self, definition: ExtensionDefinition, codec: ArrayToArrayCodec | None
    ) -> CodecChain:
        """The chain with an additional first codec, array -> array; unchanged if it is None."""
        if codec is None:
            return self
        return CodecChain((definition, *self.definitions), (codec, *self.codecs))

    def prepare(self, decoded: ArrayRepresentation) -> PreparedCodecChain:
        """Prepare the codecs for all chunks of one shape, which they must support."""
        pairs = zip(self.definitions, self.codecs, strict=True)
        codecs = [(definition.name, codec) for definition, codec in pairs if codec is not None]
        return PreparedCodecChain(codecs, decoded)

    def _check_order(self, location: Location, *, complete: bool) -> None:
        kinds = list(CODEC_KINDS)
        pairs = zip(self.definitions, self.codecs, strict=True)
        ranks = [
            (definition.name, rank)
            for definition, codec in pairs
            for rank, kind in enumerate(kinds)
            if isinstance(codec, kind)
        ]
        order = [rank for _, rank in ranks]
        if order != sorted(order) or order.count(1) > 1 or (complete and not order.count(1)):
            names = ", ".join(f"{name} ({CODEC_KINDS[kinds[rank]]})" for name, rank in ranks)
            text = str(location)
            raise CodecChainError(
                f"{text and f'{text}: '}codecs must be any array -> array codecs, then exactly one "
                f"array -> bytes codec, then any bytes -> bytes codecs; here: {names or 'none'}"
            )


def codec_definition(item: ExtensionDefinition | Codec | str) -> ExtensionDefinition:
    """The definition of a codec in any form."""
    if isinstance(item, Codec):
        # Classes that wrap those of other libraries have no entry point.
        name = getattr(item, "registered_name", None) or name_of("codec", type(item))
        return ExtensionDefinition(name, codec_calls.query(name, Mapping, item.to_configuration))
    return ExtensionDefinition(item) if isinstance(item, str) else item


def encoded_representation(
    codec: ArrayToArrayCodec, name: str, decoded: ArrayRepresentation
) -> ArrayRepresentation:
    """The result of an array -> array codec; raises CodecChainError for unsupported input."""
    try:
        encoded = codec.encoded_representation(decoded)
        if not isinstance(encoded, ArrayRepresentation):
            raise TypeError(f"encoded_representation returned {encoded!r}")
    except BaseException as error:
        raise _refused(name, decoded, error) from error
    settings = (decoded.write_empty_chunks, decoded.missing_is_error)
    if (encoded.write_empty_chunks, encoded.missing_is_error) != settings:  # codecs ignore them
        encoded = replace(encoded, write_empty_chunks=settings[0], missing_is_error=settings[1])
    return encoded


def _refused(name: str, decoded: ArrayRepresentation, error: BaseException) -> CodecChainError:
    if not is_ordinary_error(error) or (
        isinstance(error, ZarrError) and not isinstance(error, ValueError)
    ):
        raise error
    return CodecChainError(
        f"the codec {name!r} does not support chunks of shape {decoded.shape} and data type "
        f"{decoded.data_type.to_definition().name}: {reason(error)}"
    )


class PreparedCodecChain:
    """Codecs for chunks of one shape.

    Parameters
    ----------
    codecs : sequence of (str, Codec)
        Names and codecs, in the order of encoding.
    decoded : ArrayRepresentation
        The decoded chunk.

    Attributes
    ----------
    decoded, dtype : ArrayRepresentation, dtype
        The decoded chunk, and the dtype of its elements.
    names, array_to_array, array_to_bytes, bytes_to_bytes
        The names of all codecs, and the codecs by kind.
    is_fill : callable
        Whether all elements of an array are the fill value.
    encoded_size : int or None
        Bytes of an encoded chunk; None if the size depends on the content.
    max_encoded_size : int
        Largest size of an encoded chunk that is read, in bytes.
    memory_dtype : dtype or None
        The dtype of the output of the array -> bytes codec, if that is an array in memory.
    is_raw : bool
        Whether an encoded chunk is the memory of the chunk, byte for byte.
    has_memory_layout : bool
        Whether the bytes -> bytes codecs, if there are any, decode to the elements as they are in
        memory, except for the byte order.
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
    max_concurrency : int or None
        Maximum number of concurrent calls, if a codec waits.
    inner_chunk_nbytes : int or None
        Decoded bytes that a codec processes at once: of an inner chunk if there are any.
    inner_chunk_count : int
        Number of inner chunks in a chunk; 1 if there are none.
    """

    def __init__(self, codecs: Sequence[tuple[str, Codec]], decoded: ArrayRepresentation) -> None:
        self._codecs = tuple(codecs)
        self.names = tuple(name for name, _ in codecs)
        self.decoded = decoded
        self.dtype = decoded.data_type.numpy_dtype
        nbytes = decoded.nbytes or 0
        if nbytes > sys.maxsize:
            raise CodecChainError(
                f"chunks of shape {decoded.shape} take {nbytes} bytes, more than can be addressed"
            )
        self.is_fill = fill_test(decoded.fill_value)
        # Name and codec, each with the representations that it converts from and to.
        self._array_to_array: list[
            tuple[str, ArrayToArrayCodec, ArrayRepresentation, ArrayRepresentation]
        ] = []
        bytes_to_bytes: list[tuple[str, BytesToBytesCodec]] = []
        last = decoded
        for name, codec in codecs:
            if isinstance(codec, ArrayToArrayCodec):
                encoded = encoded_representation(codec, name, last)
                self._array_to_array.append((name, codec, last, encoded))
                last = encoded
            elif isinstance(codec, ArrayToBytesCodec):
                self._serializer_name, self.array_to_bytes = name, codec
                try:
                    codec.check(last)
                except BaseException as error:
                    raise _refused(name, last, error) from error
            elif isinstance(codec, BytesToBytesCodec):
                prepared = codec_calls.query(name, BytesToBytesCodec, codec.prepare, last)
                bytes_to_bytes.append((name, prepared))
        if not hasattr(self, "array_to_bytes"):
            raise CodecChainError("a codec chain requires exactly one array -> bytes codec")
        self._serialized = last  # what the array -> bytes codec encodes
        self.array_to_array = tuple(codec for _, codec, _, _ in self._array_to_array)
        self.bytes_to_bytes = tuple(codec for _, codec in bytes_to_bytes)
        self._prepare_sizes(bytes_to_bytes)
        self._prepare_decoding()
        self._prepare_inner_chunks()

    def _prepare_sizes(self, bytes_to_bytes: Sequence[tuple[str, BytesToBytesCodec]]) -> None:
        """Follow the size of the bytes through the codecs, as far as the metadata determine it."""
        last, serializer, name = self._serialized, self.array_to_bytes, self._serializer_name
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
        self._bytes_encoders, self._bytes_decoders = tuple(encoders), tuple(reversed(decoders))
        self.encoded_size = size
        self.max_encoded_size = max_encoded_nbytes(known, last.size) if size is None else size
        # Compressors may add a little to incompressible data.
        nbytes = self.decoded.nbytes or 0
        self.read_buffer_size = size if size is not None else nbytes + (nbytes >> 4) + 1024

    def _prepare_decoding(self) -> None:
        """Decide what has to be done to decode a chunk, or a part of it."""
        # A byte other than 0 and 1 is not a bool, but NumPy would compute with it.
        self._is_boolean = self.memory_dtype is not None and self.memory_dtype.kind == "b"
        in_memory = self.memory_dtype is not None and not self.array_to_array
        self._is_in_place = in_memory and self.memory_dtype == self.dtype
        self.has_memory_layout = in_memory and not self._is_boolean
        self.is_raw = self._is_in_place and self.has_memory_layout and not self.bytes_to_bytes
        serializer, last = self.array_to_bytes, self._serialized
        self._partial: Any = None  # the array -> bytes codec if it supports partial decoding
        if isinstance(serializer, PartialDecodeCodec) and not self.bytes_to_bytes:
            name = self._serializer_name
            if codec_calls.query(name, bool, serializer.supports_partial, last):
                self._partial = serializer
        self.supports_partial_encode = isinstance(self._partial, PartialEncodeCodec)
        # A small chunk is read as a whole, since each further read takes as long as many KiB.  Shards
        # are divided at any size: whole ones would be decoded and encoded for every change of a part.
        is_small = (self.decoded.nbytes or 0) <= _MIN_PARTIAL_NBYTES
        if is_small and not self.supports_partial_encode:
            self._partial = None
        self.prefers_partial_decode = self._partial is not None
        self.prefetch = None if self._partial is None else self._partial.prefetch(last)

    def _prepare_inner_chunks(self) -> None:
        """Find the codecs of inner chunks, and what they and all others have in common."""
        serializer = self.array_to_bytes
        inner: PreparedCodecChain | None = None
        if isinstance(serializer, SubchunkCodec) and not self.array_to_array:
            chain = serializer.inner_codecs(self._serialized)
            if not isinstance(chain, PreparedCodecChain):
                raise TypeError(f"inner_codecs returned {chain!r}, not a PreparedCodecChain")
            inner = chain
        self.inner_codecs = inner
        # If missing inner chunks are errors, only the selected ones of a compressed shard are decoded.
        self._decompressed: PreparedCodecChain | None = None
        is_shard = isinstance(serializer, SubchunkCodec)
        if is_shard and self.decoded.missing_is_error and self.bytes_to_bytes:
            decompressed = self._codecs[: -len(self.bytes_to_bytes)]
            self._decompressed = PreparedCodecChain(decompressed, self.decoded)
        self.inner_chunk_nbytes: int | None = (
            self.decoded.nbytes if inner is None else inner.inner_chunk_nbytes
        )
        self.inner_chunk_count = (self.decoded.nbytes or 1) // (self.inner_chunk_nbytes or 1) or 1
        codecs = [*self.array_to_array, serializer, *self.bytes_to_bytes]
        limits = [codec.max_concurrency for codec in codecs]
        limits.append(None if inner is None else inner.max_concurrency)
        self.max_concurrency: int | None = max(
            (limit for limit in limits if limit is not None), default=None
        )

    def with_settings(self, **settings: Any) -> PreparedCodecChain:
        """The same codecs with other settings of the :class:`ArrayRepresentation`."""
        return PreparedCodecChain(self._codecs, replace(self.decoded, **settings))

    @cached_property
    def full_selection(self) -> BasicIndexer:
        """The selection of a whole chunk."""
        return BasicIndexer(tuple(slice(0, length, 1) for length in self.decoded.shape))

    @cached_property
    def order(self) -> Literal["C", "F"]:
        """Whether elements along the last dimension of a chunk are contiguous, or the first."""
        order = inner_order(self)
        is_reversed = order is not None and order == (*range(len(order)),)[::-1]
        return "F" if is_reversed and len(self.decoded.shape) > 1 else "C"

    # --- decoding ---

    def check_size(self, size: int) -> None:
        """Raise a ChunkDecodeError if an encoded chunk of this size is damaged."""
        if self.encoded_size is not None and size != self.encoded_size:
            raise ChunkDecodeError(f"{size} bytes instead of {self.encoded_size}")
        if size > self.max_encoded_size:
            raise ChunkDecodeError(codec_calls.too_large(size, self.max_encoded_size))

    def decode(self, data: Buffer) -> Array:
        """Decode the bytes of a chunk; the result may be a view of them."""
        return self._decode_array(self.decode_bytes(data))

    def decode_bytes(self, data: Buffer) -> Buffer:
        """Decode with the bytes -> bytes codecs alone."""
        for name, codec, size, limit in self._bytes_decoders:
            data = codec_calls.decode_bytes(name, codec, data, size, limit)
        return data

    def decode_bytes_into(self, data: Buffer, out: memoryview) -> None:
        """Decode with the bytes -> bytes codecs into memory of exactly the decoded size.

        Only if there are such codecs, and :attr:`memory_dtype` is not None.
        """
        decoders = self._bytes_decoders
        for name, codec, size, limit in decoders[:-1]:
            data = codec_calls.decode_bytes(name, codec, data, size, limit)
        name, codec, _, _ = decoders[-1]
        codec_calls.call(ChunkDecodeError, name, codec.decode_into, data, out)

    def decode_into(self, data: Buffer, out: Array, selection: AnySelection | None = None) -> None:
        """Decode a chunk, or the selected elements, into an array of that shape and any strides."""
        if self._decompressed is not None and self._decompressed.prefers_partial_decode:
            reader = BufferByteReader(self.decode_bytes(data))
            part = self.full_selection if selection is None else selection
            self._decompressed.partial_decode(reader, part, out)
        # Without compression, or if the size is unknown: an array, perhaps of the stored bytes, from
        # which elements are copied.
        elif not self.bytes_to_bytes or self.memory_dtype is None:
            array = self.decode(data)
            out[...] = array if selection is None else take(array, selection)
        # The decompressed bytes are the elements of the result, ...
        elif selection is None and self._is_in_place and out.flags.c_contiguous:
            octets = out.reshape(-1).view(_UINT8)
            self.decode_bytes_into(data, octets.data)
            if self._is_boolean:
                _check_booleans(octets)
        # ... or are decoded further in memory that is reused.
        else:
            with Scratch(self._serialized.nbytes or 0) as buffer:
                self.decode_bytes_into(data, buffer)
                array = self._decode_array(buffer)
                out[...] = array if selection is None else take(array, selection)

    def partial_decode(self, reader: ByteReader, selection: AnySelection, out: Array) -> None:
        """Decode a part of a stored chunk, reading no more than needed.

        Only if :attr:`prefers_partial_decode`.  ``out`` has the shape of the selection.
        """
        if self.encoded_size is not None:
            self.check_size(reader.size)
        encoded_part = self._encoded_part(selection, out)
        if encoded_part is None:  # a filter needs the whole chunk
            self.check_size(reader.size)
            self.decode_into(reader.read(0, reader.size), out, selection)
            return
        name = self._serializer_name
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
        with Scratch(reader.size) as buffer:
            reader.read_into([(0, buffer)])
            self.decode_into(buffer, array)
        return array

    def _decode_array(self, data: Buffer) -> Array:
        """Decode the bytes of the array -> bytes codec."""
        last = self._serialized
        name, serializer = self._serializer_name, self.array_to_bytes
        if self.memory_dtype is None:
            array: Array = codec_calls.decode_array(name, serializer, data, last)
        elif len(data) != last.nbytes:
            raise ChunkDecodeError(f"{len(data)} bytes instead of {last.nbytes}", name)
        else:
            array = np.ndarray(last.shape, self.memory_dtype, data)
            if self._is_boolean:
                _check_booleans(array.view(_UINT8))
            if self._array_to_array and not self.memory_dtype.isnative:
                array = array.astype(self.memory_dtype.newbyteorder("="))
        for name, codec, decoded, _ in reversed(self._array_to_array):
            array = codec_calls.decode_array(name, codec, array, decoded)
        return array

    # --- encoding ---

    def encode(self, array: Array, memory: memoryview | None = None) -> Buffers | None:
        """Encode a chunk with any strides; None for an empty chunk that is not stored.

        ``memory`` of ``decoded.nbytes`` may be used for a copy.  The result may be a view of it, or
        of ``array``.
        """
        if not self.decoded.write_empty_chunks and self.is_fill(array):
            return None
        if self._array_to_array or self.memory_dtype is None:
            # Codecs must not change it: it may be a view of the user's array.
            array = array.view()
            array.flags.writeable = False
        for name, codec, decoded, encoded in self._array_to_array:
            array = codec_calls.encode(name, codec, array, decoded, encoded)
        if self.memory_dtype is None:
            buffers = codec_calls.encode_elements(
                self._serializer_name, self.array_to_bytes, array, self._serialized
            )
            if not self.bytes_to_bytes or buffers is None:
                return buffers
            data = buffers if isinstance(buffers, codec_calls.BUFFERS) else b"".join(buffers)
        else:
            data = self._memory_of(array, memory)
        for bytes_name, compressor, decoded_size, encoded_size in self._bytes_encoders:
            view = memoryview(data).toreadonly()
            data = codec_calls.encode(bytes_name, compressor, view, decoded_size, encoded_size)
        return data

    def partial_encode(
        self, reader: ByteReader | None, selection: AnySelection, value: Array
    ) -> Buffers | None:
        """Encode a stored or missing chunk with new elements in a part.

        Only if :attr:`supports_partial_encode`.
        """
        encoded_part = self._encoded_part(selection, value)
        if encoded_part is None:  # a filter needs the whole chunk
            array = self.read_whole(reader)
            put(array, selection, value)
            return self.encode(array)
        name = self._serializer_name
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

    def _encoded_part(self, selection: AnySelection, part: Array) -> tuple[Selection, Array] | None:
        """The part of the input of the array -> bytes codec that encodes a part of the chunk.

        None if it needs the whole chunk.
        """
        if isinstance(selection, MaskIndexer):
            selection = selection.to_coordinates()
        for codec in self.array_to_array:
            encoded = codec.encoded_part(selection, part)
            if encoded is None:
                return None
            selection, part = encoded
        return selection, part


def _check_booleans(octets: Array) -> None:
    """Raise an error for bytes that are not bools; NumPy would compute with them."""
    if octets.size and octets.max() > 1:
        raise ChunkDecodeError(f"the byte {octets.max()} is not a bool; only 0 and 1 are", "bytes")


def inner_order(codecs: PreparedCodecChain) -> tuple[int, ...] | None:
    """The dimensions of a chunk, or inner chunk, in the order in which they are stored.

    The last one is contiguous.  None if it is unknown, because a filter changes the shape of
    chunks in another way than a permutation.
    """
    decoded = codecs.decoded
    if not codecs.array_to_array and not isinstance(codecs.array_to_bytes, SubchunkCodec):
        return (*range(len(decoded.shape)),)
    # The codecs permute these lengths, which all differ.
    lengths = (*range(2, 2 + len(decoded.shape)),)
    probe = replace(decoded, shape=lengths)
    try:
        for codec in codecs.array_to_array:
            probe = codec.encoded_representation(probe)
            decoded = codec.encoded_representation(decoded)
    except ValueError:
        return None
    if sorted(probe.shape) != [*lengths]:
        return None
    order = tuple(length - 2 for length in probe.shape)
    if not isinstance(codecs.array_to_bytes, SubchunkCodec):
        return order
    chain = codecs.array_to_bytes.inner_codecs(decoded)
    inner = inner_order(chain) if isinstance(chain, PreparedCodecChain) else None
    return None if inner is None else tuple(order[dimension] for dimension in inner)
