"""numcodecs.shuffle codec (bytes -> bytes): first bytes of all elements, second bytes, ...

Name:           numcodecs.shuffle
Specification:  numcodecs, "Shuffle"; HDF5 shuffle filter
Configuration:  {"elementsize": 4}
Schema:         schemas/codec/numcodecs.shuffle.json
Partial decode: no
Compatible:     zarr-python, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError, CodecError

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import ArrayRepresentation, Buffer

_NAME = "numcodecs.shuffle"
_DEFAULT = 4  # bytes; what numcodecs takes if it is not told
_WIDE = 64  # bytes; elements up to here are moved byte by byte, which is faster


@dataclass(frozen=True, slots=True)
class ShuffleCodec(BytesToBytesCodec):
    """Put bytes together that have the same place in their element.

    Parameters
    ----------
    elementsize : int, optional
        Bytes of an element; 0 and 1 change nothing.  None is the size of the array's
        elements when an array is made, and 4 in metadata that does not say it.
    """

    elementsize: int | None = None

    def __post_init__(self) -> None:
        size = self.elementsize
        if size is not None and (type(size) is not int or size < 0):
            raise ValueError(f"elementsize must be an integer of at least 0, not {size!r}")

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Record the size of an element, if none was chosen."""
        if self.elementsize is not None:
            return self
        return replace(self, elementsize=decoded.data_type.item_size or 1)

    def encoded_size(self, decoded_size: int) -> int:
        """As many bytes."""
        return decoded_size

    def encode(self, data: Buffer) -> Buffer:
        """Shuffle the bytes."""
        width = self._width()
        if width == 1:
            return data
        source = np.frombuffer(data, np.uint8)
        if len(source) % width:
            raise CodecError(
                f"{_NAME}: {len(source)} bytes are no whole number of elements of {width} bytes"
            )
        out = np.empty_like(source)
        _shuffle(source.reshape(-1, width), out.reshape(width, -1))
        return out.data

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Put the bytes back."""
        self._check(data, len(data) if decoded_size is None else decoded_size)
        if self._width() == 1:
            return data
        out = np.empty(len(data), np.uint8)
        self._unshuffle(data, out)
        return out.data

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Put the bytes back, into memory of the same size."""
        self._check(data, len(out))
        if self._width() == 1:
            out[:] = data
        else:
            self._unshuffle(data, np.frombuffer(out, np.uint8))

    def _width(self) -> int:
        return max(1, _DEFAULT if self.elementsize is None else self.elementsize)

    def _check(self, data: Buffer, size: int) -> None:
        if len(data) != size:
            raise ChunkDecodeError(f"decodes to {len(data)} bytes instead of {size}", _NAME)
        if size % self._width():
            raise ChunkDecodeError(
                f"{size} bytes are no whole number of elements of {self._width()} bytes", _NAME
            )

    def _unshuffle(self, data: Buffer, out: np.ndarray[Any, Any]) -> None:
        width = self._width()
        _shuffle(np.frombuffer(data, np.uint8).reshape(width, -1), out.reshape(-1, width))


def _shuffle(source: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    """Transpose bytes.  Strided rows of bytes are copied faster than NumPy transposes."""
    rows, columns = source.shape
    if rows < columns and rows <= _WIDE:
        for row in range(rows):
            out[:, row] = source[row]
    elif columns <= _WIDE:
        for column in range(columns):
            out[column] = source[:, column]
    else:
        out[...] = source.T
