"""vlen-utf8, vlen-bytes codecs (array -> bytes): each element after its length.

Name:           vlen-utf8, vlen-bytes
Specification:  zarr-extensions, codecs/vlen-utf8, codecs/vlen-bytes; numcodecs, "VLen"
Configuration:  none
Schema:         schemas/codec/vlen-utf8.json, schemas/codec/vlen-bytes.json
Partial decode: no
Compatible:     zarr-python, zarrs
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError

from zarr_codecs import _numcodecs

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation, Buffer

_LENGTH = 4  # bytes of the number of elements, and of the length of each
_OF_BYTES = ("bytes", "variable_length_bytes")
# What ends the elements while they are read: no data go on with it by chance.
_END = os.urandom(8).hex()
_END_STORED = len(_END).to_bytes(_LENGTH, "little") + _END.encode()


@dataclass(frozen=True, slots=True)
class VlenUtf8Codec(ArrayToBytesCodec):
    """Store strings in UTF-8; None is stored as the empty one, as by numcodecs."""

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse elements that are no strings of any length."""
        name = decoded.data_type.to_definition().name
        if decoded.data_type.numpy_dtype.kind not in "OT" or name in _OF_BYTES:
            raise ValueError("only strings of variable length can be stored so")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Store the number of strings, then each after its length."""
        return _numcodecs.vlen_encode("VLenUTF8", np.ascontiguousarray(array))

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the strings."""
        strings = _elements("VLenUTF8", _END, data, decoded.size, "vlen-utf8")
        return strings.reshape(decoded.shape).astype(decoded.data_type.numpy_dtype, copy=False)


@dataclass(frozen=True, slots=True)
class VlenBytesCodec(ArrayToBytesCodec):
    """Store byte strings; None is stored as the empty one, as by numcodecs."""

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse elements that are no byte strings of any length."""
        if decoded.data_type.numpy_dtype.kind != "O":
            raise ValueError("only byte strings of variable length can be stored so")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Store the number of byte strings, then each after its length."""
        return _numcodecs.vlen_encode("VLenBytes", np.ascontiguousarray(array))

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the byte strings."""
        return byte_strings(data, decoded.size, "vlen-bytes").reshape(decoded.shape)


def byte_strings(data: Buffer, count: int, name: str) -> np.ndarray[Any, Any]:
    """Read so many byte strings, each after its length, and nothing after them.

    Parameters
    ----------
    data : Buffer
        The number of elements, then these.
    count : int
        How many there must be.
    name : str
        The codec; for messages.

    Returns
    -------
    ndarray of bytes objects, shape (count,)

    Raises
    ------
    ChunkDecodeError
        If there are more or fewer, or the data are cut short.
    """
    return _elements("VLenBytes", _END.encode(), data, count, name)


def _elements(
    codec: str, end: str | bytes, data: Buffer, count: int, name: str
) -> np.ndarray[Any, Any]:
    """Let numcodecs read, which does not say where it stopped: so something must be there."""
    _check_count(data, count, name)
    more = (count + 1).to_bytes(_LENGTH, "little")
    ended = b"".join((more, memoryview(data)[_LENGTH:], _END_STORED))
    try:
        elements = _numcodecs.vlen_decode(codec, ended)
    except ValueError:  # also UnicodeDecodeError
        pass
    else:
        if elements[-1] == end:
            return elements[:-1]
    try:
        _numcodecs.vlen_decode(codec, data)
    except ValueError as error:
        raise ChunkDecodeError(str(error), name) from error
    raise ChunkDecodeError("other bytes follow the last element", name)


def _check_count(data: Buffer, count: int, name: str) -> None:
    """Compare the number of elements that data declare with that of the chunk.

    Raises
    ------
    ChunkDecodeError
        If it is another, or the data are too short to hold so many.
    """
    if len(data) < _LENGTH:
        raise ChunkDecodeError(f"{len(data)} bytes; the number of elements takes {_LENGTH}", name)
    declared = int.from_bytes(data[:_LENGTH], "little")
    if declared != count:
        raise ChunkDecodeError(f"declares {declared} elements instead of {count}", name)
    if len(data) < (1 + count) * _LENGTH:
        raise ChunkDecodeError(f"{len(data)} bytes cannot hold {count} elements", name)
