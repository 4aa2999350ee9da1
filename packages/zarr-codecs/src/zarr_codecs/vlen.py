"""vlen-utf8, vlen-bytes codecs (array -> bytes): each element after its length.

Name:           vlen-utf8, vlen-bytes
Specification:  zarr-extensions, codecs/vlen-utf8, codecs/vlen-bytes; numcodecs, "VLen"
Configuration:  none
Schema:         schemas/codec/vlen-utf8.json, schemas/codec/vlen-bytes.json
Partial decode: no
Compatible:     zarr-python, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError

from zarr_codecs import _numcodecs

if TYPE_CHECKING:
    from zarr_core.extension import ArrayRepresentation, Buffer

_LENGTH = 4  # bytes of the number of elements, and of the length of each
_OF_BYTES = ("bytes", "variable_length_bytes")


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
        name = "vlen-utf8"
        check_count(data, decoded.size, name)
        strings = _decoded(data, "VLenUTF8", name)
        # By joining first the lengths in bytes take one call.
        _check_end(data, decoded.size, len("".join(strings.tolist()).encode()), name)
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
        # numcodecs does not take memory that may not be written to.
        return _numcodecs.vlen_encode("VLenBytes", np.array(array, order="C"))

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the byte strings."""
        name = "vlen-bytes"
        check_count(data, decoded.size, name)
        strings = _decoded(data, "VLenBytes", name)
        _check_end(data, decoded.size, len(b"".join(strings.tolist())), name)
        return strings.reshape(decoded.shape)


def check_count(data: Buffer, count: int, name: str) -> None:
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


def _decoded(data: Buffer, codec: str, name: str) -> np.ndarray[Any, Any]:
    try:
        return _numcodecs.vlen_decode(codec, data)
    except ValueError as error:  # also UnicodeDecodeError
        raise ChunkDecodeError(str(error), name) from error


def _check_end(data: Buffer, count: int, content: int, name: str) -> None:
    end = (1 + count) * _LENGTH + content
    if end != len(data):
        raise ChunkDecodeError(f"{len(data) - end} bytes follow the last element", name)
