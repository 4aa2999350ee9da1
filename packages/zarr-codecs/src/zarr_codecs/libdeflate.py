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

from typing import TYPE_CHECKING

import deflate

from zarr_codecs._deflate import GZIP
from zarr_codecs.zlib import ZlibCodec

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

    from zarr_codecs._deflate import Container

_DEFAULT = 6  # that of libdeflate
_SMALLEST = 18  # bytes of header and trailer, which every gzip member has


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
        Bytes that must come out; more is never allocated.
    container : Container
        What stands around the stream.

    Returns
    -------
    Buffer or None
        None if it is anything else.
    """
    whole: bytearray
    try:
        if container is GZIP:
            if len(data) < _SMALLEST:
                return None
            whole = deflate.gzip_decompress(data, size)
            checksum = deflate.crc32(whole) | (size & 0xFFFFFFFF) << 32
            trailer = checksum.to_bytes(8, "little")
        else:
            whole = deflate.zlib_decompress(data, size)
            trailer = deflate.adler32(whole).to_bytes(4, "big")
    except deflate.DeflateError:
        return None
    return whole if len(whole) == size and _is_one_stream(data, size, trailer) else None


def _is_one_stream(data: Buffer, size: int, trailer: bytes) -> bool:
    """Whether nothing but the end of the data looks like the trailer of the stream.

    libdeflate stops after the first stream, and does not say where.  What follows shows
    in the last bytes, unless it is a stream of the same content.
    """
    if data[-len(trailer) :] != trailer:
        return False
    # A search takes a twentieth of the time of decompressing, but five times as long as
    # copying what could not be compressed, and that is known by its length.
    if size <= len(data) <= size + size // 1000 + 64:
        return True
    return bytes(data).rfind(trailer, 0, -1) < 0  # twice as fast as find
