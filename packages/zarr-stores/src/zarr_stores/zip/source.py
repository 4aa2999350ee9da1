"""Sources of the bytes of an archive: files, file objects, and values of other stores."""

from __future__ import annotations

import io
import os
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, BinaryIO

from zarr_core.extension import StoreError, StoreReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.extension import ByteReader

__all__ = ["Descriptor", "Source", "SourceFile", "Stream", "Value"]


class Source(ABC):
    """The bytes of an archive, with thread-safe random access."""

    max_concurrency: int | None = None
    """Maximum number of concurrent reads; None for a source without latency."""

    gap_bytes: int = 1 << 14
    """Gap between two parts, in bytes, up to which they are read together."""

    starts: dict[int, int] | None = None
    """Cache of the offsets of data by the offsets of headers; None for no cache."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the archive in bytes."""

    @abstractmethod
    def fill(self, start: int, buffer: memoryview) -> None:
        """Fill a buffer with the bytes at an offset.

        Raises
        ------
        StoreReadError
            If the archive is too short or cannot be read.
        """

    def fill_all(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        """Fill several buffers, each with the bytes at an offset."""
        for start, buffer in parts:
            self.fill(start, buffer)

    def near(self, ranges: Iterable[tuple[int, int]]) -> Source:
        """Return a source with some ranges, each ``(start, length)``, prefetched.

        Ranges are truncated at the end of the archive.
        """
        return self

    def read(self, start: int, length: int) -> bytes:
        """Return the bytes at an offset; fewer at the end of the archive."""
        data = bytearray(max(0, min(length, self.size - start)))
        self.fill(start, memoryview(data))
        return bytes(data)


class Descriptor(Source):
    """A file descriptor that is closed when the object is deleted."""

    def __init__(self, number: int) -> None:
        self.number = number

    @property
    def size(self) -> int:
        return os.fstat(self.number).st_size

    def fill(self, start: int, buffer: memoryview) -> None:
        done = 0
        while done < len(buffer):
            count = os.preadv(self.number, [buffer[done : done + (1 << 30)]], start + done)
            if not count:
                raise StoreReadError("damaged archive: the file is truncated")
            done += count

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self.number, length, start)

    def __del__(self) -> None:
        os.close(self.number)


class Stream(Source):
    """A seekable file object, used by one thread at a time.

    Parameters
    ----------
    file : binary file object
        The file object; it is not closed.

    Raises
    ------
    StoreError
        If the file object is not seekable.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.guard = threading.Lock()
        self._process = os.getpid()
        try:
            file.seek(0, os.SEEK_END)
        except (OSError, AttributeError, ValueError) as error:
            raise StoreError(f"the file object is not seekable: {error}", repr(file)) from error

    @property
    def size(self) -> int:
        self._check_process()
        with self.guard:
            return self.file.seek(0, os.SEEK_END)

    def fill(self, start: int, buffer: memoryview) -> None:
        self._check_process()
        with self.guard:
            self.file.seek(start)
            done = 0
            while done < len(buffer):
                data = self.file.read(len(buffer) - done)
                if not data:
                    raise StoreReadError("damaged archive: the file is truncated")
                buffer[done : done + len(data)] = data
                done += len(data)

    def _check_process(self) -> None:
        if self._process != os.getpid():
            # The processes share the file position, and a lost thread may hold the lock.
            raise StoreReadError("a file object cannot be used in a forked process")


class Value(Source):
    """A value of another store.

    Parameters
    ----------
    reader : ByteReader
        The value.
    """

    def __init__(self, reader: ByteReader) -> None:
        self._reader = reader
        self.max_concurrency = reader.max_concurrency
        self.gap_bytes = reader.gap_bytes
        self.starts = {}

    @property
    def size(self) -> int:
        return self._reader.size

    def fill(self, start: int, buffer: memoryview) -> None:
        self._reader.read_into([(start, buffer)])

    def fill_all(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._reader.read_into(parts)

    def near(self, ranges: Iterable[tuple[int, int]]) -> Source:
        merged: list[list[int]] = []
        size = self.size
        for start, length in sorted(ranges):
            stop = min(start + length, size)
            if merged and start <= merged[-1][1] + self.gap_bytes:
                merged[-1][1] = max(merged[-1][1], stop)
            elif start < stop:
                merged.append([start, stop])
        parts = [(start, memoryview(bytearray(stop - start))) for start, stop in merged]
        if parts:
            self.fill_all(parts)
        return _Windows(self, parts)


class _Windows(Source):
    """A source with some parts in memory."""

    def __init__(self, source: Source, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._source = source
        self._parts = parts
        self.starts = source.starts
        self.max_concurrency = source.max_concurrency
        self.gap_bytes = source.gap_bytes

    @property
    def size(self) -> int:
        return self._source.size

    def fill(self, start: int, buffer: memoryview) -> None:
        self.fill_all([(start, buffer)])

    def fill_all(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        missing = []
        for start, buffer in parts:
            stop = start + len(buffer)
            for begin, part in self._parts:
                if begin <= start and stop <= begin + len(part):
                    buffer[:] = part[start - begin : stop - begin]
                    break
            else:
                missing.append((start, buffer))
        if missing:
            self._source.fill_all(missing)

    def near(self, ranges: Iterable[tuple[int, int]]) -> Source:
        return self._source.near(ranges)


class SourceFile(io.RawIOBase):
    """A file object that reads a source, for the standard library."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.size}
        position = base[whence] + offset
        if position < 0:
            raise OSError("cannot seek before the start of the archive")
        self._position = position
        return position

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._source.size - self._position)
        length = left if size is None or size < 0 else min(size, left)
        data = self._source.read(self._position, length)
        self._position += len(data)
        return data

    def readinto(self, buffer: Any, /) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
