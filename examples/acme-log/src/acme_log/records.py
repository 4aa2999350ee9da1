"""The file: records with checksums; the last record of a key is valid."""

from __future__ import annotations

import fcntl
import os
import struct
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from zarr_core.extension import StoreReadError, check_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import Buffer

_MAGIC = b"acmelog1"
# Checksums of the rest of the head, of the key and of the value; lengths of both.
_HEAD = struct.Struct("<IIIIQ")
_ERASED = 2**64 - 1  # in place of the length of a value
_MOST_KEYS = 256  # bytes; longer keys are read separately


class Entry(NamedTuple):
    """Position of a value in the file."""

    start: int
    size: int
    checksum: int


class Log:
    """An open file and the records that were read from it.

    Parameters
    ----------
    path : str
        Of the file when it was opened; a shorter file may have replaced it.
    """

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self.descriptor)  # readers may live longer than stores
        self.identity = identity(os.fstat(self.descriptor))
        self.entries: dict[str, Entry] = {}
        self.end = 0

    def catch_up(self) -> None:
        """Read the records that were appended; an incomplete record is ignored.

        Raises
        ------
        StoreReadError
            If the file is not a log, or a record is damaged.
        """
        size = os.fstat(self.descriptor).st_size
        if not self.end:
            begins = os.pread(self.descriptor, len(_MAGIC), 0)
            if not _MAGIC.startswith(begins):
                raise StoreReadError("is not a log of acme-log")
            if begins != _MAGIC:
                return
            self.end = len(_MAGIC)
        while self._next(size):
            pass

    def _next(self, size: int) -> bool:
        data = os.pread(self.descriptor, _HEAD.size + _MOST_KEYS, self.end)
        if len(data) < _HEAD.size:
            return False
        checksum, key_checksum, value_checksum, key_size, value_size = _HEAD.unpack_from(data)
        if checksum != crc32(data[4 : _HEAD.size]):
            if self._only_zeros():  # the file was extended before a power failure
                return False
            raise StoreReadError(f"is damaged at byte {self.end}")
        start = self.end + _HEAD.size + key_size
        end = start if value_size == _ERASED else start + value_size
        if end > size:  # the writer was killed, or is still writing
            return False
        name = data[_HEAD.size : _HEAD.size + key_size]
        if key_size > _MOST_KEYS:
            name = os.pread(self.descriptor, key_size, self.end + _HEAD.size)
        if crc32(name) != key_checksum:
            raise StoreReadError(f"is damaged at byte {self.end}")
        key = _key(name)
        if value_size == _ERASED:
            self.entries.pop(key, None)
        else:  # one assignment: other threads read this
            self.entries[key] = Entry(start, value_size, value_checksum)
        self.end = end
        return True

    def _only_zeros(self) -> bool:
        at = self.end
        while data := os.pread(self.descriptor, 1 << 20, at):
            if data.strip(b"\0"):
                return False
            at += len(data)
        return True

    def generation(self, entry: Entry) -> str:
        """Return a string that is unique for a value."""
        return "-".join(map(str, (*self.identity, *entry)))

    def read_into(self, start: int, buffer: memoryview) -> None:
        """Fill a buffer from a position in the file."""
        while buffer:
            count = os.preadv(self.descriptor, [buffer], start)
            if not count:
                raise StoreReadError("the file has become shorter")
            buffer, start = buffer[count:], start + count

    def value(self, entry: Entry) -> bytearray:
        """Read a whole value and verify its checksum."""
        value = bytearray(entry.size)
        self.read_into(entry.start, memoryview(value))
        if crc32(value) != entry.checksum:
            raise StoreReadError("is damaged: the checksum does not match")
        return value


def _key(name: bytes) -> str:
    try:
        return check_key(name.decode())
    except ValueError as error:
        raise StoreReadError("has a record with an invalid key") from error


def record(key: str, value: Buffer | None) -> bytes:
    """Return the record that sets a key, or erases it if the value is None."""
    name = key.encode()
    size, checksum = (_ERASED, 0) if value is None else (len(value), crc32(value))
    head = _HEAD.pack(0, crc32(name), checksum, len(name), size)
    return b"".join([crc32(head[4:]).to_bytes(4, "little"), head[4:], name, value or b""])


def append(descriptor: int, end: int, records: Sequence[bytes]) -> None:
    """Write all records or none after the last complete one.

    An incomplete record of a killed writer is removed.
    """
    os.ftruncate(descriptor, end)
    content = memoryview(b"".join(records if end else [_MAGIC, *records]))
    at = end
    try:
        while content:
            count = os.pwrite(descriptor, content, at)
            content, at = content[count:], at + count
    except BaseException:  # the disk is full, or Ctrl-C
        os.ftruncate(descriptor, end)
        raise


@contextmanager
def locked(path: str, to_write: bool = True) -> Iterator[int]:
    """Lock the file, and create it first if it is missing and ``to_write`` is true."""
    flags = os.O_RDWR | os.O_CREAT if to_write else os.O_RDONLY
    while True:
        descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
        try:
            # Each call opens the file, so the lock also excludes threads.
            fcntl.flock(descriptor, fcntl.LOCK_EX if to_write else fcntl.LOCK_SH)
            current = None
            with suppress(FileNotFoundError):
                current = identity(os.stat(path))
            # A shorter file may have replaced this one in the meantime.
            if current == identity(os.fstat(descriptor)):
                yield descriptor
                return
        finally:
            # Closing does not release the lock if a forked child has a copy.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def identity(status: os.stat_result) -> tuple[int, int]:
    """Return the identity of a file, independent of its name."""
    return status.st_dev, status.st_ino
