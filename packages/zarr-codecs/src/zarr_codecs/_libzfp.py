"""The one door to zfp, imported when a chunk first needs it."""

from __future__ import annotations

import ctypes
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from zarr_core.extension import CodecError

from zarr_codecs._optional import optional

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import Buffer

    Array = np.ndarray[Any, Any]

Parameters: TypeAlias = "Mapping[str, Any]"
"""``rate``, ``precision`` or ``tolerance``; or ``expert``, four integers; nothing: no loss."""

MOST_PLANES = 64
"""Bit planes that zfp has at most."""
_FULL = 7  # the header with all its parts
_MOST_BITS = 1 << 31  # of a block; far more than there can be
_WORD = 8  # bytes; a stream is a whole number of words
_SIDE = 4  # elements of a block, along each dimension
_EXPONENTS = (-1075, 1 << 15)  # the lowest means that nothing is lost


@cache
def _zfpy() -> Any:
    return optional("zfpy", "zfpy", "zfp")


def check_expert(parameters: tuple[int, int, int, int]) -> None:
    """Refuse parameters that zfp would.

    Raises
    ------
    ValueError
        If they contradict each other, or are beyond what zfp has.
    """
    low, high, _, exponent = parameters
    if not 0 <= low <= high < _MOST_BITS:
        raise ValueError(f"minbits {low} and maxbits {high} must be 0 to 2**31, minbits not larger")
    if not _EXPONENTS[0] <= exponent < _EXPONENTS[1]:
        raise ValueError(f"minexp must be at least {_EXPONENTS[0]}, not {exponent}")


def compress(array: Array, parameters: Parameters) -> bytes:
    """Compress to a stream without header.

    Parameters
    ----------
    array : ndarray
        In C order, of 1 to 4 dimensions; int32, int64, float32 or float64.
    parameters : mapping
        See ``Parameters``.
    """
    if "expert" in parameters:
        return _compress_by_c(array, parameters)
    compressed: bytes = _zfpy().compress_numpy(array, write_header=False, **parameters)
    return compressed


def decompress(
    data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any], parameters: Parameters
) -> Array:
    """Decompress a stream without header.

    zfp reads on where a stream was cut short.  So it is given more bytes than it
    can read, and asked how many it took.  If it cannot be asked, they are once zeros
    and once ones: what depends on them was cut short.

    Raises
    ------
    ValueError
        If the stream is cut short, or too long for its rate.
    """
    blocks = prod(-(-length // _SIDE) for length in shape)
    least, exactly = _least_bits(len(shape), dtype, parameters)
    need = -(-blocks * least // (8 * _WORD)) * _WORD
    if not len(data) or len(data) % _WORD or len(data) < need or (exactly and len(data) > need):
        raise ValueError(f"{len(data)} bytes cannot be a stream of {shape} elements")
    # Bits of a block that have a meaning.
    most = max(_SIDE ** len(shape) * (dtype.itemsize * 8 + 2) + 32, least)
    padding = -(-blocks * most // 8) + 4 * _WORD
    if _c_library() is not None:
        return _decompress_by_c(data, shape, dtype, parameters, padding)
    _require_c(parameters)
    results = []
    for filling in (b"\0", b"\xff"):
        stream = b"".join((data, filling * padding))
        kind = _zfpy().dtype_to_ztype(dtype)
        decompress_ = _zfpy()._decompress  # noqa: SLF001 - documented for streams without header
        results.append(decompress_(stream, kind, shape, **parameters))
    first, second = results
    if first.tobytes() != second.tobytes():
        raise _cut(data)
    array: Array = first
    return array


def decompress_with_header(
    data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any], padding: int
) -> Array | None:
    """Decompress a stream whose header was compared with shape and dtype before.

    Parameters
    ----------
    padding : int
        Bytes that zfp may read beyond the end.

    Returns
    -------
    ndarray or None
        None if this build of zfpy hides the functions for it.

    Raises
    ------
    ValueError
        If the stream is cut short.
    """
    if _c_library() is None:
        return None
    return _decompress_by_c(data, shape, dtype, {"header": True}, padding)


def _cut(data: Buffer) -> ValueError:
    return ValueError(f"cut short after {len(data)} bytes")


def _least_bits(dimensions: int, dtype: np.dtype[Any], parameters: Parameters) -> tuple[int, bool]:
    """Bits that a block takes at least, and whether every block takes as many."""
    if "expert" in parameters:
        low, _, _, _ = parameters["expert"]
        return low, False
    if "rate" not in parameters:
        return 0, False
    # As zfp_stream_set_rate has it: of floats the exponent always fits in.
    floor = {"float32": 9, "float64": 12}.get(dtype.name, 0)
    return max(int(_SIDE**dimensions * parameters["rate"] + 0.5), floor), True


# --- the C functions beneath zfpy, which offer more: the mode of experts, and the bytes read ---


@cache
def _c_library() -> Any:
    """The library, None if this build of zfpy hides its functions."""
    try:
        c = ctypes.CDLL(_zfpy().__file__)  # and what it is linked with
        c.zfp_stream_set_params.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 3, ctypes.c_int]
        for name in ("stream_open", "zfp_stream_open", *(f"zfp_field_{n}d" for n in range(1, 5))):
            getattr(c, name).restype = ctypes.c_void_p
        for name in ("zfp_compress", "zfp_decompress", "zfp_stream_maximum_size"):
            getattr(c, name).restype = ctypes.c_size_t
            getattr(c, name).argtypes = [ctypes.c_void_p] * 2
        c.zfp_read_header.restype = ctypes.c_size_t
        for name in ("zfp_stream_set_rate", "zfp_stream_set_accuracy"):
            getattr(c, name).restype = ctypes.c_double
    except (OSError, AttributeError):
        return None
    return c


def _require_c(parameters: Parameters) -> None:
    if "expert" in parameters and _c_library() is None:
        raise CodecError(
            "the codec 'zfp' needs, for its mode \"expert\", the functions of the library that "
            "the package zfpy contains; this build hides them. Install another one."
        )


def _compress_by_c(array: Array, parameters: Parameters) -> bytes:
    _require_c(parameters)
    with _Stream(array, parameters) as stream:
        room = np.empty(stream.most + _WORD, np.uint8)
        size = stream.run("zfp_compress", room)
    if not size:
        raise ValueError("zfp cannot compress these elements with such parameters")
    return room[:size].tobytes()


def _decompress_by_c(
    data: Buffer,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    parameters: Parameters,
    padding: int,
) -> Array:
    array = np.zeros(shape, dtype)
    octets = np.zeros(len(data) + padding, np.uint8)
    octets[: len(data)] = np.frombuffer(data, np.uint8)
    with _Stream(array, parameters) as stream:
        size = stream.run("zfp_decompress", octets)
    if not size:
        raise ValueError("zfp cannot decompress it")
    if size > len(data):
        raise _cut(data)
    return array


class _Stream:
    """A stream of zfp and an array, as the C functions have them."""

    def __init__(self, array: Array, parameters: Parameters) -> None:
        self._c = _c_library()
        kind = {"int32": 1, "int64": 2, "float32": 3, "float64": 4}[array.dtype.name]
        lengths = [ctypes.c_size_t(length) for length in reversed(array.shape)]
        make = getattr(self._c, f"zfp_field_{array.ndim}d")
        self._field = ctypes.c_void_p(make(ctypes.c_void_p(array.ctypes.data), kind, *lengths))
        self._stream = ctypes.c_void_p(self._c.zfp_stream_open(None))
        self._accepted = True
        self._headed = "header" in parameters
        if "expert" in parameters:
            expert = parameters["expert"]
            self._accepted = self._c.zfp_stream_set_params(self._stream, *expert)
        elif "rate" in parameters:
            rate = ctypes.c_double(parameters["rate"])
            self._c.zfp_stream_set_rate(self._stream, rate, kind, array.ndim, 0)
        elif "precision" in parameters:
            self._c.zfp_stream_set_precision(self._stream, parameters["precision"])
        elif "tolerance" in parameters:
            tolerance = ctypes.c_double(parameters["tolerance"])
            self._c.zfp_stream_set_accuracy(self._stream, tolerance)
        else:
            self._c.zfp_stream_set_reversible(self._stream)

    @property
    def most(self) -> int:
        """Bytes that the stream takes at most."""
        size: int = self._c.zfp_stream_maximum_size(self._stream, self._field)
        return size

    def run(self, function: str, octets: Array) -> int:
        """Compress or decompress; gives the bytes of the stream, 0 if that failed."""
        if not self._accepted:
            raise ValueError("zfp refuses the parameters")
        address = ctypes.c_void_p(octets.ctypes.data)
        bits = ctypes.c_void_p(self._c.stream_open(address, ctypes.c_size_t(octets.nbytes)))
        try:
            self._c.zfp_stream_set_bit_stream(self._stream, bits)
            self._c.zfp_stream_rewind(self._stream)
            if self._headed:
                self._c.zfp_read_header(self._stream, self._field, _FULL)
            size: int = getattr(self._c, function)(self._stream, self._field)
            return size
        finally:
            self._c.stream_close(bits)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self._c.zfp_field_free(self._field)
        self._c.zfp_stream_close(self._stream)
