"""A chain of codecs bound to the one shape of chunk that it encodes.

What depends on the metadata alone is worked out here once: sizes, dtypes, which
way is the shortest.  What is left for each chunk is a decoder's call and a copy.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine import calls
from zarr_core.engine.fill import fill_test
from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecChainError
from zarr_core.selection.projection import put, take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.codec import (
        ArrayRepresentation,
        ArrayToArrayCodec,
        ArrayToBytesCodec,
        Buffer,
        BytesToBytesCodec,
    )
    from zarr_core.interfaces.store import Pieces
    from zarr_core.interfaces.value import ValueReader
    from zarr_core.selection.normalised import Selection

    Array = np.ndarray[Any, Any]

_SIZE = (int, type(None))
_DTYPE = (np.dtype, type(None))
_OCTET = np.dtype(np.uint8)  # which takes NumPy a tenth of a microsecond to find
_ADDRESSABLE = sys.maxsize  # bytes
_PARTS_PAY = 1 << 17  # bytes; a smaller chunk is read faster in one piece


class BoundChain:
    """Encodes and decodes chunks of one shape.

    Parameters
    ----------
    before : sequence of (str, ArrayToArrayCodec)
        Names and codecs, in the order of encoding.
    middle : tuple of (str, ArrayToBytesCodec)
        The array -> bytes codec.
    after : sequence of (str, BytesToBytesCodec)
        The bytes -> bytes codecs.
    steps : sequence of ArrayRepresentation
        The chunk, and what each array -> array codec makes of it.

    Attributes
    ----------
    decoded : ArrayRepresentation
        The chunk.
    encoded_size : int or None
        Bytes of an encoded chunk, if that does not depend on its content.
    memory_dtype : dtype or None
        The dtype with which the bytes of the array -> bytes codec are elements in
        memory, if they are.
    is_memory : bool
        Whether an encoded chunk is the chunk's memory, byte for byte.
    is_plain : bool
        Whether the bytes before the bytes -> bytes codecs are the chunk's elements,
        as they are in memory but for the byte order.
    supports_parts : bool
        Whether a part can be read and written without the rest.
    reads_parts : bool
        Whether it also pays to read a part without the rest.
    room : int
        Bytes to provide for reading an encoded chunk.
    first : ByteRange or None
        What is read first, where parts are.
    """

    def __init__(
        self,
        before: Sequence[tuple[str, ArrayToArrayCodec]],
        middle: tuple[str, ArrayToBytesCodec],
        after: Sequence[tuple[str, BytesToBytesCodec]],
        steps: Sequence[ArrayRepresentation],
    ) -> None:
        self.decoded = steps[0]
        if (self.decoded.nbytes or 0) > _ADDRESSABLE:
            raise CodecChainError(
                f"chunks of shape {self.decoded.shape} take {self.decoded.nbytes} bytes, "
                "more than can be addressed"
            )
        self.dtype = self.decoded.data_type.numpy_dtype
        self._before = tuple(before)
        self._name, self._middle = middle
        self._steps = tuple(steps)
        self._last = steps[-1]
        name, last = self._name, self._last
        self.memory_dtype = calls.asked(name, _DTYPE, self._middle.memory_dtype, last)
        size = calls.asked(name, _SIZE, self._middle.encoded_size, last)
        do, undo = [], []
        for name, codec in after:
            undo.append((name, codec, size))
            size = None if size is None else calls.asked(name, _SIZE, codec.encoded_size, size)
            do.append((name, codec, size))
        self.encoded_size = size
        self._after = tuple(do)
        self._undo = tuple(reversed(undo))
        self._is_fill = fill_test(self.decoded.fill_value)
        # A byte other than 0 and 1 is no bool, and NumPy would compute with it.
        self._boolean = self.memory_dtype is not None and self.memory_dtype.kind == "b"
        self._straight = (
            not before and self.memory_dtype is not None and self.memory_dtype == self.dtype
        )
        self.is_memory = self._straight and not after and not self._boolean
        self.is_plain = self.memory_dtype is not None and not before and not self._boolean
        self.supports_parts = self._middle.supports_parts and not after
        nbytes = self.decoded.nbytes or 0
        self.reads_parts = self.supports_parts or (
            self._middle.decodes_parts and not after and nbytes > _PARTS_PAY
        )
        self.first = self._middle.read_first(self._last) if self.reads_parts else None
        # Compressors may add a little to what they cannot compress.
        self.room = size if size is not None else nbytes + (nbytes >> 4) + 1024

    def keeping_empty(self) -> BoundChain:
        """The same codecs, for storing also chunks that hold nothing but the fill value."""
        steps = [replace(step, keep_empty=True) for step in self._steps]
        after = [(name, codec) for name, codec, _ in self._after]
        return BoundChain(self._before, (self._name, self._middle), after, steps)

    @property
    def array_to_array(self) -> tuple[ArrayToArrayCodec, ...]:
        """The array -> array codecs."""
        return tuple(codec for _, codec in self._before)

    @property
    def array_to_bytes(self) -> ArrayToBytesCodec:
        """The array -> bytes codec."""
        return self._middle

    @property
    def bytes_to_bytes(self) -> tuple[BytesToBytesCodec, ...]:
        """The bytes -> bytes codecs."""
        return tuple(codec for _, codec, _ in self._after)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all codecs, in the order of encoding."""
        before, after = (tuple(item[0] for item in part) for part in (self._before, self._after))
        return (*before, self._name, *after)

    @cached_property
    def grain(self) -> int | None:
        """Decoded bytes that a codec handles at once: of an inner chunk if there are any."""
        inner = self.inner
        return self.decoded.nbytes if inner is None else inner.grain

    @property
    def pieces(self) -> int:
        """How many times a codec handles so much in a chunk."""
        return (self.decoded.nbytes or 1) // (self.grain or 1) or 1

    @property
    def inner(self) -> BoundChain | None:
        """The codecs of the inner chunks, if chunks are shards."""
        return None if self._before else self._middle.inner_chain(self._last)

    # --- decoding ---

    def check_size(self, size: int) -> None:
        """Refuse stored bytes of a wrong number before they are read.

        Raises
        ------
        ChunkDecodeError
            If the encoded size is known, and another.
        """
        if self.encoded_size is not None and size != self.encoded_size:
            raise ChunkDecodeError(f"{size} bytes instead of {self.encoded_size}")

    def decode(self, data: Buffer) -> Array:
        """Decode a chunk.

        Parameters
        ----------
        data : Buffer
            The stored bytes.

        Returns
        -------
        ndarray
            The chunk, in native byte order; perhaps a view of ``data``.

        Raises
        ------
        ChunkDecodeError
            If the bytes are not those of such a chunk.
        """
        return self._array(self.undo(data))

    def undo(self, data: Buffer) -> Buffer:
        """Undo the bytes -> bytes codecs, giving the bytes of the array -> bytes codec."""
        for name, codec, size in self._undo:
            data = calls.decode_bytes(name, codec, data, size)
        return data

    def decode_into(self, data: Buffer, out: Array) -> None:
        """Decode a chunk into an array of its whole shape, with any strides."""
        if not self._undo or self.memory_dtype is None:
            out[...] = self.decode(data)
        elif self._straight and out.flags.c_contiguous:
            octets = out.reshape(-1).view(_OCTET)
            self.unpack(data, octets.data)
            if self._boolean:
                _check_booleans(octets)
        else:
            with scratch(self._last.nbytes or 0) as buffer:
                self.unpack(data, buffer)
                out[...] = self._array(buffer)

    def decode_part_of(self, data: Buffer, selection: Selection, out: Array) -> None:
        """Decode a chunk that is in memory, and copy a part of it."""
        if not self._undo or self.memory_dtype is None:
            out[...] = take(self.decode(data), selection)
            return
        with scratch(self._last.nbytes or 0) as buffer:
            self.unpack(data, buffer)
            out[...] = take(self._array(buffer), selection)

    def unpack(self, data: Buffer, out: memoryview) -> None:
        """Undo the bytes -> bytes codecs; there is at least one.

        Parameters
        ----------
        data : Buffer
            The stored bytes.
        out : memoryview
            Receives the bytes of the array -> bytes codec, exactly as many as they are.
        """
        undo = self._undo
        for name, codec, size in undo[:-1]:
            data = calls.decode_bytes(name, codec, data, size)
        name, codec, _ = undo[-1]
        calls.decode_bytes_into(name, codec, data, out)

    def read_part(self, reader: ValueReader, selection: Selection, out: Array) -> None:
        """Decode a part of a stored chunk, reading no more than needed.

        Only where :attr:`reads_parts`.

        Parameters
        ----------
        reader : ValueReader
            The stored bytes.
        selection : Selection
            The part.
        out : ndarray
            Receives the elements; has the shape of the selection.
        """
        if self.encoded_size is not None and reader.size != self.encoded_size:
            raise ChunkDecodeError(f"{reader.size} bytes instead of {self.encoded_size}")
        moved = self._moved(selection, out)
        if moved is None:
            self.decode_part_of(reader.read(0, reader.size), selection, out)
            return
        selection, target = moved
        calls.decode_part(self._name, self._middle, reader, self._last, selection, target)
        if self._boolean:
            _check_booleans(out.view(_OCTET))

    def _array(self, data: Buffer) -> Array:
        """From the bytes of the array -> bytes codec to the chunk."""
        last = self._last
        if self.memory_dtype is None:
            array = calls.decode_array(self._name, self._middle, data, last)
        elif len(data) != last.nbytes:
            raise ChunkDecodeError(f"{len(data)} bytes instead of {last.nbytes}", self._name)
        else:
            array = np.ndarray(last.shape, self.memory_dtype, data)
            if self._boolean:
                _check_booleans(array.view(_OCTET))
            if self._before and not self.memory_dtype.isnative:
                array = array.astype(self.memory_dtype.newbyteorder("="))
        for number in range(len(self._before) - 1, -1, -1):
            name, codec = self._before[number]
            array = calls.decode_array(name, codec, array, self._steps[number])
        return array

    # --- encoding ---

    def encode(self, array: Array, memory: memoryview | None = None) -> Pieces | None:
        """Encode a chunk.

        Parameters
        ----------
        array : ndarray
            The chunk, whole, with any strides; dtype of the data type, native order.
        memory : memoryview, optional
            Room for a copy in C order, ``decoded.nbytes`` long.  The result may
            lie in it, or in ``array``.

        Returns
        -------
        Buffer, sequence of Buffer, or None
            What to store; None if the chunk holds nothing but the fill value and
            such chunks are not kept.
        """
        if not self.decoded.keep_empty and self._is_fill(array):
            return None
        if self._before or self.memory_dtype is None:
            array = calls.frozen(array)
        for (name, codec), encoded in zip(self._before, self._steps[1:], strict=True):
            array = calls.encode_array(name, codec, array, encoded)
        if self.memory_dtype is None:
            return self._finish(calls.encode_elements(self._name, self._middle, array, self._last))
        return self._finish(self._laid_out(array, memory))

    def encode_part(
        self, reader: ValueReader | None, selection: Selection, value: Array
    ) -> Pieces | None:
        """Encode a chunk of which a part is new; only where :attr:`supports_parts`.

        Parameters
        ----------
        reader : ValueReader or None
            What is stored now, if anything.
        selection : Selection
            The part.
        value : ndarray
            Its new elements; has the shape of the selection.
        """
        moved = self._moved(selection, value)
        if moved is None:
            whole = self.writable(reader)
            put(whole, selection, value)
            return self.encode(whole)
        selection, source = moved
        return calls.encode_part(self._name, self._middle, reader, self._last, selection, source)

    def writable(self, reader: ValueReader | None) -> Array:
        """The chunk as it is now, in memory of its own that may be changed."""
        decoded = self.decoded
        if reader is None:
            return np.full(decoded.shape, decoded.fill_value, self.dtype)
        self.check_size(reader.size)
        whole = np.empty(decoded.shape, self.dtype)
        with scratch(reader.size) as buffer:
            reader.read_into([(0, buffer)])
            self.decode_into(buffer, whole)
        return whole

    def _laid_out(self, array: Array, memory: memoryview | None) -> Buffer:
        """The bytes of an array in the byte order and element order that is stored."""
        dtype = self.memory_dtype
        if array.dtype == dtype and array.flags.c_contiguous:
            data: Buffer = array.reshape(-1).view(_OCTET).data
        elif memory is not None and len(memory) == self._last.nbytes:
            np.ndarray(array.shape, dtype, memory)[...] = array
            data = memory
        elif array.dtype == dtype:
            data = array.tobytes()
        else:  # by tobytes there would be a second copy
            data = np.ascontiguousarray(array, dtype).reshape(-1).view(_OCTET).data
        if self._boolean and data:
            octets = np.frombuffer(data, np.uint8)
            if octets.max() > 1:  # NumPy lets one make such bools
                data = (octets != 0).tobytes()
        return data

    def _finish(self, pieces: Pieces | None) -> Pieces | None:
        """Apply the bytes -> bytes codecs to what the array -> bytes codec gave."""
        after = self._after
        if pieces is None or not after:
            return pieces
        data = pieces if isinstance(pieces, calls.BUFFERS) else b"".join(pieces)
        for name, codec, size in after:
            data = calls.encode_bytes(name, codec, data, size)
        return data

    def _moved(self, selection: Selection, part: Array) -> tuple[Selection, Array] | None:
        """A part of the chunk, as a part of what the array -> bytes codec sees."""
        for _, codec in self._before:
            moved = codec.encoded_part(selection, part)
            if moved is None:
                return None
            selection, part = moved
        return selection, part


def _check_booleans(octets: Array) -> None:
    """Refuse bytes that are no bool, with which NumPy would compute all the same."""
    if octets.size and octets.max() > 1:
        raise ChunkDecodeError(f"the byte {octets.max()} is no bool; only 0 and 1 are", "bytes")
