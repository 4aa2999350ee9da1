"""Codecs: from the elements of a chunk to the bytes that are stored.

Specification: v3.1, "Chunk encoding".  A codec is one of three kinds; an author
subclasses the one that fits, as a frozen data class whose fields are the members
of the configuration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.engine.bound import BoundChain
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.value import ByteRange, ValueReader
    from zarr_core.selection.normalised import Selection

Buffer: TypeAlias = "bytes | bytearray | memoryview"
"""Contiguous bytes.  A memoryview has format ``B``."""


@dataclass(frozen=True, eq=False)
class ArrayRepresentation:
    """Shape and data type of a chunk between two codecs (v3.1, "decoded representation").

    Parameters
    ----------
    shape : tuple of int
        Shape of the chunk, in elements.
    data_type : DataType
        Data type of its elements.
    fill_value : ndarray, shape ()
        What elements are that were never written.
    keep_empty : bool
        Whether a chunk that holds nothing but the fill value is stored all the same.

    Notes
    -----
    Compared and hashed by identity: one object stands for all chunks of one
    shape, so codecs may remember what they derived from it.
    """

    shape: tuple[int, ...]
    data_type: DataType
    fill_value: np.ndarray[Any, Any]
    keep_empty: bool = False

    @cached_property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @cached_property
    def nbytes(self) -> int | None:
        """Bytes that the elements take, or None if that depends on their values."""
        item_size = self.data_type.item_size
        return None if item_size is None else self.size * item_size


class Codec(ABC):  # noqa: B024 - its three kinds have the methods
    """What the three kinds of codec share."""

    __slots__ = ()

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the codec that a definition describes.

        The configuration was checked against the codec's schema before.  By
        default its members are the arguments of the class.

        Raises
        ------
        ValueError, TypeError
            If the configuration is refused for a reason that a schema cannot say.
        """
        return cls(**definition.configuration)

    def to_configuration(self) -> dict[str, JSON]:
        """The configuration to write: by default the fields of the data class that are not None.

        Raises
        ------
        TypeError
            If the class is no data class, and is made from arguments.
        """
        found: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        if not found and signature(type(self)).parameters:
            raise TypeError(
                f"{type(self).__name__} does not say its configuration: make it a data class "
                "whose fields are the arguments, or define to_configuration"
            )
        values = ((field.name, getattr(self, field.name)) for field in found if field.init)
        return {name: value for name, value in values if value is not None}

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Fill in what depends on the chunk, when a new array is made.

        What is chosen here is recorded in the metadata.  Called once, with the
        representation that the codec will be given to encode.  For a bytes to
        bytes codec it is that of the array to bytes codec before it.
        """
        return self


class ArrayToArrayCodec(Codec):
    """A codec from arrays to arrays, such as ``transpose``."""

    __slots__ = ()

    @abstractmethod
    def encoded_representation(self, decoded: ArrayRepresentation) -> ArrayRepresentation:
        """What comes out of :meth:`encode` for what goes in.

        Raises
        ------
        ValueError
            If the codec does not support the representation.
        """

    @abstractmethod
    def encode(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Encode a chunk; may return a view of it, must not change it."""

    @abstractmethod
    def decode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> np.ndarray[Any, Any]:
        """Decode a chunk to representation ``decoded``; may return a view, must not change it."""

    def encoded_part(
        self, selection: Selection, part: np.ndarray[Any, Any]
    ) -> tuple[Selection, np.ndarray[Any, Any]] | None:
        """Where a part of the decoded chunk lies in the encoded one.

        Parameters
        ----------
        selection : Selection
            A part of the decoded chunk.
        part : ndarray
            Memory for the elements of that part.

        Returns
        -------
        tuple of (Selection, ndarray) or None
            The same elements as a part of the encoded chunk, and a view of
            ``part`` in that arrangement.  None if there is no such
            correspondence; chunks are then always handled whole.
        """
        return None


class ArrayToBytesCodec(Codec):
    """A codec from arrays to bytes, such as ``bytes`` or ``sharding_indexed``."""

    __slots__ = ()

    supports_parts = False
    """Whether :meth:`decode_part` and :meth:`encode_part` are there."""

    decodes_parts = False
    """Whether :meth:`decode_part` is there."""

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """The byte order of the stored elements, if the configuration says one.

        Where chunks are encoded by codecs inside of this one, it is theirs.
        """
        return None

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse what the codec cannot encode, when an array is opened or made.

        Raises
        ------
        ValueError
            If the codec does not support the representation.
        """
        return

    def encoded_size(self, decoded: ArrayRepresentation) -> int | None:
        """Bytes that :meth:`encode` gives, or None if that depends on the values."""
        return None

    @abstractmethod
    def encode(
        self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation
    ) -> Buffer | Sequence[Buffer] | None:
        """Encode a chunk.

        Returns
        -------
        Buffer, sequence of Buffer, or None
            The bytes, or several pieces that are stored one after the other, or
            None for a chunk that need not be stored because a missing one
            decodes to the same.
        """

    @abstractmethod
    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Decode a chunk; may return a view of ``data``.

        Raises
        ------
        ChunkDecodeError
            If the bytes are not those of such a chunk.
        """

    def memory_dtype(self, decoded: ArrayRepresentation) -> np.dtype[Any] | None:
        """The dtype with which the encoded bytes are the chunk's memory in C order, if they are.

        The engine then decodes straight into arrays, without calling :meth:`decode`.
        """
        return None

    def inner_chain(self, decoded: ArrayRepresentation) -> BoundChain | None:
        """The codecs of the smaller chunks that this codec cuts its chunk into, if it does."""
        return None

    def inner_sizes(
        self, reader: ValueReader, decoded: ArrayRepresentation
    ) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        """Stored bytes of each of the smaller chunks, without reading those.

        Parameters
        ----------
        reader : ValueReader
            The stored bytes.
        decoded : ArrayRepresentation
            The whole chunk.

        Returns
        -------
        ndarray of int64 or None
            An item for each smaller chunk, in the grid that they form; -1 for one that is
            not stored.  None if the codec cannot tell, or has none.

        Raises
        ------
        ChunkDecodeError
            If what says so is damaged.
        """
        return None

    def read_first(self, decoded: ArrayRepresentation) -> ByteRange | None:
        """What :meth:`decode_part` reads before all else, such as an index; None if that depends.

        A store with latency fetches it with the request that finds the value.
        """
        return None

    def decode_part(
        self,
        reader: ValueReader,
        decoded: ArrayRepresentation,
        selection: Selection,
        out: np.ndarray[Any, Any],
    ) -> None:
        """Decode a part of a stored chunk, reading no more of it than needed.

        Parameters
        ----------
        reader : ValueReader
            The stored bytes.
        decoded : ArrayRepresentation
            The whole chunk.
        selection : Selection
            The part, within the chunk.
        out : ndarray
            Receives the elements; has the shape of the selection.
        """
        raise TypeError(f"{type(self).__name__} does not decode parts")

    def encode_part(
        self,
        reader: ValueReader | None,
        decoded: ArrayRepresentation,
        selection: Selection,
        value: np.ndarray[Any, Any],
    ) -> Buffer | Sequence[Buffer] | None:
        """Encode a chunk of which a part is new, keeping the rest as it is stored.

        Parameters
        ----------
        reader : ValueReader or None
            What is stored now; None if nothing is.
        decoded : ArrayRepresentation
            The whole chunk.
        selection : Selection
            The part, within the chunk.
        value : ndarray
            New elements; has the shape of the selection.

        Returns
        -------
        Buffer, sequence of Buffer, or None
            As :meth:`encode`.
        """
        raise TypeError(f"{type(self).__name__} does not encode parts")


class BytesToBytesCodec(Codec):
    """A codec from bytes to bytes, such as a compressor or a checksum."""

    __slots__ = ()

    @property
    def detects_damage(self) -> bool:
        """Whether decoding notices any change of the encoded bytes, by a checksum."""
        return False

    def encoded_size(self, decoded_size: int) -> int | None:
        """Bytes that :meth:`encode` gives, or None if that depends on the content."""
        return None

    @abstractmethod
    def encode(self, data: Buffer) -> Buffer:
        """Encode; must not change ``data``, may return a view of it."""

    @abstractmethod
    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decode.

        Parameters
        ----------
        data : Buffer
            Encoded bytes.
        decoded_size : int or None
            How many bytes must come out, as the metadata promises; None if it
            cannot be known.  Decoders must not allocate more than that, whatever
            the data claims.

        Raises
        ------
        ChunkDecodeError
            If ``data`` is not what :meth:`encode` gives.
        """

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decode into memory of exactly the decoded size.

        Parameters
        ----------
        data : Buffer
            Encoded bytes.
        out : memoryview
            Writable, contiguous, format ``B``; its length is the decoded size.
            Its content is undefined after an error.

        Raises
        ------
        ChunkDecodeError
            If ``data`` is damaged or does not decode to exactly that length.
        """
        from zarr_core.errors import ChunkDecodeError  # noqa: PLC0415 - only to raise

        decoded = self.decode(data, len(out))
        if len(decoded) != len(out):
            raise ChunkDecodeError(f"decodes to {len(decoded)} bytes instead of {len(out)}")
        out[:] = decoded
