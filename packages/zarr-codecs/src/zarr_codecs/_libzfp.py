"""Interface to zfp; the only module that imports it, on first use."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import prod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from zarr_core.extension import CodecError

from zarr_codecs._optional import import_optional

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

    Array = np.ndarray[Any, Any]

Mode: TypeAlias = "tuple[str, Any]"
"""``rate``, ``precision`` or ``tolerance`` with a number; ``expert`` with four integers;
``reversible``; ``header`` if the stream contains the mode in its header."""

REVERSIBLE: Mode = ("reversible", None)
HEADER: Mode = ("header", None)

MAX_PLANES = 64
"""Largest number of bit planes in zfp."""
_MAGIC = b"zfp\x05"  # and the version of the format
_FULL_HEADER = 7  # ZFP_HEADER_FULL
_MAX_BITS = 1 << 31  # limit of the bits of a block, far above the possible
_WORD = 8  # bytes; a stream is a whole number of words
_SLACK = 64  # bytes: a header and the words that zfp reads ahead
_SIDE = 4  # elements of a block, along each dimension
_EXPONENTS = (-1075, 1 << 15)  # limits of minexp; the lowest is lossless
_TYPES = {"int32": 1, "int64": 2, "float32": 3, "float64": 4}


@cache
def _zfpy() -> Any:
    return import_optional("zfpy", "zfpy", "zfp")


def check_expert(parameters: tuple[int, int, int, int]) -> None:
    """Raise a ValueError for parameters that zfp rejects."""
    low, high, _, exponent = parameters
    if not 0 <= low <= high < _MAX_BITS:
        raise ValueError(
            f"minbits {low} and maxbits {high} must satisfy 0 <= minbits <= maxbits < 2**31"
        )
    if not _EXPONENTS[0] <= exponent < _EXPONENTS[1]:
        raise ValueError(f"minexp must be at least {_EXPONENTS[0]}, not {exponent}")


def compress(array: Array, mode: Mode) -> bytes:
    """Compress a C-contiguous array with 1 to 4 dimensions to a stream without a header.

    The dtype is int32, int64, float32 or float64.
    """
    if mode[0] == "expert":
        return _compress_with_c(array, mode)
    compressed: bytes = _zfpy().compress_numpy(array, write_header=False, **_keywords(mode))
    return compressed


def decompress(data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any], mode: Mode) -> Array:
    """Decompress a stream without a header; ValueError if it is truncated or too long.

    zfp reads beyond the end of a truncated stream.  The stream is therefore padded, and
    zfp returns the number of bytes that it read.  If the C functions are not available,
    the stream is decompressed twice, padded with zeros and with ones: different results
    mean that the stream is truncated.
    """
    size, layout = len(data), _stream_layout(shape, dtype, mode)
    if (
        not size
        or size % _WORD
        or size < layout.min_size
        or (layout.is_fixed_size and size > layout.min_size)
    ):
        raise ValueError(f"{size} bytes are not a valid stream for shape {shape}")
    c = _c_library()
    if c is None:
        _require_c(mode)
        return _decompress_twice(data, layout, mode)
    array = _decompress_with_c(c, data, layout, mode)
    if array is None:
        raise ValueError("zfp rejects the parameters")
    return array


def decompress_with_header(
    data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array | None:
    """Decompress a stream with a header; ValueError if it is truncated.

    Return None if the header does not match the chunk, the stream is too short for the chunk, or
    this build of zfpy does not export the C functions.
    """
    size, c = len(data), _c_library()
    if c is None or not size or size % _WORD:
        return None
    layout = _stream_layout(shape, dtype, HEADER)
    return _decompress_with_c(c, data, layout, HEADER)


def has_header(data: Buffer, size: int, dtype: np.dtype[Any]) -> bool:
    """Return whether a stream begins with the header of zfp for a number of elements of a dtype.

    After the magic number follow, from the lowest bit, type and dimensions less one, 2 bits each,
    and in the other 48 of 52 bits the lengths less one.
    """
    if bytes(data[:4]) != _MAGIC or len(data) < 2 * _WORD:
        return False
    metadata = int.from_bytes(data[4:11], "little")
    bits = 48 // (dimensions := (metadata >> 2 & 3) + 1)
    lengths = ((metadata >> 4 + bits * axis & (1 << bits) - 1) + 1 for axis in range(dimensions))
    return (metadata & 3) + 1 == _TYPES[dtype.name] and prod(lengths) == size


def padding_with_header(data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Return the number of bytes that zfp may read beyond the end of a stream with a header."""
    return _stream_layout(shape, dtype, HEADER).padded_size(len(data)) - len(data)


def _keywords(mode: Mode) -> dict[str, Any]:
    return {} if mode == REVERSIBLE else dict((mode,))


def _truncated(size: int) -> ValueError:
    return ValueError(f"truncated after {size} bytes")


def _decompress_twice(data: Buffer, layout: _StreamLayout, mode: Mode) -> Array:
    """Decompress with two different paddings, without the C functions."""
    padding = layout.padded_size(len(data)) - len(data)
    decompress_ = _zfpy()._decompress  # noqa: SLF001 - documented for streams without a header
    first, second = (
        decompress_(
            b"".join((data, filling * padding)), layout.kind, layout.shape, **_keywords(mode)
        )
        for filling in (b"\0", b"\xff")
    )
    if first.tobytes() != second.tobytes():
        raise _truncated(len(data))
    array: Array = first
    return array


@dataclass(frozen=True, slots=True)
class _StreamLayout:
    """Properties of all streams of one shape, dtype and mode; sizes are in bytes.

    ``lengths`` is the shape in the order of zfp, the fastest dimension first; ``kind`` is its
    ``zfp_type``; ``max_read`` is the largest number of bytes that zfp reads from the beginning;
    ``metadata`` is the shape and dtype as in a header, None without the C functions.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    lengths: tuple[int, ...]
    kind: int
    blocks: int
    min_size: int
    is_fixed_size: bool
    max_read: int
    metadata: int | None = None

    def padded_size(self, size: int) -> int:
        """Return the size of the padded buffer for a stream of ``size`` bytes."""
        return max(size, self.max_read) + _SLACK


@lru_cache(maxsize=256)
def _stream_layout(shape: tuple[int, ...], dtype: np.dtype[Any], mode: Mode) -> _StreamLayout:
    blocks = prod(-(-length // _SIDE) for length in shape)
    each, exactly = _min_block_bits(len(shape), dtype, mode)
    least = -(-blocks * each // (8 * _WORD)) * _WORD
    # Largest number of significant bits of a block.
    most = max(_SIDE ** len(shape) * (dtype.itemsize * 8 + 2) + 32, each)
    most_bytes = -(-blocks * most // 8)
    kind = _TYPES[dtype.name]
    layout = _StreamLayout(shape, dtype, shape[::-1], kind, blocks, least, exactly, most_bytes)
    c = _c_library()
    if c is None:
        return layout
    field = _field(c, layout, None)
    metadata = c.zfp_field_metadata(field)
    c.zfp_field_free(field)
    return replace(layout, metadata=metadata)


def _min_block_bits(dimensions: int, dtype: np.dtype[Any], mode: Mode) -> tuple[int, bool]:
    """Return the smallest number of bits of a block, and whether all blocks have it."""
    name, value = mode
    if name == "expert":
        return value[0], False
    if name != "rate":
        return 0, False
    # As in zfp_stream_set_rate: a block of floats always contains the exponent.
    floor = {"float32": 9, "float64": 12}.get(dtype.name, 0)
    return max(int(_SIDE**dimensions * value + 0.5), floor), True


# --- C functions of the library in zfpy: expert mode, number of bytes read ---

_POINTER, _SIZE, _DOUBLE = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double
_INT, _UINT = ctypes.c_int, ctypes.c_uint
_SLOW_FUNCTIONS = {
    "zfp_compress": (_SIZE, 2 * [_POINTER]),
    "zfp_decompress": (_SIZE, 2 * [_POINTER]),
}
"""Slow functions, called without the GIL: types of the result and the arguments."""

_FAST_FUNCTIONS: dict[str, Any] = {
    "stream_open": (_POINTER, [_POINTER, _SIZE]),
    "stream_close": (None, [_POINTER]),
    "zfp_stream_open": (_POINTER, [_POINTER]),
    "zfp_stream_close": (None, [_POINTER]),
    "zfp_stream_set_bit_stream": (None, [_POINTER, _POINTER]),
    "zfp_stream_set_reversible": (None, [_POINTER]),
    "zfp_stream_set_rate": (_DOUBLE, [_POINTER, _DOUBLE, _INT, _UINT, _INT]),
    "zfp_stream_set_precision": (_UINT, [_POINTER, _UINT]),
    "zfp_stream_set_accuracy": (_DOUBLE, [_POINTER, _DOUBLE]),
    "zfp_stream_set_params": (_INT, [_POINTER, _UINT, _UINT, _UINT, _INT]),
    "zfp_stream_maximum_size": (_SIZE, [_POINTER, _POINTER]),
    "zfp_read_header": (_SIZE, [_POINTER, _POINTER, _UINT]),
    "zfp_field_alloc": (_POINTER, []),
    "zfp_field_set_pointer": (None, [_POINTER, _POINTER]),
    "zfp_field_metadata": (ctypes.c_uint64, [_POINTER]),
    "zfp_field_free": (None, [_POINTER]),
} | {f"zfp_field_{n}d": (_POINTER, [_POINTER, _INT, *n * [_SIZE]]) for n in range(1, 5)}
"""Fast functions, called with the GIL."""


@cache
def _c_library() -> Any:
    """Return the C functions; None if this build of zfpy does not export them."""
    path = _zfpy().__file__  # and the libraries that it is linked with
    functions = SimpleNamespace()
    try:
        for library, types in (
            (ctypes.CDLL(path), _SLOW_FUNCTIONS),
            (ctypes.PyDLL(path), _FAST_FUNCTIONS),
        ):
            for name, (result, arguments) in types.items():
                function: Any = getattr(library, name)
                function.restype, function.argtypes = result, arguments
                setattr(functions, name, function)
        functions.fields = {n: getattr(functions, f"zfp_field_{n}d") for n in range(1, 5)}
    except (OSError, AttributeError):
        return None
    return functions


def _require_c(mode: Mode) -> None:
    if mode[0] == "expert" and _c_library() is None:
        raise CodecError(
            "mode \"expert\" of the codec 'zfp' is not supported by this build of zfpy, "
            "which does not export the C functions of zfp; install a wheel from PyPI"
        )


def _compress_with_c(array: Array, mode: Mode) -> bytes:
    _require_c(mode)
    c, layout = _c_library(), _stream_layout(array.shape, array.dtype, mode)
    stream, field, bits = c.zfp_stream_open(None), _field(c, layout, array.ctypes.data), None
    try:
        if not _set_mode(c, layout, mode, stream):
            raise ValueError("zfp rejects the parameters")
        buffer = np.empty(c.zfp_stream_maximum_size(stream, field) + _WORD, np.uint8)
        bits = c.stream_open(buffer.ctypes.data, len(buffer))
        c.zfp_stream_set_bit_stream(stream, bits)
        size: int = c.zfp_compress(stream, field)
    finally:
        c.stream_close(bits)
        c.zfp_field_free(field)
        c.zfp_stream_close(stream)
    if not size:
        raise ValueError("zfp cannot compress the elements with these parameters")
    return buffer[:size].tobytes()


def _decompress_with_c(c: Any, data: Buffer, layout: _StreamLayout, mode: Mode) -> Array | None:
    """Decompress; return None if zfp rejects the mode, or the header does not match."""
    size, array = len(data), np.empty(layout.shape, layout.dtype)
    address, padded = array.ctypes.data, bytes(data).ljust(layout.padded_size(size))
    has_header = mode is HEADER
    bits = c.stream_open(padded, len(padded))
    stream = c.zfp_stream_open(bits)
    field = c.zfp_field_alloc() if has_header else _field(c, layout, address)
    try:
        if has_header:
            c.zfp_field_set_pointer(field, address)
            if not _read_header(c, layout, 8 * size, stream, field):
                return None
        elif not _set_mode(c, layout, mode, stream):
            return None
        nbytes_read = c.zfp_decompress(stream, field)
    finally:
        c.stream_close(bits)
        c.zfp_field_free(field)
        c.zfp_stream_close(stream)
    if not nbytes_read:
        raise ValueError("zfp cannot decompress the stream")
    if nbytes_read > size:
        raise _truncated(size)
    return array


def _field(c: Any, layout: _StreamLayout, address: int | None) -> Any:
    """Return a ``zfp_field`` for an array."""
    return c.fields[len(layout.lengths)](address, layout.kind, *layout.lengths)


def _set_mode(c: Any, layout: _StreamLayout, mode: Mode, stream: int) -> bool:
    """Set the mode of a zfp stream; return whether zfp accepts it."""
    name, value = mode
    if name == "reversible":
        c.zfp_stream_set_reversible(stream)
    elif name == "rate":
        c.zfp_stream_set_rate(stream, value, layout.kind, len(layout.lengths), 0)
    elif name == "precision":
        c.zfp_stream_set_precision(stream, value)
    elif name == "tolerance":
        c.zfp_stream_set_accuracy(stream, value)
    else:
        return bool(c.zfp_stream_set_params(stream, *value))
    return True


def _read_header(c: Any, layout: _StreamLayout, size: int, stream: int, field: int) -> bool:
    """Read the header; return whether it matches the layout in a stream of ``size`` bits."""
    read = c.zfp_read_header(stream, field, _FULL_HEADER)
    if not read or c.zfp_field_metadata(field) != layout.metadata:
        return False
    least: int = _UINT.from_address(stream).value  # zfp_stream.minbits, per block
    return layout.blocks * least <= size
