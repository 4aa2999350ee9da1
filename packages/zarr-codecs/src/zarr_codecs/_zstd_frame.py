"""What Zstandard frames say about themselves, without decompressing them.

Specification: RFC 8878, section 3.1 "Frames".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zarr_core.extension import ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE_MAGIC = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5F
_LARGEST_BLOCK = 1 << 17
_DICTIONARY_ID_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_RAW, _REPEATED, _COMPRESSED = 0, 1, 2


class Extent(NamedTuple):
    """How much frames hold.

    Parameters
    ----------
    declared : int or None
        Bytes of content by the headers; None if one of them does not say.
    most : int
        Bytes that the blocks can hold, whatever the headers say.
    """

    declared: int | None
    most: int


def first_content_size(data: Buffer) -> int | None:
    """Bytes that the header of the first frame declares; None if there is no such number."""
    if bytes(data[:4]) != _MAGIC or len(data) < 6:
        return None
    return _header(data, 4)[1]


def extent(data: Buffer) -> Extent:
    """Walk over all frames and their blocks.

    Raises
    ------
    ChunkDecodeError
        If the data is not a sequence of whole frames.
    """
    declared: int | None = 0
    most = position = 0
    end = len(data)
    while position < end or not position:
        magic = bytes(data[position : position + 4])
        if magic == _MAGIC:
            position, size, blocks = _frame(data, position + 4)
            declared = None if declared is None or size is None else declared + size
            most += blocks
        elif magic[1:] == _SKIPPABLE_MAGIC and magic[0] >> 4 == 5:
            position += 8 + int.from_bytes(data[position + 4 : position + 8], "little")
        else:
            place = f"at byte {position}" if position else "at the beginning"
            raise ChunkDecodeError(f"no Zstandard frame {place}", "zstd")
        if position > end:
            raise ChunkDecodeError(f"cut short after {end} bytes", "zstd")
    return Extent(declared, most)


def _frame(data: Buffer, position: int) -> tuple[int, int | None, int]:
    """Where a frame ends, what its header declares, what its blocks can hold."""
    end = len(data)
    if position >= end:
        return end + 1, None, 0
    trailer = 4 if data[position] & 4 else 0  # a content checksum
    position, declared = _header(data, position)
    most = 0
    last = False
    while not last:
        if position + 3 > end:
            return end + 1, declared, most
        block = int.from_bytes(data[position : position + 3], "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        if kind > _COMPRESSED:
            raise ChunkDecodeError(f"block of a reserved type at byte {position}", "zstd")
        most += _LARGEST_BLOCK if kind == _COMPRESSED else min(size, _LARGEST_BLOCK)
        position += 3 + (1 if kind == _REPEATED else size)
    return position + trailer, declared, most


def _header(data: Buffer, position: int) -> tuple[int, int | None]:
    """Where the header ends that begins after the magic number, and what it declares."""
    descriptor = data[position]
    width = _CONTENT_SIZE_BYTES[descriptor >> 6]
    single_segment = descriptor & 0x20
    if single_segment:
        width = width or 1
    position += 1 + (not single_segment) + _DICTIONARY_ID_BYTES[descriptor & 3]
    size = int.from_bytes(data[position : position + width], "little")
    return position + width, (size + (256 if width == 2 else 0)) if width else None
