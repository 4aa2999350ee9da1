"""One value in a cache on disk: those blocks of one version of it that were read so far.

A sparse file: a header, for each block a record with its checksum, then the blocks in
their places.  Several processes may write the same blocks at once, since what is read is
only believed if its checksum says so.
"""

from __future__ import annotations

import os
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

__all__ = ["Entry", "header_of"]

_MAGIC = b"zarrdc2\n"
_HEADER = struct.Struct("<8sIIQI")  # magic, checksum of the rest, bytes of a block, size, version
_SUMMED = 12  # where what has that checksum begins
_RECORD = struct.Struct("<II")  # checksum of a block, the same again in other words
_WRITTEN = 0x7A617272  # no record is a hole of the file, which is zeros
_PAGE = 4096
_NO_VALUE = (1 << 64) - 1
_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_MOST_VERSION = 2048  # bytes; more is no version but a mistake


def header_of(version: str, size: int | None, block_bytes: int) -> bytes:
    """The beginning of a new file.

    Parameters
    ----------
    version : str
        Of the value.
    size : int or None
        Of the value, in bytes; None for a key that is known to have none.
    block_bytes : int
        Of each block but the last.
    """
    words = version.encode()
    sizes = block_bytes, _NO_VALUE if size is None else size, len(words)
    unsigned = _HEADER.pack(_MAGIC, 0, *sizes) + words
    return _HEADER.pack(_MAGIC, zlib.crc32(unsigned[_SUMMED:]), *sizes) + words


class Entry:
    """An open file of the cache.

    Parameters
    ----------
    path : str
        The file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is damaged.
    OSError
        If it cannot be used.
    """

    __slots__ = (
        "_accessed", "_data", "_descriptor", "_start", "_table",
        "block_bytes", "size", "validated", "version",
    )  # fmt: skip

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, _FLAGS)
        start = self._start = os.pread(self._descriptor, _PAGE, 0)
        if len(start) < _HEADER.size:
            raise ValueError("too short for a header")
        magic, checksum, block_bytes, size, length = _HEADER.unpack_from(start)
        end = _HEADER.size + length
        if magic != _MAGIC or checksum != zlib.crc32(start[_SUMMED:end]) or not block_bytes:
            raise ValueError("the header is damaged")
        self.size: int | None = None if size == _NO_VALUE else size
        """Length of the value in bytes; None if there is no value."""
        self.version = start[_HEADER.size : end].decode()
        """Of the value."""
        self.block_bytes: int = block_bytes
        """Length of each block but the last."""
        self._table, self._data, total = _layout(end, self.size, block_bytes)
        status = os.fstat(self._descriptor)
        if status.st_size != total:
            raise ValueError("of another length than its header says")
        self.validated = status.st_mtime
        """When the version was last known to be the present one, in seconds of the epoch."""
        self._accessed = status.st_atime

    @classmethod
    def make(cls, path: str, version: str, size: int | None, block_bytes: int) -> None:
        """Write a new file without any blocks, at a path where there is none.

        Raises
        ------
        OSError
            If that cannot be done.
        """
        header = header_of(version, size, block_bytes)
        descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, header)
            os.ftruncate(descriptor, _layout(len(header), size, block_bytes)[2])
        finally:
            os.close(descriptor)

    # --- blocks ---

    def read(self, start: int, buffer: memoryview) -> list[tuple[int, int]]:
        """Fill a buffer as far as its blocks are there.

        Parameters
        ----------
        start : int
            Of the part, in the value, which it must not exceed.
        buffer : memoryview
            Receives the part.

        Returns
        -------
        list of (int, int)
            Runs of blocks that are not there, or damaged: the first, and the one behind
            the last.

        Raises
        ------
        OSError
            If the file cannot be read.
        """
        if not len(buffer):
            return []
        step = self.block_bytes
        stop = start + len(buffer)
        first = start // step
        last = -(-stop // step)
        place, length = self._table + _RECORD.size * first, _RECORD.size * (last - first)
        # What was read with the header, once: others may write blocks meanwhile.
        records, self._start = self._start[place : place + length], b""
        if len(records) < length:
            records = os.pread(self._descriptor, length, place)
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
        """Where a run of blocks begins and ends in the value."""
        return first * self.block_bytes, min(self.size or 0, last * self.block_bytes)

    def write(self, first: int, data: Buffer) -> None:
        """Store a run of whole blocks.

        Parameters
        ----------
        first : int
            Number of the first block.
        data : buffer
            Of all of them.

        Raises
        ------
        OSError
            If they cannot be stored; what was stored before stays.
        """
        view = memoryview(data)
        records = bytearray()
        for place in range(0, len(view), self.block_bytes):
            checksum = zlib.crc32(view[place : place + self.block_bytes])
            records += _RECORD.pack(checksum, checksum ^ _WRITTEN)
        _write(self._descriptor, view, self._data + first * self.block_bytes)
        _write(self._descriptor, memoryview(records), self._table + first * _RECORD.size)

    # --- times ---

    def used(self, now: float, validated: float | None = None) -> None:
        """Note that the value is used, perhaps that its version was compared."""
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
    """Where the records begin, where the blocks do, where the file ends."""
    blocks = -(-(size or 0) // block_bytes)
    table = -(-header // _RECORD.size) * _RECORD.size
    data = -(-(table + blocks * _RECORD.size) // _PAGE) * _PAGE
    return table, data, data + (size or 0)


def _write(descriptor: int, view: memoryview, start: int) -> None:
    done = 0
    while done < len(view):
        done += os.pwrite(descriptor, view[done : done + (1 << 30)], start + done)
