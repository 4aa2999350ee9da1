"""Sizes in the headers of Zstandard frames, read without decompressing them.

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


class ContentSize(NamedTuple):
    """Content size of frames in bytes: as their headers declare it, and the largest possible one.

    ``declared`` is None if a header does not declare it.
    """

    declared: int | None
    max_size: int


def first_content_size(data: Buffer) -> int | None:
    """Return the content size that the first frame declares, in bytes; None if it does not."""
    if bytes(data[:4]) != _MAGIC or len(data) < 6:
        return None
    return _header(data, 4)[1]


def content_size(data: Buffer) -> ContentSize:
    """Return the content size by the headers of all frames and blocks."""
    declared: int | None = 0
    max_size = position = 0
    end = len(data)
    while position < end or not position:
        magic = bytes(data[position : position + 4])
        if magic == _MAGIC:
            position, size, blocks = _frame(data, position + 4)
            declared = None if declared is None or size is None else declared + size
            max_size += blocks
        elif magic[1:] == _SKIPPABLE_MAGIC and magic[0] >> 4 == 5:
            position += 8 + int.from_bytes(data[position + 4 : position + 8], "little")
        else:
            raise ChunkDecodeError(f"no Zstandard frame at byte {position}", "zstd")
        if position > end:
            raise ChunkDecodeError(f"truncated after {end} bytes", "zstd")
    return ContentSize(declared, max_size)


def _frame(data: Buffer, position: int) -> tuple[int, int | None, int]:
    """Return the end of a frame, its declared size, and the limit of its blocks."""
    end = len(data)
    if position >= end:
        return end + 1, None, 0
    trailer = 4 if data[position] & 4 else 0  # a content checksum
    position, declared = _header(data, position)
    max_size = 0
    last = False
    while not last:
        if position + 3 > end:
            return end + 1, declared, max_size
        block = int.from_bytes(data[position : position + 3], "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        if kind > _COMPRESSED:
            raise ChunkDecodeError(f"the block at byte {position} has a reserved type", "zstd")
        max_size += _LARGEST_BLOCK if kind == _COMPRESSED else min(size, _LARGEST_BLOCK)
        position += 3 + (1 if kind == _REPEATED else size)
    return position + trailer, declared, max_size


def _header(data: Buffer, position: int) -> tuple[int, int | None]:
    """Return the end of the header, and the content size that it declares."""
    descriptor = data[position]
    width = _CONTENT_SIZE_BYTES[descriptor >> 6]
    single_segment = descriptor & 0x20
    if single_segment:
        width = width or 1
    position += 1 + (not single_segment) + _DICTIONARY_ID_BYTES[descriptor & 3]
    size = int.from_bytes(data[position : position + width], "little")
    return position + width, (size + (256 if width == 2 else 0)) if width else None
