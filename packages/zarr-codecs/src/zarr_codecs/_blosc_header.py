"""The header of a Blosc frame, checked before c-blosc sees the frame.

c-blosc believes what the header says about lengths; a frame that was cut short
would be read beyond its end.

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
"""Formats of the compressed blocks, by their number; lz4hc writes lz4."""

_VERSION = 2
_COPIED = 0x02  # flag: the content follows as it is
_RESERVED = 0x08
# No compressor inside Blosc gets more out of a byte: a Zstandard block of
# 4 bytes may stand for 128 KiB.
_MOST = 1 << 15
_unpack = struct.Struct("<BBBBIII").unpack_from


def content_size(data: Buffer) -> int:
    """Bytes of content that a frame declares, once its header is known to be sound.

    Raises
    ------
    ChunkDecodeError
        If the header contradicts itself or the length of the frame.
    """
    length = len(data)
    if length < SIZE:
        raise _damaged(f"{length} bytes; the header alone takes {SIZE}")
    nbytes: int
    version, _, flags, typesize, nbytes, blocksize, cbytes = _unpack(data)
    if version != _VERSION:
        raise _damaged(f"format version {version}, not {_VERSION}")
    if cbytes != length:
        raise _damaged(f"the header declares a frame of {cbytes} bytes, {length} are here")
    if nbytes > LARGEST_CONTENT:
        raise _damaged(f"the header declares {nbytes} bytes; no frame may hold more than 2 GiB")
    if not typesize or flags & _RESERVED:
        raise _damaged("element size 0 or a reserved flag in the header")
    if flags & _COPIED:
        if nbytes + SIZE != length:
            raise _damaged(f"{nbytes} bytes stored as they are, in a frame of {length} bytes")
    elif nbytes:
        if not 0 < blocksize <= nbytes:
            raise _damaged(f"blocks of {blocksize} bytes in {nbytes} bytes")
        if flags >> 5 >= len(LIBRARIES):
            raise _damaged(f"compressor number {flags >> 5}, which is not defined")
        starts = -(-nbytes // blocksize) * 4
        if SIZE + starts > length or nbytes > _MOST * length:
            raise _damaged(f"{nbytes} bytes cannot come out of a frame of {length} bytes")
    return nbytes


def library(data: Buffer) -> str:
    """Which compressor the blocks of a sound frame need; empty if none."""
    return "" if data[2] & _COPIED else LIBRARIES[data[2] >> 5]


def _damaged(reason: str) -> ChunkDecodeError:
    return ChunkDecodeError(reason, "blosc")
