"""vlen-utf8 and vlen-bytes codecs (array -> bytes): each element after its length.

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
# Random sentinel that is appended while reading, to find the end of the elements.
_END = os.urandom(8).hex()
_END_STORED = len(_END).to_bytes(_LENGTH, "little") + _END.encode()
_BATCH = 1 << 16  # encoded bytes that are decoded at once, so that their objects stay in the cache


@dataclass(frozen=True, slots=True)
class VlenUtf8Codec(ArrayToBytesCodec):
    """Store strings as UTF-8; None is stored as the empty string, as in numcodecs."""

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error unless the elements are strings of variable length."""
        name = decoded.data_type.to_definition().name
        if decoded.data_type.numpy_dtype.kind not in "OT" or name in _OF_BYTES:
            raise ValueError("only strings of variable length are supported")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Store the number of strings, then each string after its length."""
        return _numcodecs.vlen_encode("VLenUTF8", array)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the strings."""
        dtype = decoded.data_type.numpy_dtype
        if dtype.kind == "T":
            return _strings(data, decoded.size, dtype, "vlen-utf8").reshape(decoded.shape)
        return _elements("VLenUTF8", _END, data, decoded.size, "vlen-utf8").reshape(decoded.shape)


@dataclass(frozen=True, slots=True)
class VlenBytesCodec(ArrayToBytesCodec):
    """Store byte strings; None is stored as the empty one, as in numcodecs."""

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error unless the elements are byte strings of variable length."""
        if decoded.data_type.numpy_dtype.kind != "O":
            raise ValueError("only byte strings of variable length are supported")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Store the number of byte strings, then each one after its length."""
        return _numcodecs.vlen_encode("VLenBytes", array)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Read the byte strings."""
        return byte_strings(data, decoded.size, "vlen-bytes").reshape(decoded.shape)


def byte_strings(data: Buffer, count: int, name: str) -> np.ndarray[Any, Any]:
    """Read byte strings, each after its length.

    Parameters
    ----------
    data : Buffer
        The number of elements, followed by the elements.
    count : int
        Expected number of elements.
    name : str
        Name of the codec, for messages.

    Returns
    -------
    ndarray of bytes objects, shape (count,)

    Raises
    ------
    ChunkDecodeError
        If the number of elements differs, the data is truncated, or other bytes follow.
    """
    return _elements("VLenBytes", _END.encode(), data, count, name)


def _elements(
    codec: str, end: str | bytes, data: Buffer, count: int, name: str
) -> np.ndarray[Any, Any]:
    """Decode with numcodecs, which does not report where it stops, hence the sentinel."""
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


def _strings(data: Buffer, count: int, dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """Decode in batches to a StringDType; fewer objects exist at once than with `_elements`."""
    _check_count(data, count, name)
    strings = np.empty(count, dtype)
    batch = max(1, _BATCH * count // len(data))
    # The number of elements of a batch replaces four bytes that were decoded before.
    view = memoryview(bytearray(data))
    for start in range(0, count, batch):
        stop = min(start + batch, count)
        view[:_LENGTH] = (stop - start).to_bytes(_LENGTH, "little")
        try:
            elements = _numcodecs.vlen_decode("VLenUTF8", view)
        except ValueError as error:  # also UnicodeDecodeError
            raise ChunkDecodeError(str(error), name) from error
        strings[start:stop] = elements
        size = len("".join(elements.tolist()).encode())
        view = view[_LENGTH * len(elements) + size :]
    if len(view) > _LENGTH:
        raise ChunkDecodeError("other bytes follow the last element", name)
    return strings


def _check_count(data: Buffer, count: int, name: str) -> None:
    """Compare the declared number of elements with that of the chunk.

    ChunkDecodeError if it differs, or the data is too short for it.
    """
    if len(data) < _LENGTH:
        raise ChunkDecodeError(f"{len(data)} bytes are too few for the number of elements", name)
    declared = int.from_bytes(data[:_LENGTH], "little")
    if declared != count:
        raise ChunkDecodeError(f"declares {declared} elements instead of {count}", name)
    if len(data) < (1 + count) * _LENGTH:
        raise ChunkDecodeError(f"{len(data)} bytes are too few for {count} elements", name)
