"""numcodecs.zfpy codec (array -> bytes): blocks of numbers compressed by zfp.

Name:           numcodecs.zfpy
Specification:  numcodecs, "ZFPY"; zfp 1.0
Configuration:  {"mode": 4, "tolerance": 0.001, "rate": -1, "precision": -1}
Schema:         schemas/codec/numcodecs.zfpy.json
Partial decode: no
Compatible:     zarr-python, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ArrayToBytesCodec, ChunkDecodeError

from zarr_codecs import _libzfp
from zarr_codecs._optional import optional

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

_NAME = "numcodecs.zfpy"
_PARAMETERS = {2: "rate", 3: "precision", 4: "tolerance"}
_DTYPES = ("int32", "int64", "float32", "float64")
_DIMENSIONS = 4
_WORD = 8  # bytes; a stream is a whole number of words
_HEADER = 24  # bytes that reading a header may touch
_SIDE = 4  # elements of a block, along each dimension


@dataclass(frozen=True, slots=True)
class ZfpyCodec(ArrayToBytesCodec):
    """Compress numbers, with or without loss.

    Parameters
    ----------
    mode : {2, 3, 4}
        Which of the other parameters counts: ``rate``, ``precision`` or ``tolerance``.
    tolerance : float
        Largest absolute error; negative for none.
    rate : float
        Bits for each element.
    precision : int
        Bits that are kept of each element.
    compression_kwargs : mapping, optional
        Written by numcodecs as well; it says the same again.
    """

    mode: int = 4
    tolerance: float = -1
    rate: float = -1
    precision: float = -1
    compression_kwargs: Mapping[str, JSON] | None = None

    def __post_init__(self) -> None:
        if self.mode not in _PARAMETERS:
            raise ValueError(f"mode must be 2, 3 or 4, not {self.mode!r}")
        object.__setattr__(self, "compression_kwargs", None)  # so that the codec can be hashed

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse what zfp has no blocks for."""
        if decoded.data_type.numpy_dtype.name not in _DTYPES:
            raise ValueError(f"only elements of {', '.join(_DTYPES)} can be stored so")
        if not 1 <= len(decoded.shape) <= _DIMENSIONS:
            raise ValueError(f"only chunks of 1 to {_DIMENSIONS} dimensions can be stored so")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Compress to one stream with a full header."""
        parameter = _PARAMETERS[self.mode]
        compressed: bytes = _library().compress_numpy(
            np.ascontiguousarray(array), write_header=True, **{parameter: getattr(self, parameter)}
        )
        return compressed

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Decompress the stream.

        zfp reads on where a stream was cut short.  So it is given more bytes than it
        can read, and asked how many it took.  If it cannot be asked, they are once zeros
        and once ones: what depends on them was cut short.
        """
        try:
            array = _libzfp.decompress_with_header(
                data, decoded.shape, decoded.data_type.numpy_dtype
            )
        except ValueError as error:
            raise ChunkDecodeError(str(error), _NAME) from error
        if array is not None:
            return array
        padding = _padding(data, decoded)
        first, second = (_decompress(data, filling * padding) for filling in (b"\0", b"\xff"))
        if first.shape != decoded.shape or first.dtype != decoded.data_type.numpy_dtype:
            raise ChunkDecodeError("decodes to another shape or dtype", _NAME)
        if first.tobytes() != second.tobytes():
            raise _cut(data)
        return first


def _padding(data: Buffer, decoded: ArrayRepresentation) -> int:
    """Bytes that zfp may read beyond the end, once the header is that of the chunk."""
    dtype = decoded.data_type.numpy_dtype
    if len(data) % _WORD or not len(data):
        raise _cut(data)
    try:
        header = _library().header(bytes(data[:_HEADER]) + bytes(_HEADER))
    except ValueError as error:
        raise ChunkDecodeError(str(error), _NAME) from error
    shape = tuple(header[axis] for axis in ("nw", "nz", "ny", "nx") if header[axis])
    if shape != decoded.shape or np.dtype(header["type"]) != dtype:
        raise ChunkDecodeError(
            f"declares shape {shape}, dtype {np.dtype(header['type'])} "
            f"instead of {decoded.shape}, {dtype}",
            _NAME,
        )
    blocks = prod(-(-length // _SIDE) for length in shape)
    least: int = header["config"]["expert"][
        "minbits"
    ]  # of a block; it may be filled up with nothing
    if blocks * least > len(data) * 8:
        raise _cut(data)
    return _libzfp.padding_with_header(data, shape, dtype)


def _decompress(data: Buffer, padding: bytes) -> np.ndarray[Any, Any]:
    try:
        array: np.ndarray[Any, Any] = _library().decompress_numpy(b"".join((data, padding)))
    except (ValueError, TypeError) as error:
        raise ChunkDecodeError(str(error), _NAME) from error
    return array


def _cut(data: Buffer) -> ChunkDecodeError:
    return ChunkDecodeError(f"cut short after {len(data)} bytes", _NAME)


@cache
def _library() -> Any:
    return optional("zfpy", "zfpy", _NAME)
