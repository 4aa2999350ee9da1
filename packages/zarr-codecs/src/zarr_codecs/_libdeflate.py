"""Functions of libdeflate, from the package deflate; the only module that imports it."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING

import deflate

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_SIZES = 1 << 32  # modulus of the size in a gzip trailer
_PRIME = 65521  # modulus of both halves of an Adler-32

# libdeflate stops after the first stream without returning its end.  To make sure that the
# stream ends where the data ends, a block of zeros is inserted before it, and the trailer at
# the end of the data is replaced by the one for the extended content: libdeflate accepts only
# this trailer, which is found nowhere else in the data.
_ZEROS = 16  # bytes; the content keeps its alignment
_BLOCK = struct.pack("<BHH", 0, _ZEROS, 0xFFFF ^ _ZEROS) + bytes(_ZEROS)  # RFC 1951 3.2.4
_GZIP = b"\x1f\x8b\x08\x00"  # a member without optional fields
_GZIP_START = _GZIP + bytes(5) + b"\xff" + _BLOCK
_GZIP_HEADER, _ZLIB_HEADER = 10, 2  # bytes
_GZIP_TRAILER, _ZLIB_TRAILER = struct.Struct("<II"), struct.Struct(">HH")
_DICTIONARY = 0x20  # flag in the second byte of a zlib header
_AT_ONCE = 1 << 18  # bytes of zeros


def compress_gzip(data: Buffer, level: int) -> Buffer:
    """Compress to one gzip member."""
    encoded: bytearray = deflate.gzip_compress(data, level)
    return encoded


def decompress(data: Buffer, size: int, gzip: bool) -> Buffer | None:
    """Decompress one valid stream of known size; only a few bytes more are allocated.

    The stream is a gzip member, or a zlib stream.  Return None if the data is anything else, or the
    header has optional fields.
    """
    extended = _extended_gzip(data, size) if gzip else _extended_zlib(data)
    if extended is None:
        return None
    decompress_ = deflate.gzip_decompress if gzip else deflate.zlib_decompress
    try:
        whole: bytearray = decompress_(extended, _ZEROS + size)
    except deflate.DeflateError:
        return None
    return memoryview(whole)[_ZEROS:] if len(whole) == _ZEROS + size else None


def _extended_gzip(data: Buffer, size: int) -> bytes | None:
    """Return a gzip member with zeros before its content."""
    end = len(data) - _GZIP_TRAILER.size
    if end < _GZIP_HEADER or data[: len(_GZIP)] != _GZIP:
        return None
    checksum, stored_size = _GZIP_TRAILER.unpack_from(data, end)
    if stored_size != size % _SIZES:
        return None
    trailer = _GZIP_TRAILER.pack(checksum ^ _crc32_difference(size), (_ZEROS + size) % _SIZES)
    return b"".join((_GZIP_START, memoryview(data)[_GZIP_HEADER:end], trailer))


def _extended_zlib(data: Buffer) -> bytes | None:
    """Return a zlib stream with zeros before its content."""
    end = len(data) - _ZLIB_TRAILER.size
    if end < _ZLIB_HEADER or data[1] & _DICTIONARY:
        return None
    high, low = _ZLIB_TRAILER.unpack_from(data, end)
    if high >= _PRIME:
        return None
    trailer = _ZLIB_TRAILER.pack((high + _ZEROS) % _PRIME, low)
    view = memoryview(data)
    return b"".join((view[:_ZLIB_HEADER], _BLOCK, view[_ZLIB_HEADER:end], trailer))


@lru_cache(maxsize=256)
def _crc32_difference(size: int) -> int:
    """Return the XOR difference of the CRC-32 of ``size`` bytes with and without zeros before."""
    zeros = bytes(min(size, _AT_ONCE))
    alone, behind = 0, deflate.crc32(bytes(_ZEROS))
    for start in range(0, size, _AT_ONCE):
        some = zeros[: size - start]
        alone, behind = deflate.crc32(some, alone), deflate.crc32(some, behind)
    difference: int = behind ^ alone
    return difference
