"""gzip, numcodecs.gzip, numcodecs.zlib by deflate, which is libdeflate (bytes -> bytes).

Name:           gzip, numcodecs.gzip, numcodecs.zlib
Specification:  v3 codecs, "Gzip codec", version 1.0; RFC 1950, RFC 1951, RFC 1952
Configuration:  {"level": 5}, {"level": 1}, {"level": 1}
Schema:         schemas/codec/<name>.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs, every gzip tool

libdeflate's levels 0 to 9 are those of zlib, each to about as many bytes or fewer.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import deflate

from zarr_fast import _streams
from zarr_fast._deflated import GZIP, ZLIB, DeflateCodec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_DEFAULT = 6  # that of libdeflate
_SMALLEST = 18  # bytes of header and trailer, which every gzip member has


class LibdeflateCodec(DeflateCodec):
    """Compress with libdeflate."""

    __slots__ = ()

    def pieces(self, data: Buffer) -> Iterator[bytes]:
        """Decompress any streams piece by piece, which libdeflate cannot: zlib does it."""
        name, wbits, _, several = self.container
        new = partial(zlib.decompressobj, wbits)
        return _streams.inflated(data, new, zlib.error, several, name)


@dataclass(frozen=True, slots=True)
class GzipCodec(LibdeflateCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        0 (not compressed) to 9 (smallest, slowest).
    """

    level: int = 5
    container = GZIP

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one member."""
        encoded: bytearray = deflate.gzip_compress(data, self.level)
        return encoded

    def decode_whole(self, data: Buffer, size: int) -> Buffer | None:
        """Decompress data that is exactly one sound member of known size."""
        if len(data) < _SMALLEST:
            return None
        try:
            whole: bytearray = deflate.gzip_decompress(data, size)
        except deflate.DeflateError:
            return None
        trailer = deflate.crc32(whole) | (len(whole) & 0xFFFFFFFF) << 32
        sound = len(whole) == size and _ends_with_first(data, trailer.to_bytes(8, "little"))
        return whole if sound else None


@dataclass(frozen=True, slots=True)
class NumcodecsGzipCodec(GzipCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        0 (not compressed) to 9 (smallest, slowest).
    """

    level: int = 1


@dataclass(frozen=True, slots=True)
class NumcodecsZlibCodec(LibdeflateCodec):
    """Compress with zlib.

    Parameters
    ----------
    level : int
        0 (not compressed) to 9 (smallest, slowest); -1 is the library's default, 6.
    """

    level: int = 1
    container = ZLIB

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one stream."""
        level = _DEFAULT if self.level == -1 else self.level
        encoded: bytearray = deflate.zlib_compress(data, level)
        return encoded

    def decode_whole(self, data: Buffer, size: int) -> Buffer | None:
        """Decompress data that is exactly one sound stream of known size."""
        try:
            whole: bytearray = deflate.zlib_decompress(data, size)
        except deflate.DeflateError:
            return None
        trailer = deflate.adler32(whole)
        sound = len(whole) == size and _ends_with_first(data, trailer.to_bytes(4, "big"))
        return whole if sound else None


def _ends_with_first(data: Buffer, trailer: bytes) -> bool:
    """Whether nothing but the end of the data looks like the trailer of the stream.

    libdeflate stops after the first stream, and does not say where.  The last bytes
    alone do not tell: the same stream may be there twice.
    """
    if data[-len(trailer) :] != trailer:
        return False
    return bytes(data).rfind(trailer, 0, len(data) - 1) < 0  # twice as fast as find
