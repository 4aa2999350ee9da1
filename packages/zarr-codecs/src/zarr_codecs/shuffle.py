"""numcodecs.shuffle codec (bytes -> bytes): bytes grouped by position in the element.

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
_DEFAULT = 4  # bytes; the default of numcodecs
_WIDE = 64  # bytes; up to this element size copying strided rows is faster


@dataclass(frozen=True, slots=True)
class ShuffleCodec(BytesToBytesCodec):
    """Store the first bytes of all elements, then the second bytes, and so on.

    Parameters
    ----------
    elementsize : int, optional
        Size of an element in bytes; 0 and 1 do not shuffle.  None is the size of an
        element when an array is created, and 4 in stored metadata.
    """

    elementsize: int | None = None

    def __post_init__(self) -> None:
        size = self.elementsize
        if size is not None and (type(size) is not int or size < 0):
            raise ValueError(f"elementsize must be an integer of at least 0, not {size!r}")

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Record the size of an element if it is not set."""
        if self.elementsize is not None:
            return self
        return replace(self, elementsize=decoded.data_type.item_size or 1)

    def encoded_size(self, decoded_size: int) -> int:
        """Return the decoded size."""
        return decoded_size

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Shuffle the bytes."""
        width = self._width()
        if width == 1:
            return data
        source = np.frombuffer(data, np.uint8)
        if len(source) % width:
            raise CodecError(
                f"{_NAME}: {len(source)} bytes are not a multiple of the element size {width}"
            )
        out = np.empty_like(source)
        _shuffle(source.reshape(-1, width), out.reshape(width, -1))
        return out.data

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Restore the order of the bytes."""
        self._check(data, len(data) if decoded_size is None else decoded_size)
        if self._width() == 1:
            return data
        out = np.empty(len(data), np.uint8)
        self._unshuffle(data, out)
        return out.data

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Restore the order of the bytes in memory of the same size."""
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
                f"{size} bytes are not a multiple of the element size {self._width()}", _NAME
            )

    def _unshuffle(self, data: Buffer, out: np.ndarray[Any, Any]) -> None:
        width = self._width()
        _shuffle(np.frombuffer(data, np.uint8).reshape(width, -1), out.reshape(-1, width))


def _shuffle(source: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    """Transpose bytes; copying strided rows is faster than a transpose in NumPy."""
    rows, columns = source.shape
    if rows < columns and rows <= _WIDE:
        for row in range(rows):
            out[:, row] = source[row]
    elif columns <= _WIDE:
        for column in range(columns):
            out[column] = source[:, column]
    else:
        out[...] = source.T
