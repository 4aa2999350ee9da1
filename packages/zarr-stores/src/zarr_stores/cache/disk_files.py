"""The files of a cache on disk, which any number of processes read, replace and remove.

A file is written to a temporary file and renamed, and begins with a checksum of its path and its
contents.  So a damaged, incomplete or misplaced file is not used, and processes need no locks.  The
modification time of a file is that of its last use.

Each process scans the directory after it has written a part of the limit, and removes the least
recently used files.  No background task and no total that processes share is needed.

``diskcache`` and the caches of fsspec are not used: the first unpickles what it finds, and neither
keeps parts of a value together with the generation that they belong to.
"""

from __future__ import annotations

import os
import time
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from zarr_core.extension import key_lock
from zarr_core.messages import log
from zarr_core.stores.local_files import READ_FLAGS, DirectoryTree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_CHECKSUM_BYTES = 4
_PAGE = 4096
_FILL_AFTER_EVICTION = 0.9  # fraction of the limit that remains after an eviction
_SCANNED = 32  # a process scans the directory after it has written this fraction of the limit


class Directory:
    """A directory of files to which only the user has access, with a limit on their size."""

    def __init__(self, path: str, max_bytes: int | None) -> None:
        self.root = f"{path}/values"
        """The directory; files beside it do not belong to the cache."""
        self.max_bytes = max_bytes
        self._tree = DirectoryTree(self.root)
        self._room = 0  # bytes that may be written before the next scan

    def read(self, path: str, out: memoryview) -> int | None:
        """Read a file into memory; return its length, None if it is missing, damaged or longer."""
        checksum = bytearray(_CHECKSUM_BYTES)
        try:
            descriptor = os.open(path, READ_FLAGS)
            try:
                length = os.preadv(descriptor, (checksum, out), 0) - _CHECKSUM_BYTES
                status = os.fstat(descriptor)
                if time.time() - status.st_mtime > 1:
                    os.utime(descriptor)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            log("caches", "%s: not read: %s", path, error)
            return None
        is_complete = length >= 0 and status.st_size == length + _CHECKSUM_BYTES
        return length if is_complete and checksum == self._checksum(path, out[:length]) else None

    def write(self, path: str, contents: Buffer) -> None:
        """Replace a file, unless the disk or the limit does not permit it."""
        nbytes = -(-(len(contents) + _CHECKSUM_BYTES) // _PAGE) * _PAGE
        if self.max_bytes is not None and nbytes > self.max_bytes:
            return
        try:
            self._make_room(nbytes)
            os.makedirs(self.root, exist_ok=True)
            os.chmod(self.root, 0o700)  # also if a backup or another program created it
            checksum = self._checksum(path, contents)
            self._tree.replace(path[len(self._tree.root) :], [checksum, contents])
        except OSError as error:
            log("caches", "%s: not written: %s", path, error)

    def _checksum(self, path: str, contents: Buffer) -> bytes:
        name = os.fsencode(path[len(self.root) :])
        return zlib.crc32(contents, zlib.crc32(name)).to_bytes(_CHECKSUM_BYTES)

    def remove(self, folder: str) -> None:
        """Remove a directory and its files."""
        self._tree.remove(f"{folder[len(self._tree.root) :]}/")

    def clear(self) -> None:
        """Remove all files."""
        self._tree.remove("")

    def nbytes(self) -> int:
        """Return the size of all files in bytes."""
        return sum(nbytes for _, nbytes, _ in self._files())

    def _make_room(self, nbytes: int) -> None:
        """Remove files if a new one of a size could exceed the limit."""
        if self.max_bytes is None:
            return
        step = self.max_bytes // _SCANNED
        with key_lock(self.root, ""):
            self._room -= nbytes
            if self._room >= 0:
                return
            self._room = step  # for other threads, until the scan ends
        total = nbytes + self._remove_oldest(self.max_bytes - nbytes)
        with key_lock(self.root, ""):
            self._room = min(self.max_bytes - total, step)

    def _remove_oldest(self, limit: int) -> int:
        """Remove the least recently used files above a limit; return the size of the others."""
        files = sorted(self._files())
        total = sum(nbytes for _, nbytes, _ in files)
        if total > limit:
            for _, nbytes, path in files:
                with suppress(OSError):  # another process may have removed the file
                    os.unlink(path)
                    os.rmdir(os.path.dirname(path))  # if it is empty
                total -= nbytes
                if total <= limit * _FILL_AFTER_EVICTION:
                    break
        return total

    def _files(self) -> Iterator[tuple[float, int, str]]:
        """Iterate over the last use, the size and the path of all files."""
        for directory, _, names in os.walk(self.root):  # does not follow links
            for name in names:
                path = f"{directory}/{name}"
                with suppress(FileNotFoundError):
                    status = os.lstat(path)
                    yield status.st_mtime, status.st_blocks * 512, path
