"""numcodecs.vlen-array codec (array -> bytes): each element, an array, after its length.

Name:           numcodecs.vlen-array
Specification:  numcodecs, "VLenArray"
Configuration:  {"dtype": "<i4"}
Schema:         schemas/codec/numcodecs.vlen-array.json
Partial decode: no
Compatible:     zarr-python (version 2)
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError, CodecError

from zarr_codecs.vlen import check_count

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation, Buffer

_NAME = "numcodecs.vlen-array"
_LENGTH = struct.Struct("<I")
_KINDS = "biufcmMSUV"


@dataclass(frozen=True, slots=True)
class VlenArrayCodec(ArrayToBytesCodec):
    """Store arrays of one dimension.

    Parameters
    ----------
    dtype : str
        That of their elements as they are stored, as a NumPy type string.
    """

    dtype: str

    def __post_init__(self) -> None:
        dtype = self._dtype()
        if dtype.kind not in _KINDS or dtype.hasobject or not dtype.itemsize:
            raise ValueError(f"dtype {self.dtype!r} is of a kind that cannot be stored")

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse elements that are no objects."""
        if decoded.data_type.numpy_dtype.kind != "O":
            raise ValueError("only objects, which are arrays of any length, can be stored so")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Store the number of arrays, then each after its length in bytes."""
        dtype = self._dtype()
        pieces = [_LENGTH.pack(array.size)]
        for element in array.reshape(-1).tolist():
            values = element
            if type(element) is not np.ndarray or element.dtype != dtype:
                empty = element is None or (np.isscalar(element) and element == 0)
                values = np.asarray(() if empty else element, dtype)
            if values.ndim != 1:
                raise CodecError(f"{_NAME}: every element must be an array of one dimension")
            pieces += _LENGTH.pack(values.nbytes), values.tobytes()
        return b"".join(pieces)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the arrays; each has memory of its own, which may be written to."""
        check_count(data, decoded.size, _NAME)
        dtype = self._dtype()
        result = np.empty(decoded.size, object)
        end, position = len(data), _LENGTH.size
        for number in range(decoded.size):
            start = position + _LENGTH.size
            if start > end:
                raise _cut(number, end)
            (length,) = _LENGTH.unpack_from(data, position)
            position = start + length
            if position > end:
                raise _cut(number, end)
            if length % dtype.itemsize:
                raise ChunkDecodeError(
                    f"element {number} has {length} bytes, no whole number of {dtype}", _NAME
                )
            result[number] = np.frombuffer(data, dtype, length // dtype.itemsize, start).copy()
        if position != end:
            raise ChunkDecodeError(f"{end - position} bytes follow the last element", _NAME)
        return result.reshape(decoded.shape)

    def _dtype(self) -> np.dtype[Any]:
        try:
            return np.dtype(self.dtype)
        except (TypeError, ValueError, SyntaxError) as error:
            raise ValueError(f"dtype {self.dtype!r} is no NumPy type string") from error


def _cut(number: int, size: int) -> ChunkDecodeError:
    return ChunkDecodeError(f"cut short after {size} bytes, in element {number}", _NAME)
