"""numcodecs.zlib by deflate, which is libdeflate (bytes -> bytes).

Name:           numcodecs.zlib
Specification:  numcodecs, "Zlib"; RFC 1950, RFC 1951
Configuration:  {"level": 1}
Schema:         schemas/codec/numcodecs.zlib.json
Partial decode: no
Compatible:     zarr-python, TensorStore (version 2), zarrs

The codecs of gzip, and that of zlib for decoding, use this library by themselves where it
is installed.  Its levels 0 to 9 are those of zlib, each to about as many bytes or fewer.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING

import deflate

from zarr_codecs._deflate import GZIP
from zarr_codecs.zlib import ZlibCodec

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

    from zarr_codecs._deflate import Container

_DEFAULT = 6  # level of libdeflate
_SIZES = 1 << 32  # what the size in a gzip trailer is counted modulo
_PRIME = 65521  # what both halves of an Adler-32 are counted modulo

# libdeflate stops after the first stream, and does not say where.  So the stream is given
# other content, by a block of zeros before it, and a trailer for both: where libdeflate finds
# that one, the data end.  It is worked out from the trailer that the data end with.
_ZEROS = 16  # bytes; the content keeps its alignment
_BLOCK = struct.pack("<BHH", 0, _ZEROS, 0xFFFF ^ _ZEROS) + bytes(_ZEROS)  # RFC 1951, 3.2.4
_GZIP = b"\x1f\x8b\x08\x00"  # a member without optional fields
_GZIP_START = _GZIP + bytes(5) + b"\xff" + _BLOCK
_GZIP_HEADER, _ZLIB_HEADER = 10, 2  # bytes
_GZIP_TRAILER, _ZLIB_TRAILER = struct.Struct("<II"), struct.Struct(">HH")
_DICTIONARY = 0x20  # flag in the second byte of a zlib header
_AT_ONCE = 1 << 18  # bytes of zeros


class NumcodecsZlibCodec(ZlibCodec):
    """Compress with zlib, to other bytes than the standard library does."""

    __slots__ = ()

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one stream."""
        level = _DEFAULT if self.level == -1 else self.level
        encoded: bytearray = deflate.zlib_compress(data, level)
        return encoded


def compressed(data: Buffer, level: int) -> Buffer:
    """Compress to one gzip member."""
    encoded: bytearray = deflate.gzip_compress(data, level)
    return encoded


def decompressed(data: Buffer, size: int, container: Container) -> Buffer | None:
    """Decompress data that is exactly one sound stream of known size.

    Parameters
    ----------
    data : Buffer
        The encoded bytes.
    size : int
        Bytes that must come out; more is never allocated, but for a few.
    container : Container
        What stands around the stream.

    Returns
    -------
    Buffer or None
        None if it is anything else, or has a header that is seldom written.
    """
    gzip = container is GZIP
    longer = _longer_gzip(data, size) if gzip else _longer_zlib(data)
    if longer is None:
        return None
    decompress = deflate.gzip_decompress if gzip else deflate.zlib_decompress
    try:
        whole: bytearray = decompress(longer, _ZEROS + size)
    except deflate.DeflateError:
        return None
    return memoryview(whole)[_ZEROS:] if len(whole) == _ZEROS + size else None


def _longer_gzip(data: Buffer, size: int) -> bytes | None:
    """A member with zeros before its content."""
    end = len(data) - _GZIP_TRAILER.size
    if end < _GZIP_HEADER or data[: len(_GZIP)] != _GZIP:
        return None
    checksum, stored_size = _GZIP_TRAILER.unpack_from(data, end)
    if stored_size != size % _SIZES:
        return None
    trailer = _GZIP_TRAILER.pack(checksum ^ _of_zeros(size), (_ZEROS + size) % _SIZES)
    return b"".join((_GZIP_START, memoryview(data)[_GZIP_HEADER:end], trailer))


def _longer_zlib(data: Buffer) -> bytes | None:
    """A stream of zlib with zeros before its content."""
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
def _of_zeros(size: int) -> int:
    """What zeros before so many bytes do to their CRC-32, whatever they are."""
    zeros = bytes(min(size, _AT_ONCE))
    alone, behind = 0, deflate.crc32(bytes(_ZEROS))
    for start in range(0, size, _AT_ONCE):
        some = zeros[: size - start]
        alone, behind = deflate.crc32(some, alone), deflate.crc32(some, behind)
    difference: int = behind ^ alone
    return difference
