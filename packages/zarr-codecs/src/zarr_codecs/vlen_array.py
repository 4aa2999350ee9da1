"""numcodecs.vlen-array codec (array -> bytes): arrays as elements, each after its length.

Name:           numcodecs.vlen-array
Specification:  numcodecs, "VLenArray"
Configuration:  {"dtype": "<i4"}
Schema:         schemas/codec/numcodecs.vlen-array.json
Partial decode: no
Compatible:     zarr-python (version 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError, CodecError

from zarr_codecs import _numcodecs
from zarr_codecs.vlen import byte_strings

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation, Buffer

_NAME = "numcodecs.vlen-array"
_KINDS = "biufcmMSUV"
_form = attrgetter("__class__", "dtype", "ndim")


@dataclass(frozen=True, slots=True)
class VlenArrayCodec(ArrayToBytesCodec):
    """Store one-dimensional arrays of variable length.

    Parameters
    ----------
    dtype : str
        Data type of the elements of the stored arrays, as a NumPy type string.
    """

    dtype: str

    def __post_init__(self) -> None:
        dtype = self._dtype()
        if dtype.kind not in _KINDS or dtype.hasobject or not dtype.itemsize:
            raise ValueError(f"dtype {self.dtype!r} is not supported by the codec")

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error unless the elements are objects."""
        if decoded.data_type.numpy_dtype.kind != "O":
            raise ValueError("only arrays of objects are supported")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Store the number of arrays, then each array after its length in bytes."""
        dtype = self._dtype()
        elements = array.reshape(-1).tolist()
        try:
            forms = set(map(_form, elements))
        except AttributeError:  # an element is not an array
            forms = set()
        if forms != {(np.ndarray, dtype, 1)}:
            elements = [_as_array(element, dtype) for element in elements]
        octets = np.fromiter(map(np.ndarray.tobytes, elements), object, len(elements))
        return _numcodecs.vlen_encode("VLenBytes", octets)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the arrays; each has its own writable memory."""
        dtype, count = self._dtype(), decoded.size
        pieces = byte_strings(data, count, _NAME).tolist()
        ends = np.fromiter(map(len, pieces), np.int64, count)
        if (odd := ends % dtype.itemsize).any():
            number = int(odd.argmax())
            raise ChunkDecodeError(
                f"element {number} has {ends[number]} bytes, not a multiple of the size of {dtype}",
                _NAME,
            )
        # Slicing one array is faster than creating many.
        whole = np.frombuffer(b"".join(pieces), dtype)
        stops = (ends.cumsum() // dtype.itemsize).tolist()
        parts = map(whole.__getitem__, map(slice, [0, *stops], stops))
        return np.fromiter(map(np.ndarray.copy, parts), object, count).reshape(decoded.shape)

    def _dtype(self) -> np.dtype[Any]:
        try:
            return np.dtype(self.dtype)
        except (TypeError, ValueError, SyntaxError) as error:
            raise ValueError(f"dtype {self.dtype!r} is not a NumPy type string") from error


def _as_array(element: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Convert an element to an array; None and 0 (initial memory) are empty arrays."""
    empty = element is None or (np.isscalar(element) and element == 0)
    values = np.asarray(() if empty else element, dtype)
    if values.ndim != 1:
        raise CodecError(f"{_NAME}: every element must be a one-dimensional array")
    return values
