"""DEFLATE streams by the fastest library that is installed.

libdeflate (the package ``deflate``) where it is installed, the standard library
otherwise.  Measured on one core with 64 KiB of an int32 random walk, level 5, in
microseconds: encoding 483 with libdeflate (17.6 kB), 1114 with zlib (19.0 kB);
decoding 48 with libdeflate, 64 with isal, 140 with zlib.  isal encodes faster than
libdeflate, but only at its own levels 0 to 3 and to more bytes than zlib's
level 1, so it would not be the level that was asked for.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_GZIP = 31  # zlib's "wbits" for a window of 32 KiB in a gzip container
_SMALLEST = 18  # bytes of header and trailer, which every member has
MOST = 1032
"""DEFLATE gives at most this many bytes for one."""


@cache
def _libdeflate() -> Any:
    try:
        import deflate  # noqa: PLC0415 - lazy: optional
    except ImportError:
        return None
    return deflate


def compress(data: Buffer, level: int) -> Buffer:
    """Compress to one gzip member.

    Parameters
    ----------
    data : Buffer
        What to compress.
    level : int
        0 (stored as it is) to 9 (smallest).
    """
    library = _libdeflate()
    if library is None:
        return zlib.compress(data, level, wbits=_GZIP)
    return library.gzip_compress(data, level)  # type: ignore[no-any-return]  # bytearray


def decompress_whole(data: Buffer, size: int) -> Buffer | None:
    """Decompress data that is exactly one sound member of known size.

    Parameters
    ----------
    data : Buffer
        The encoded bytes.
    size : int
        Bytes that must come out; more is never allocated.

    Returns
    -------
    Buffer or None
        None if it is anything else, or libdeflate is not there; zlib has to look.
    """
    library = _libdeflate()
    if library is None or not size or len(data) < _SMALLEST:
        return None
    try:
        decoded = library.gzip_decompress(data, size)
    except library.DeflateError:
        return None
    # libdeflate stops after the first member.  What follows it shows in the
    # last 8 bytes, which then are not the trailer of that member.
    trailer = library.crc32(decoded) | (len(decoded) & 0xFFFFFFFF) << 32
    if len(decoded) != size or int.from_bytes(data[-8:], "little") != trailer:
        return None
    return decoded  # type: ignore[no-any-return]  # bytearray


def decompress_zlib(data: Buffer, size: int) -> Buffer | None:
    """Decompress data that is exactly one sound zlib stream of known size.

    Parameters
    ----------
    data, size
        As for :func:`decompress_whole`.

    Returns
    -------
    Buffer or None
        None if it is anything else, or libdeflate is not there; zlib has to look.
    """
    library = _libdeflate()
    if library is None or not size:
        return None
    try:
        decoded = library.zlib_decompress(data, size)
    except library.DeflateError:
        return None
    # As for gzip: what follows the stream shows in the last bytes.
    trailer = library.adler32(decoded)
    if len(decoded) != size or int.from_bytes(data[-4:], "big") != trailer:
        return None
    return decoded  # type: ignore[no-any-return]  # bytearray


def decompressor() -> zlib._Decompress:
    """Make what decompresses one member piece by piece."""
    return zlib.decompressobj(wbits=_GZIP)
