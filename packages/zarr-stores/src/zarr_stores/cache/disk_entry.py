"""One value in a cache on disk: the blocks of one generation that were read so far.

A sparse file: a header, a record with a checksum for each block, then the blocks at their
offsets.  Several processes can write the same blocks concurrently, because a block is used
only if its checksum matches.
"""

from __future__ import annotations

import os
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_MAGIC = b"zarrdc2\n"
_HEADER = struct.Struct(
    "<8sIIQI"
)  # magic, checksum of the rest, bytes of a block, size, generation
_SUMMED = 12  # offset of the first byte covered by the checksum
_RECORD = struct.Struct("<II")  # checksum of a block, and the checksum XOR _WRITTEN
_WRITTEN = 0x7A617272  # distinguishes records from holes of the file, which read as zeros
_PAGE = 4096
_NO_VALUE = (1 << 64) - 1
_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK


def _pack_header(generation: str, size: int | None, block_bytes: int) -> bytes:
    """Return the header of a new file."""
    words = generation.encode()
    sizes = block_bytes, _NO_VALUE if size is None else size, len(words)
    unsigned = _HEADER.pack(_MAGIC, 0, *sizes) + words
    return _HEADER.pack(_MAGIC, zlib.crc32(unsigned[_SUMMED:]), *sizes) + words


class Entry:
    """An open cache file."""

    __slots__ = (
        "_accessed", "_data", "_descriptor", "_start", "_table",
        "block_bytes", "generation", "size", "validated",
    )  # fmt: skip

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, _FLAGS)
        start = self._start = os.pread(self._descriptor, _PAGE, 0)
        if len(start) < _HEADER.size:
            raise ValueError("the file is shorter than a header")
        magic, checksum, block_bytes, size, length = _HEADER.unpack_from(start)
        end = _HEADER.size + length
        if magic != _MAGIC or checksum != zlib.crc32(start[_SUMMED:end]) or not block_bytes:
            raise ValueError("the header is damaged")
        self.size: int | None = None if size == _NO_VALUE else size
        """Length of the value in bytes; None for a missing key."""
        self.generation = start[_HEADER.size : end].decode()
        """Version of the value."""
        self.block_bytes: int = block_bytes
        """Length of each block except the last, in bytes."""
        self._table, self._data, total = _layout(end, self.size, block_bytes)
        status = os.fstat(self._descriptor)
        if status.st_size != total:
            raise ValueError("the length of the file does not match its header")
        self.validated = status.st_mtime
        """Time of the last comparison of generations, in seconds since the epoch."""
        self._accessed = status.st_atime

    @classmethod
    def create(cls, path: str, generation: str, size: int | None, block_bytes: int) -> None:
        """Create a file without blocks."""
        header = _pack_header(generation, size, block_bytes)
        descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, header)
            os.ftruncate(descriptor, _layout(len(header), size, block_bytes)[2])
        finally:
            os.close(descriptor)

    # --- blocks ---

    def read(self, start: int, buffer: memoryview) -> list[tuple[int, int]]:
        """Fill a buffer with the blocks that are cached."""
        if not len(buffer):
            return []
        step = self.block_bytes
        stop = start + len(buffer)
        first = start // step
        last = -(-stop // step)
        offset, length = self._table + _RECORD.size * first, _RECORD.size * (last - first)
        # The records read with the header are used once: others may write blocks meanwhile.
        records, self._start = self._start[offset : offset + length], b""
        if len(records) < length:
            records = os.pread(self._descriptor, length, offset)
        missing: list[tuple[int, int]] = []
        for number, (checksum, again) in enumerate(_RECORD.iter_unpack(records), first):
            if checksum ^ again != _WRITTEN or not self._read_block(
                number, checksum, start, stop, buffer
            ):
                if missing and missing[-1][1] == number:
                    missing[-1] = missing[-1][0], number + 1
                else:
                    missing.append((number, number + 1))
        return missing

    def _read_block(
        self, number: int, checksum: int, start: int, stop: int, buffer: memoryview
    ) -> bool:
        begin = number * self.block_bytes
        end = min(self.size or 0, begin + self.block_bytes)
        if start <= begin and end <= stop:
            block = buffer[begin - start : end - start]
        else:
            block = memoryview(bytearray(end - begin))
        if os.preadv(self._descriptor, (block,), self._data + begin) != len(block):
            return False
        if zlib.crc32(block) != checksum:
            return False
        if start > begin or end > stop:
            low, high = max(begin, start), min(end, stop)
            buffer[low - start : high - start] = block[low - begin : high - begin]
        return True

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        """Return the start and the end of a run of blocks in the value."""
        return first * self.block_bytes, min(self.size or 0, last * self.block_bytes)

    def write(self, first: int, data: Buffer) -> None:
        """Store a run of whole blocks."""
        view = memoryview(data)
        records = bytearray()
        for offset in range(0, len(view), self.block_bytes):
            checksum = zlib.crc32(view[offset : offset + self.block_bytes])
            records += _RECORD.pack(checksum, checksum ^ _WRITTEN)
        _write(self._descriptor, view, self._data + first * self.block_bytes)
        _write(self._descriptor, memoryview(records), self._table + first * _RECORD.size)

    # --- times ---

    def used(self, now: float, validated: float | None = None) -> None:
        """Record an access, and the time of a comparison of generations if given."""
        if validated is not None:
            self.validated = validated
        elif now - self._accessed <= 1:
            return
        self._accessed = now
        os.utime(self._descriptor, (now, self.validated))

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def _layout(header: int, size: int | None, block_bytes: int) -> tuple[int, int, int]:
    """Return the offsets of the records, of the blocks and of the end of the file."""
    blocks = -(-(size or 0) // block_bytes)
    table = -(-header // _RECORD.size) * _RECORD.size
    data = -(-(table + blocks * _RECORD.size) // _PAGE) * _PAGE
    return table, data, data + (size or 0)


def _write(descriptor: int, view: memoryview, start: int) -> None:
    done = 0
    while done < len(view):
        done += os.pwrite(descriptor, view[done : done + (1 << 30)], start + done)
