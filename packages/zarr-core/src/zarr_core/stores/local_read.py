"""Reading regular files whole, into a buffer, or in parts.

Failures are plain :class:`OSError` here; the store says which key they concern.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from zarr_core.errors import StoreReadError
from zarr_core.interfaces.value import ValueReader
from zarr_core.stores.local_failure import not_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.codec import Buffer
    from zarr_core.interfaces.value import ByteRange

# Not to wait for the writer of a FIFO, and not to follow a link unseen.
OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_ONE_CALL = 1 << 30


def size_of(descriptor: int) -> int:
    """Length of an open file, in bytes.

    Raises
    ------
    OSError
        If it is not a regular file.
    """
    # lseek costs a third of fstat, and refuses pipes by itself.  Devices say 0,
    # directories anything: what it says is believed where a read follows, which
    # fails for them, and where memory of that size may be asked for.
    size = os.lseek(descriptor, 0, os.SEEK_END)
    return size if 0 < size <= _ONE_CALL else _checked_size(descriptor)


def _checked_size(descriptor: int) -> int:
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return status.st_size
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "not a regular file")


def read_into(descriptor: int, buffer: memoryview) -> int:
    """Read the beginning of a file into a buffer; return the length of the whole file."""
    size = size_of(descriptor)
    length = len(buffer)
    if not length:
        return _checked_size(descriptor)
    wanted = size if size < length else length
    if os.preadv(descriptor, (buffer,), 0) != wanted:
        fill(descriptor, buffer[:wanted], 0)
        return _checked_size(descriptor)
    return size


def fill(descriptor: int, buffer: memoryview, start: int) -> None:
    """Fill a buffer from one place of a file, however few bytes a call returns."""
    done = 0
    while done < len(buffer):
        count = os.preadv(descriptor, (buffer[done : done + _ONE_CALL],), start + done)
        if not count:
            raise OSError(errno.EIO, f"the file ends {len(buffer) - done} bytes too early")
        done += count


def read(descriptor: int, start: int, length: int) -> Buffer:
    """Part of a file in memory of its own."""
    if length <= _ONE_CALL:
        data = os.pread(descriptor, length, start)
        if len(data) == length:
            return data
    buffer = memoryview(bytearray(length))
    fill(descriptor, buffer, start)
    return buffer.toreadonly()


def read_part(descriptor: int, part: ByteRange) -> Buffer:
    """Part of a file, cut where the file ends, in memory of its own."""
    start, length = part
    # As in size_of; what nearly always is asked for, in one piece.
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if length is not None and length >= 0 and start >= 0 and start + length <= size <= _ONE_CALL:
        data = os.pread(descriptor, length, start)
        if len(data) == length:
            return data
    start, stop = part.within(size_of(descriptor))
    return read(descriptor, start, max(0, stop - start))


class FileReader(ValueReader):
    """An open file.

    Parameters
    ----------
    descriptor : int
        Of the file; it is the reader's to close, even if the reader cannot be made.
    place : object
        The store, for messages.
    key : str
        The key, for messages.
    read_next : bool
        Whether a read is sure to follow, by which a directory is told from a file as well.

    Raises
    ------
    OSError
        If it is not a regular file.
    """

    __slots__ = ("_descriptor", "_key", "_place", "size")

    def __init__(self, descriptor: int, place: object, key: str, read_next: bool = False) -> None:
        self._descriptor = descriptor
        self._place = place
        self._key = key
        try:
            self.size: int = size_of(descriptor)
            if not read_next:
                os.pread(descriptor, 0, 0)  # fails for a directory, whatever its length
        except OSError:
            self.close()
            raise

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            length = len(buffer)
            if start < 0 or start + length > self.size:
                raise self._beyond(start, length)
            try:
                if os.preadv(self._descriptor, (buffer,), start) != length:
                    fill(self._descriptor, buffer, start)
            except OSError as error:
                raise self._error(error) from error

    def read(self, start: int, length: int) -> memoryview:
        if start < 0 or length < 0 or start + length > self.size:
            raise self._beyond(start, length)
        try:
            return memoryview(read(self._descriptor, start, length))
        except OSError as error:
            raise self._error(error) from error

    def _beyond(self, start: int, length: int) -> StoreReadError:
        reason = f"bytes {start} to {start + length} of a value of {self.size} bytes"
        return StoreReadError(reason, self._place, self._key)

    def _error(self, error: OSError) -> StoreReadError:
        if self._descriptor < 0:
            return StoreReadError("the reader is closed", self._place, self._key)
        return StoreReadError(not_read(error), self._place, self._key)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __exit__(self, *_: object) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
