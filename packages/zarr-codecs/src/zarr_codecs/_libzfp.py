"""The one door to zfp, imported when a chunk first needs it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import prod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from zarr_core.extension import CodecError

from zarr_codecs._optional import optional

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

    Array = np.ndarray[Any, Any]

Mode: TypeAlias = "tuple[str, Any]"
"""``rate``, ``precision`` or ``tolerance`` with a number; ``expert`` with four integers;
``reversible``; ``header`` if the stream says it itself."""

REVERSIBLE: Mode = ("reversible", None)
HEADER: Mode = ("header", None)

MOST_PLANES = 64
"""Bit planes that zfp has at most."""
_FULL = 7  # the header with all its parts
_MOST_BITS = 1 << 31  # of a block; far more than there can be
_WORD = 8  # bytes; a stream is a whole number of words
_SLACK = 64  # bytes: a header, the words that zfp reads ahead
_SIDE = 4  # elements of a block, along each dimension
_EXPONENTS = (-1075, 1 << 15)  # the lowest means that nothing is lost
_TYPES = {"int32": 1, "int64": 2, "float32": 3, "float64": 4}


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


def compress(array: Array, mode: Mode) -> bytes:
    """Compress to a stream without header.

    Parameters
    ----------
    array : ndarray
        In C order, of 1 to 4 dimensions; int32, int64, float32 or float64.
    mode : tuple
        See ``Mode``.
    """
    if mode[0] == "expert":
        return _compressed_by_c(array, mode)
    compressed: bytes = _zfpy().compress_numpy(array, write_header=False, **_keywords(mode))
    return compressed


def decompress(data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any], mode: Mode) -> Array:
    """Decompress a stream without header.

    zfp reads on where a stream was cut short.  So it is given more bytes than it
    can read, and asked how many it took.  If it cannot be asked, they are once zeros
    and once ones: what depends on them was cut short.

    Raises
    ------
    ValueError
        If the stream is cut short, or too long for its rate.
    """
    size, form = len(data), _form(shape, dtype, mode)
    if not size or size % _WORD or size < form.least or (form.exactly and size > form.least):
        raise ValueError(f"{size} bytes cannot be a stream of {shape} elements")
    c = _c_library()
    if c is None:
        _require_c(mode)
        return _decompressed_twice(data, form, mode)
    array = _decompressed_by_c(c, data, form, mode)
    if array is None:
        raise ValueError("zfp refuses the parameters")
    return array


def decompress_with_header(
    data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array | None:
    """Decompress a stream with a header.

    Returns
    -------
    ndarray or None
        None if the header is not that of such a chunk, or such a chunk cannot be in so
        few bytes; or if this build of zfpy hides the functions for it.

    Raises
    ------
    ValueError
        If the stream is cut short.
    """
    size, c = len(data), _c_library()
    if c is None or not size or size % _WORD:
        return None
    form = _form(shape, dtype, HEADER)
    return _decompressed_by_c(c, data, form, HEADER)


def padding_with_header(data: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Bytes that zfp may read beyond the end of a stream with a header."""
    return _form(shape, dtype, HEADER).room(len(data)) - len(data)


def _keywords(mode: Mode) -> dict[str, Any]:
    return {} if mode == REVERSIBLE else dict((mode,))


def _cut(size: int) -> ValueError:
    return ValueError(f"cut short after {size} bytes")


def _decompressed_twice(data: Buffer, form: _Form, mode: Mode) -> Array:
    """Decompress with either padding, where zfp cannot be asked what it read."""
    padding = form.room(len(data)) - len(data)
    decompress_ = _zfpy()._decompress  # noqa: SLF001 - documented for streams without header
    first, second = (
        decompress_(b"".join((data, filling * padding)), form.kind, form.shape, **_keywords(mode))
        for filling in (b"\0", b"\xff")
    )
    if first.tobytes() != second.tobytes():
        raise _cut(len(data))
    array: Array = first
    return array


@dataclass(frozen=True, slots=True)
class _Form:
    """What is the same for all streams of one shape, dtype and mode.

    Parameters
    ----------
    shape : tuple of int
        That of the elements.
    dtype : dtype
        Theirs.
    lengths : tuple of int
        The shape as zfp has it, the fastest dimension first.
    kind : int
        The number that zfp has for it.
    blocks : int
        How many there are.
    least : int
        Bytes that a stream has at least.
    exactly : bool
        Whether it has exactly so many.
    most : int
        Bytes that zfp reads at most, from the beginning.
    metadata : int or None
        What a header says of shape and dtype, as zfp encodes it; None if zfp cannot be asked.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    lengths: tuple[int, ...]
    kind: int
    blocks: int
    least: int
    exactly: bool
    most: int
    metadata: int | None = None

    def room(self, size: int) -> int:
        """Bytes to give to zfp, the first of which are those of a stream."""
        return max(size, self.most) + _SLACK


@lru_cache(maxsize=256)
def _form(shape: tuple[int, ...], dtype: np.dtype[Any], mode: Mode) -> _Form:
    blocks = prod(-(-length // _SIDE) for length in shape)
    each, exactly = _least_bits(len(shape), dtype, mode)
    least = -(-blocks * each // (8 * _WORD)) * _WORD
    # Bits of a block that have a meaning.
    most = max(_SIDE ** len(shape) * (dtype.itemsize * 8 + 2) + 32, each)
    most_bytes = -(-blocks * most // 8)
    kind = _TYPES[dtype.name]
    form = _Form(shape, dtype, shape[::-1], kind, blocks, least, exactly, most_bytes)
    c = _c_library()
    if c is None:
        return form
    field = _field(c, form, None)
    metadata = c.zfp_field_metadata(field)
    c.zfp_field_free(field)
    return replace(form, metadata=metadata)


def _least_bits(dimensions: int, dtype: np.dtype[Any], mode: Mode) -> tuple[int, bool]:
    """Bits that a block takes at least, and whether every block takes as many."""
    name, value = mode
    if name == "expert":
        return value[0], False
    if name != "rate":
        return 0, False
    # As zfp_stream_set_rate has it: of floats the exponent always fits in.
    floor = {"float32": 9, "float64": 12}.get(dtype.name, 0)
    return max(int(_SIDE**dimensions * value + 0.5), floor), True


# --- the C functions beneath zfpy, which offer more: the mode of experts, and the bytes read ---

_POINTER, _SIZE, _DOUBLE = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double
_INT, _UINT = ctypes.c_int, ctypes.c_uint
_WORKING = {"zfp_compress": (_SIZE, 2 * [_POINTER]), "zfp_decompress": (_SIZE, 2 * [_POINTER])}
"""What takes time, and lets other threads run: the result, the arguments."""

_QUICK: dict[str, Any] = {
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
"""What takes less time than letting other threads run."""


@cache
def _c_library() -> Any:
    """The functions, None if this build of zfpy hides them."""
    path = _zfpy().__file__  # and what it is linked with
    functions = SimpleNamespace()
    try:
        for library, types in ((ctypes.CDLL(path), _WORKING), (ctypes.PyDLL(path), _QUICK)):
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
            "the codec 'zfp' needs, for its mode \"expert\", the functions of the library that "
            "the package zfpy contains; this build hides them. Install another one."
        )


def _compressed_by_c(array: Array, mode: Mode) -> bytes:
    _require_c(mode)
    c, form = _c_library(), _form(array.shape, array.dtype, mode)
    stream, field, bits = c.zfp_stream_open(None), _field(c, form, array.ctypes.data), None
    try:
        if not _set_mode(c, form, mode, stream):
            raise ValueError("zfp refuses the parameters")
        room = np.empty(c.zfp_stream_maximum_size(stream, field) + _WORD, np.uint8)
        bits = c.stream_open(room.ctypes.data, len(room))
        c.zfp_stream_set_bit_stream(stream, bits)
        size: int = c.zfp_compress(stream, field)
    finally:
        c.stream_close(bits)
        c.zfp_field_free(field)
        c.zfp_stream_close(stream)
    if not size:
        raise ValueError("zfp cannot compress these elements with such parameters")
    return room[:size].tobytes()


def _decompressed_by_c(c: Any, data: Buffer, form: _Form, mode: Mode) -> Array | None:
    """Decompress; None if zfp refuses the mode, or the header is not one of the form."""
    size, array = len(data), np.empty(form.shape, form.dtype)
    address, octets = array.ctypes.data, bytes(data).ljust(form.room(size))
    headed = mode is HEADER
    bits = c.stream_open(octets, len(octets))
    stream = c.zfp_stream_open(bits)
    field = c.zfp_field_alloc() if headed else _field(c, form, address)
    try:
        if headed:
            c.zfp_field_set_pointer(field, address)
            if not _read_header(c, form, 8 * size, stream, field):
                return None
        elif not _set_mode(c, form, mode, stream):
            return None
        taken = c.zfp_decompress(stream, field)
    finally:
        c.stream_close(bits)
        c.zfp_field_free(field)
        c.zfp_stream_close(stream)
    if not taken:
        raise ValueError("zfp cannot decompress it")
    if taken > size:  # what it read there does not matter
        raise _cut(size)
    return array


def _field(c: Any, form: _Form, address: int | None) -> Any:
    """An array as zfp has it."""
    return c.fields[len(form.lengths)](address, form.kind, *form.lengths)


def _set_mode(c: Any, form: _Form, mode: Mode, stream: int) -> bool:
    """Tell a stream of zfp its mode; whether zfp accepts it."""
    name, value = mode
    if name == "reversible":
        c.zfp_stream_set_reversible(stream)
    elif name == "rate":
        c.zfp_stream_set_rate(stream, value, form.kind, len(form.lengths), 0)
    elif name == "precision":
        c.zfp_stream_set_precision(stream, value)
    elif name == "tolerance":
        c.zfp_stream_set_accuracy(stream, value)
    else:
        return bool(c.zfp_stream_set_params(stream, *value))
    return True


def _read_header(c: Any, form: _Form, size: int, stream: int, field: int) -> bool:
    """Read the mode; whether the header is one of the form, in a stream of so many bits."""
    read = c.zfp_read_header(stream, field, _FULL)
    if not read or c.zfp_field_metadata(field) != form.metadata:
        return False
    least: int = _UINT.from_address(stream).value  # zfp_stream.minbits, of a block
    return form.blocks * least <= size
