"""Where the bytes of an archive come from: a file, a file object, a value in another store."""

from __future__ import annotations

import io
import os
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, BinaryIO

from zarr_core.extension import StoreError, StoreReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.extension import ValueReader

__all__ = ["Descriptor", "Source", "SourceFile", "Stream", "Value"]


class Source(ABC):
    """The bytes of an archive, to be read at any place by several threads at once."""

    requests: int | None = None
    """How many reads to keep in flight; None for a source without latency."""

    gap_bytes: int = 1 << 14
    """Unneeded bytes between two parts that are read rather than skipped."""

    starts: dict[int, int] | None = None
    """Where the data of entries begins, by the place of their headers; None to look again."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the archive in bytes."""

    @abstractmethod
    def fill(self, start: int, buffer: memoryview) -> None:
        """Fill a buffer from one place.

        Raises
        ------
        StoreReadError
            If the archive ends too early, or cannot be read.
        """

    def fill_all(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        """Fill several buffers, each from one place."""
        for start, buffer in parts:
            self.fill(start, buffer)

    def near(self, ranges: Iterable[tuple[int, int]]) -> Source:
        """A source for which some ranges, each ``(start, length)``, have been read at once.

        What reaches beyond the end is cut there.
        """
        return self

    def read(self, start: int, length: int) -> bytes:
        """Bytes at one place; fewer at the end of the archive."""
        data = bytearray(max(0, min(length, self.size - start)))
        self.fill(start, memoryview(data))
        return bytes(data)


class Descriptor(Source):
    """A file descriptor that is closed when nobody uses it any more."""

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
                raise StoreReadError("damaged archive: the file ends too early")
            done += count

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self.number, length, start)

    def __del__(self) -> None:
        os.close(self.number)


class Stream(Source):
    """A file object that can be read and sought; its position is for one thread at a time.

    Parameters
    ----------
    file : binary file object
        It is left open.

    Raises
    ------
    StoreError
        If it cannot be sought.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._guard = threading.Lock()
        self._process = os.getpid()
        try:
            self._size = file.seek(0, os.SEEK_END)
        except (OSError, AttributeError, ValueError) as error:
            raise StoreError(f"the file object cannot be sought: {error}", repr(file)) from error

    @property
    def size(self) -> int:
        return self._size

    def fill(self, start: int, buffer: memoryview) -> None:
        if self._process != os.getpid():
            # The position may be one for both, and the lock that of a thread left behind.
            raise StoreReadError("a file object cannot be used by a forked process as well")
        with self._guard:
            self._file.seek(start)
            done = 0
            while done < len(buffer):
                data = self._file.read(len(buffer) - done)
                if not data:
                    raise StoreReadError("damaged archive: the file ends too early")
                buffer[done : done + len(data)] = data
                done += len(data)


class Value(Source):
    """A value of another store.

    Parameters
    ----------
    reader : ValueReader
        The value.
    """

    def __init__(self, reader: ValueReader) -> None:
        self._reader = reader
        self.requests = reader.requests
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
    """A source of which some parts are in memory."""

    def __init__(self, source: Source, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._source = source
        self._parts = parts
        self.starts = source.starts
        self.requests = source.requests
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
    """A source as a file object, for the standard library."""

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
            raise OSError("a place before the beginning of the archive")
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
