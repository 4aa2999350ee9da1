"""Validation of the header of a Blosc frame before c-blosc decodes the frame.

c-blosc does not check the lengths in the header, and would read beyond the end of a
truncated frame.

Specification: c-blosc, "Blosc Chunk Format" (README_CHUNK_FORMAT).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from zarr_core.extension import ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

SIZE = 16
LARGEST_CONTENT = 2**31 - 1 - SIZE
LIBRARIES = ("blosclz", "lz4", "snappy", "zlib", "zstd")
"""Formats of the compressed blocks by number; lz4hc writes lz4."""

_VERSION = 2
_MEMCPYED = 0x02  # flag: the content is not compressed
_RESERVED = 0x08
# Largest ratio of all compressors in Blosc: a Zstandard block of 4 bytes can
# decode to 128 KiB.
_MAX_RATIO = 1 << 15
_unpack = struct.Struct("<BBBBIII").unpack_from


def content_size(data: Buffer) -> int:
    """Return the number of bytes that a frame decodes to, after validating its header."""
    length = len(data)
    if length < SIZE:
        raise _damaged(f"{length} bytes are too few for a header of {SIZE} bytes")
    nbytes: int
    version, _, flags, typesize, nbytes, blocksize, cbytes = _unpack(data)
    if version != _VERSION:
        raise _damaged(f"format version {version} instead of {_VERSION}")
    if cbytes != length:
        raise _damaged(f"the header declares {cbytes} bytes instead of {length}")
    if nbytes > LARGEST_CONTENT:
        raise _damaged(f"the header declares {nbytes} bytes of content; the limit is 2 GiB")
    if not typesize or flags & _RESERVED:
        raise _damaged("the header contains element size 0 or a reserved flag")
    if flags & _MEMCPYED:
        if nbytes + SIZE != length:
            raise _damaged(f"{nbytes} uncompressed bytes in a frame of {length} bytes")
    elif nbytes:
        if not 0 < blocksize <= nbytes:
            raise _damaged(f"block size {blocksize} for {nbytes} bytes of content")
        if flags >> 5 >= len(LIBRARIES):
            raise _damaged(f"undefined compressor number {flags >> 5}")
        starts = -(-nbytes // blocksize) * 4
        if SIZE + starts > length or nbytes > _MAX_RATIO * length:
            raise _damaged(f"a frame of {length} bytes cannot decode to {nbytes} bytes")
    return nbytes


def library(data: Buffer) -> str:
    """Return the compressor of the blocks of a valid frame; empty if uncompressed."""
    return "" if data[2] & _MEMCPYED else LIBRARIES[data[2] >> 5]


def _damaged(reason: str) -> ChunkDecodeError:
    return ChunkDecodeError(reason, "blosc")
