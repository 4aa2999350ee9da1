"""numcodecs.zfpy codec (array -> bytes): blocks of numbers compressed with zfp.

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
from zarr_codecs._optional import import_optional

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
    """Compress numbers, lossily or losslessly.

    Parameters
    ----------
    mode : {2, 3, 4}
        Parameter that is used: 2 ``rate``, 3 ``precision``, 4 ``tolerance``.
    tolerance : float
        Largest absolute error; a negative one is lossless.
    rate : float
        Bits per element.
    precision : int
        Number of bit planes that are kept.
    compression_kwargs : mapping, optional
        Redundant member that numcodecs writes; it is ignored.
    """

    mode: int = 4
    tolerance: float = -1
    rate: float = -1
    precision: float = -1
    compression_kwargs: Mapping[str, JSON] | None = None

    def __post_init__(self) -> None:
        if self.mode not in _PARAMETERS:
            raise ValueError(f"mode must be 2, 3 or 4, not {self.mode!r}")
        object.__setattr__(self, "compression_kwargs", None)  # makes the codec hashable

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error for data types and shapes that zfp does not support."""
        if decoded.data_type.numpy_dtype.name not in _DTYPES:
            raise ValueError(f"only the data types {', '.join(_DTYPES)} are supported")
        if not 1 <= len(decoded.shape) <= _DIMENSIONS:
            raise ValueError(f"only chunks with 1 to {_DIMENSIONS} dimensions are supported")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Buffer:
        """Compress to one stream with a full header."""
        parameter = _PARAMETERS[self.mode]
        compressed: bytes = _library().compress_numpy(
            np.ascontiguousarray(array), write_header=True, **{parameter: getattr(self, parameter)}
        )
        return compressed

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        """Decompress the stream.

        zfp reads beyond the end of a truncated stream.  The stream is therefore padded, and
        zfp returns the number of bytes that it read.  If the C functions are not available,
        the stream is decompressed twice, padded with zeros and with ones: different results
        mean that the stream is truncated.
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
            raise ChunkDecodeError("decodes to a different shape or dtype", _NAME)
        if first.tobytes() != second.tobytes():
            raise _truncated(data)
        return first


def _padding(data: Buffer, decoded: ArrayRepresentation) -> int:
    """Return the size of the padding, after validating the header."""
    dtype = decoded.data_type.numpy_dtype
    if len(data) % _WORD or not len(data):
        raise _truncated(data)
    try:
        header = _library().header(bytes(data[:_HEADER]) + bytes(_HEADER))
    except ValueError as error:
        raise ChunkDecodeError(str(error), _NAME) from error
    shape = tuple(header[axis] for axis in ("nw", "nz", "ny", "nx") if header[axis])
    if shape != decoded.shape or np.dtype(header["type"]) != dtype:
        raise ChunkDecodeError(
            f"the header declares shape {shape}, dtype {np.dtype(header['type'])} "
            f"instead of {decoded.shape}, {dtype}",
            _NAME,
        )
    blocks = prod(-(-length // _SIDE) for length in shape)
    least: int = header["config"]["expert"]["minbits"]  # per block
    if blocks * least > len(data) * 8:
        raise _truncated(data)
    return _libzfp.padding_with_header(data, shape, dtype)


def _decompress(data: Buffer, padding: bytes) -> np.ndarray[Any, Any]:
    try:
        array: np.ndarray[Any, Any] = _library().decompress_numpy(b"".join((data, padding)))
    except (ValueError, TypeError) as error:
        raise ChunkDecodeError(str(error), _NAME) from error
    return array


def _truncated(data: Buffer) -> ChunkDecodeError:
    return ChunkDecodeError(f"truncated after {len(data)} bytes", _NAME)


@cache
def _library() -> Any:
    return import_optional("zfpy", "zfpy", _NAME)
