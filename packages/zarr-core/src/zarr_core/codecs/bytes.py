"""bytes codec (array -> bytes): elements one after the other in C order.

Name:           bytes
Specification:  v3.1 core codecs, "Bytes codec"
Configuration:  {"endian": "little"}
Schema:         schemas/codec/bytes.json
Partial decode: yes
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_core.engine.scratch import Scratch
from zarr_core.errors import ChunkDecodeError
from zarr_core.interfaces.codec import ArrayRepresentation, PartialDecodeCodec
from zarr_core.interfaces.selection import BasicIndexer, CoordinateIndexer
from zarr_core.selection.projection import take

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.selection import Selection

    Array = np.ndarray[Any, Any]
    Slices = tuple[slice, ...]

# A read takes as long as several KiB of data, and the memory of a window is reused for the next.
_WINDOW = 1 << 20  # bytes read at once, at most
_SMALL = 1 << 14  # bytes; reading them is faster than skipping some
_GAP = 1 << 12  # bytes between two points; a smaller gap is read rather than skipped
_FEW = 16  # points; reading them one by one is faster than sorting
_MEMORY = 1 << 24  # bytes, at most, of the points that are read at once
_DENSE = 4  # a window is read whole if at least one byte in so many is selected


@dataclass(frozen=True, slots=True)
class BytesCodec(PartialDecodeCodec):
    """The elements as they are in memory.

    Parameters
    ----------
    endian : {"little", "big"}, optional
        Byte order; required for data types whose elements have one.
    """

    endian: Literal["little", "big"] | None = None

    def __post_init__(self) -> None:
        if self.endian not in (None, "little", "big"):
            raise ValueError(f'endian must be "little" or "big", not {self.endian!r}')

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Set ``endian`` to the byte order of this machine if the data type has one."""
        if self.endian is None and decoded.data_type.has_byte_order:
            return replace(self, endian=sys.byteorder)
        return self

    def check(self, decoded: ArrayRepresentation) -> None:
        """Reject data types of variable size, and a missing ``endian``."""
        if decoded.nbytes is None:
            raise ValueError(
                "the bytes codec stores elements of fixed size only; "
                "this data type needs another array -> bytes codec"
            )
        data_type = decoded.data_type
        endian = self.endian or data_type.implied_byte_order
        if endian is None and data_type.has_byte_order:
            raise ValueError('"endian" is missing; this data type has a byte order')

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        return self.endian

    def encoded_size(self, decoded: ArrayRepresentation) -> int | None:
        return decoded.nbytes

    def memory_dtype(self, decoded: ArrayRepresentation) -> np.dtype[Any] | None:
        """The data type in the configured byte order.

        None if the bytes are not the elements in memory: NumPy does not swap them, or unused bits
        have to be cleared.
        """
        return None if decoded.data_type.unused_bits else self._stored(decoded)

    def _stored(self, decoded: ArrayRepresentation) -> np.dtype[Any] | None:
        """The data type in the configured byte order; None if NumPy does not swap its bytes."""
        dtype = decoded.data_type.numpy_dtype
        order = self.endian or decoded.data_type.implied_byte_order
        stored = dtype if order is None else dtype.newbyteorder(order)
        return stored if dtype == stored or _swaps(dtype) else None

    def supports_partial(self, decoded: ArrayRepresentation) -> bool:
        """False for data types that are converted as a whole."""
        return self._stored(decoded) is not None

    def partial_decode(
        self,
        reader: ByteReader,
        decoded: ArrayRepresentation,
        selection: Selection,
        out: np.ndarray[Any, Any],
    ) -> None:
        dtype = self._stored(decoded)
        assert dtype is not None
        read_elements(reader, decoded.shape, dtype, selection, out)
        if decoded.data_type.unused_bits:
            out[...] = decoded.data_type.clear_unused_bits(out)

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        dtype = self._stored(decoded)
        if decoded.data_type.unused_bits:
            array = decoded.data_type.clear_unused_bits(array)
        encoded = np.ascontiguousarray(array, dtype or decoded.data_type.numpy_dtype)
        if dtype is None:
            encoded = encoded.byteswap()
        return encoded.reshape(-1).view(np.uint8).data

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        if len(data) != decoded.nbytes:
            raise ChunkDecodeError(f"{len(data)} bytes instead of {decoded.nbytes}")
        dtype = self._stored(decoded)
        array = np.frombuffer(data, dtype or decoded.data_type.numpy_dtype)
        array = (array if dtype is not None else array.byteswap()).reshape(decoded.shape)
        data_type = decoded.data_type
        return data_type.clear_unused_bits(array) if data_type.unused_bits else array


def _swaps(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy swaps bytes when it copies elements from one byte order to the other.

    It does not for times without a unit, although it reports different dtypes.
    """
    if dtype.subdtype is not None:
        return _swaps(dtype.base)
    if dtype.names is not None:
        return all(_swaps(dtype[name]) for name in dtype.names)
    return dtype.kind not in "mM" or np.datetime_data(dtype)[0] != "generic"


# --- partial decoding ---


def read_elements(
    reader: ByteReader,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    selection: Selection,
    out: Array,
) -> None:
    """Read a part of an array that is stored as its memory.

    ``dtype`` has the stored byte order; ``out`` has the shape of the selection.
    """
    strides = tuple(prod(shape[axis + 1 :]) * dtype.itemsize for axis in range(len(shape)))
    if isinstance(selection, BasicIndexer):
        _read_box(reader, 0, strides, dtype, selection.index, out)
    elif isinstance(selection, CoordinateIndexer) and selection.index:
        _read_points(reader, selection.flat_index(shape) * dtype.itemsize, dtype, out)
    else:
        whole = np.frombuffer(reader.read(0, reader.size), dtype).reshape(shape)
        out[...] = take(whole, selection)


def _read_box(
    reader: ByteReader,
    base: int,
    strides: tuple[int, ...],
    dtype: np.dtype[Any],
    index: Slices,
    out: Array,
) -> None:
    """Read a box; ``base`` is the offset of the array with these strides."""
    first = base + sum(part.start * stride for part, stride in zip(index, strides, strict=True))
    steps = tuple(part.step * stride for part, stride in zip(index, strides, strict=True))
    span = dtype.itemsize + sum(
        (length - 1) * step for length, step in zip(out.shape, steps, strict=True)
    )
    wanted = out.size * dtype.itemsize
    if span == wanted and out.dtype == dtype and out.flags.c_contiguous:
        reader.read_into([(first, out.reshape(-1).view(np.uint8).data)])
    elif (
        span <= _SMALL
        or out.size == 1
        or (
            span <= _WINDOW
            and (wanted * _DENSE >= span or (out.shape[0] > 1 and steps[0] <= _SMALL))
        )
    ):
        with Scratch(span) as memory:
            reader.read_into([(first, memory)])
            out[...] = np.ndarray(out.shape, dtype, memory, 0, steps)
    else:
        # As many rows of the first dimension as fill a window, or one by one if it is
        # worthwhile to skip the bytes between them.
        rows = max(1, _WINDOW // steps[0]) if span > _WINDOW else 1
        for row in range(0, out.shape[0], rows):
            part = out[row : row + rows]
            start = base + index[0].start * strides[0] + row * steps[0]
            if len(part) == 1:
                _read_box(reader, start, strides[1:], dtype, index[1:], part[0, ...])
            else:
                narrowed = slice(0, (len(part) - 1) * index[0].step + 1, index[0].step)
                _read_box(reader, start, strides, dtype, (narrowed, *index[1:]), part)


def _read_points(
    reader: ByteReader, offsets: np.ndarray[Any, Any], dtype: np.dtype[Any], out: Array
) -> None:
    """Read single elements, near ones together."""
    size = dtype.itemsize
    if len(offsets) <= _FEW:
        with Scratch(len(offsets) * size) as memory:
            parts = enumerate(offsets.tolist())
            reader.read_into([(start, memory[n * size : (n + 1) * size]) for n, start in parts])
            out[...] = np.frombuffer(memory, dtype)
        return
    order = np.argsort(offsets, kind="stable")
    offsets = offsets[order]
    edges = np.searchsorted(offsets, range(0, reader.size + _MEMORY, _MEMORY)).tolist()
    for begin, end in pairwise(edges):
        if begin < end:
            out[order[begin:end]] = _read_groups(reader, offsets[begin:end], dtype)


def _read_groups(reader: ByteReader, offsets: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Array:
    """Return the elements at sorted offsets, read in groups that have gaps between them."""
    size = dtype.itemsize
    cuts = np.flatnonzero(np.diff(offsets) > _GAP)
    first = np.concatenate(([0], cuts + 1))
    last = np.concatenate((cuts, [len(offsets) - 1]))
    starts = offsets[first]
    lengths = offsets[last] - starts + size
    ends = np.cumsum(lengths)  # of the groups in memory, one after the other
    groups = zip(starts.tolist(), lengths.tolist(), ends.tolist(), strict=True)
    with Scratch(int(ends[-1])) as memory:
        reader.read_into([(start, memory[end - length : end]) for start, length, end in groups])
        moved = offsets + np.repeat(ends - lengths - starts, last - first + 1)
        elements: Array = np.frombuffer(memory, dtype)[moved // size]
        return elements
