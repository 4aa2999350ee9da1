"""Codecs: from the elements of a chunk to the bytes that are stored.

Specification: v3.1, "Chunk encoding".  Authors derive a frozen data class from one of the
three kinds of codecs; its fields are the members of the configuration.  All kinds have
``encode(value, decoded)`` and ``decode(value, decoded)``, where ``decoded`` describes the
decoded value: an :class:`ArrayRepresentation`, or a size in bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cached_property
from inspect import signature
from math import prod
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.interfaces.byte_reader import Buffer, ByteRange, ByteReader
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.selection import Selection


@dataclass(frozen=True, eq=False)
class ArrayRepresentation:
    """Shape and data type of a chunk between two codecs (v3.1, "decoded representation").

    Compared and hashed by identity: one object describes all chunks of one shape, so a codec can
    cache values that it derives from it.

    Parameters
    ----------
    shape : tuple of int
        Shape of the chunk, in elements.
    data_type : DataType
        Data type of its elements.
    fill_value : ndarray, shape ()
        Value of elements that were never written.
    write_empty_chunks : bool
        Whether empty chunks are stored.
    missing_is_error : bool
        Whether a codec that divides chunks, such as ``sharding_indexed``, raises
        :class:`zarr_core.errors.MissingChunkError` for a selected inner chunk that is not stored.
        Only when reading: a chunk that is changed may lack inner chunks.
    """

    shape: tuple[int, ...]
    data_type: DataType
    fill_value: np.ndarray[Any, Any]
    write_empty_chunks: bool = False
    missing_is_error: bool = False

    @cached_property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @cached_property
    def nbytes(self) -> int | None:
        """Size of the elements in bytes, or None if it depends on their values."""
        item_size = self.data_type.item_size
        return None if item_size is None else self.size * item_size


class Codec(ABC):  # noqa: B024 - the kinds have the methods
    """Base class of the three kinds of codecs."""

    __slots__ = ()

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Create the codec of a definition, whose configuration was validated with its schema.

        By default the members of the configuration are the arguments of the class.

        Raises
        ------
        ValueError, TypeError
            If the configuration is invalid for a reason that a schema cannot express.
        """
        return cls(**definition.configuration)

    def to_configuration(self) -> dict[str, JSON]:
        """The configuration in metadata: by default the fields of the data class that are not None.

        Raises
        ------
        TypeError
            If the class has arguments and is not a data class.
        """
        members: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        if not members and signature(type(self)).parameters:
            raise TypeError(
                f"{type(self).__name__} does not define its configuration: use a data class "
                "whose fields are the arguments, or define to_configuration"
            )
        values = ((field.name, getattr(self, field.name)) for field in members if field.init)
        return {name: value for name, value in values if value is not None}

    @property
    def ignored(self) -> tuple[ExtensionDefinition, ...]:
        """Unknown codecs within this codec that are ignored: ``must_understand`` is false."""
        return ()

    @property
    def max_concurrency(self) -> int | None:
        """Maximum number of concurrent calls, if the codec waits, for example for a service.

        None for a codec that uses the processor all the time.
        """
        return None

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Fill in parameters that depend on the chunk, when an array is created.

        The metadata records them.  Called once, with the representation that the codec encodes;
        for a bytes to bytes codec, that of the array to bytes codec.
        """
        return self


class ArrayToArrayCodec(Codec):
    """A codec from arrays to arrays, such as ``transpose``."""

    __slots__ = ()

    @abstractmethod
    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """Representation of the result of :meth:`encode`.

        Raises
        ------
        ValueError
            If the codec does not support the representation.
        """

    @abstractmethod
    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Encode a chunk of representation ``decoded``; may return a view, must not change it."""

    @abstractmethod
    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Decode a chunk to representation ``decoded``; may return a view, must not change it."""

    def encoded_part(
        self, selection: Selection, part: np.ndarray[Any, Any]
    ) -> tuple[Selection, np.ndarray[Any, Any]] | None:
        """The part of the encoded chunk that contains a part of the decoded chunk.

        Parameters
        ----------
        selection : Selection
            A part of the decoded chunk.
        part : ndarray
            Memory for the elements of that part.

        Returns
        -------
        tuple of (Selection, ndarray) or None
            The same elements as a part of the encoded chunk, and a view of ``part`` in that
            arrangement.  None if there is no such part; chunks are then decoded and encoded whole.
        """
        return None


class ArrayToBytesCodec(Codec):
    """A codec from arrays to bytes, such as ``bytes``.

    A codec that can decode or encode parts of a chunk also derives from
    :class:`PartialDecodeCodec` or :class:`PartialEncodeCodec`; one that divides chunks, from
    :class:`SubchunkCodec`.
    """

    __slots__ = ()

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """Byte order of the stored elements, if the configuration determines it.

        If this codec contains other codecs that encode the chunks, it is their byte order.
        """
        return None

    def check(self, decoded: ArrayRepresentation) -> None:
        """Check that the codec supports a representation, when an array is opened or created.

        Raises
        ------
        ValueError
            If the codec does not support it.
        """
        return

    def encoded_size(self, decoded: ArrayRepresentation) -> int | None:
        """Size of the encoded chunk in bytes, or None if it depends on the values."""
        return None

    def memory_dtype(self, decoded: ArrayRepresentation) -> np.dtype[Any] | None:
        """Data type of the chunk in memory, if the encoded bytes are its memory.

        The engine then decodes directly into arrays, without calling :meth:`decode`.
        """
        return None

    @abstractmethod
    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> Buffer | Sequence[Buffer] | None:
        """Encode a chunk.

        Returns
        -------
        Buffer, sequence of Buffer, or None
            The bytes, or several buffers that are stored one after the other.  None if the chunk
            need not be stored, because a missing chunk decodes to the same.
        """

    @abstractmethod
    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Decode a chunk; may return a view of ``data``.

        Raises
        ------
        ChunkDecodeError
            If the bytes are not a valid chunk.
        """


class PartialDecodeCodec(ArrayToBytesCodec):
    """An array to bytes codec that can decode a part of a chunk."""

    __slots__ = ()

    def supports_partial(self, decoded: ArrayRepresentation) -> bool:
        """Whether the codec can decode, and encode, parts of such chunks; called once per array.

        Override it if this depends on the configuration or on the chunk.
        """
        return True

    def prefetch(self, decoded: ArrayRepresentation) -> ByteRange | None:
        """Byte range that :meth:`partial_decode` reads first, such as an index; None if it varies.

        A store with high latency reads it in the request that opens the value.
        """
        return None

    @abstractmethod
    def partial_decode(
        self,
        reader: ByteReader,
        decoded: ArrayRepresentation,
        selection: Selection,
        out: np.ndarray[Any, Any],
    ) -> None:
        """Decode a part of a stored chunk, reading only the required bytes.

        Parameters
        ----------
        reader : ByteReader
            The stored bytes.
        decoded : ArrayRepresentation
            The whole chunk.
        selection : Selection
            The part, within the chunk.
        out : ndarray
            Receives the elements; has the shape of the selection.
        """


class PartialEncodeCodec(PartialDecodeCodec):
    """An array to bytes codec that can decode and encode a part of a chunk."""

    __slots__ = ()

    @abstractmethod
    def partial_encode(
        self,
        reader: ByteReader | None,
        decoded: ArrayRepresentation,
        selection: Selection,
        value: np.ndarray[Any, Any],
    ) -> Buffer | Sequence[Buffer] | None:
        """Encode a chunk with new elements in a part of it; the rest keeps its stored bytes.

        Parameters
        ----------
        reader : ByteReader or None
            The stored bytes; None if the chunk is not stored.
        decoded : ArrayRepresentation
            The whole chunk.
        selection : Selection
            The part, within the chunk.
        value : ndarray
            New elements; has the shape of the selection.

        Returns
        -------
        Buffer, sequence of Buffer, or None
            As :meth:`ArrayToBytesCodec.encode`.  The sequence can contain the results of
            :meth:`ByteReader.reference`.
        """


class SubchunkCodec(ArrayToBytesCodec):
    """An array to bytes codec that divides chunks into inner chunks, as ``sharding_indexed``."""

    __slots__ = ()

    @abstractmethod
    def inner_codecs(self, decoded: ArrayRepresentation) -> object:
        """The codecs of the inner chunks: a ``PreparedCodecChain``."""

    def inner_chunk_sizes(
        self, reader: ByteReader, decoded: ArrayRepresentation
    ) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        """Stored sizes of the inner chunks in bytes, without reading the inner chunks.

        ``reader`` reads the stored bytes of the whole chunk, which ``decoded`` describes.

        Returns
        -------
        ndarray of int64 or None
            In the shape of the grid of inner chunks; -1 for an inner chunk that is not stored.
            None if the codec cannot determine the sizes.

        Raises
        ------
        ChunkDecodeError
            If the index of the inner chunks is damaged.
        """
        return None


class BytesToBytesCodec(Codec):
    """A codec from bytes to bytes, such as a compressor or a checksum."""

    __slots__ = ()

    def prepare(self, decoded: ArrayRepresentation) -> Self:
        """The codec for chunks of one shape; called when an array is opened or created.

        ``decoded`` is the representation that the array -> bytes codec encodes.  Override it if the
        encoded bytes depend on the shape or the data type, for example on the size of an element.

        Raises
        ------
        ValueError
            If the codec does not support the representation.
        """
        return self

    @property
    def detects_damage(self) -> bool:
        """Whether decoding detects any change of the encoded bytes, by a checksum."""
        return False

    def encoded_size(self, decoded_size: int) -> int | None:
        """Size of the encoded bytes, or None if it depends on the content."""
        return None

    @abstractmethod
    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Encode ``data`` without changing it; may return a view of it.

        ``decoded_size`` is its size in bytes if the metadata determines it; None if it depends on
        the values.
        """

    @abstractmethod
    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decode.

        Parameters
        ----------
        data : Buffer
            Encoded bytes.
        decoded_size : int or None
            Size of the result in bytes, as the metadata determines it; None if it depends on the
            values.  Decoders must not allocate more, whatever the data claims.

        Raises
        ------
        ChunkDecodeError
            If ``data`` is not a result of :meth:`encode`.
        """

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decode bytes whose decoded size depends on the values.

        A codec whose result can be much larger than ``data``, such as a compressor, should replace
        this method, so that a longer result uses no memory.

        Parameters
        ----------
        data : Buffer
            Encoded bytes.
        limit : int
            Largest size of the result in bytes.

        Returns
        -------
        Buffer or int
            The result; its size, or any number above ``limit``, if it is longer.

        Raises
        ------
        ChunkDecodeError
            If ``data`` is not a result of :meth:`encode`.
        """
        return self.decode(data, None)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decode into memory of exactly the decoded size.

        Parameters
        ----------
        data : Buffer
            Encoded bytes.
        out : memoryview
            Writable, contiguous, format ``B``.  Its content is undefined after an error.

        Raises
        ------
        ChunkDecodeError
            If ``data`` is damaged or does not decode to exactly ``len(out)`` bytes.
        """
        from zarr_core.errors import ChunkDecodeError

        decoded = self.decode(data, len(out))
        if len(decoded) != len(out):
            raise ChunkDecodeError(f"decodes to {len(decoded)} bytes instead of {len(out)}")
        out[:] = decoded
