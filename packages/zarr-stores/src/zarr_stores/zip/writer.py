"""Writing zip archives, with ``zipfile``.

Values are appended; the central directory is written behind them by ``flush`` and ``close``.  A
file is locked from the first change until it is closed, so that there is one writer at a time.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import time
from copy import copy
from typing import TYPE_CHECKING
from zipfile import ZipFile, ZipInfo

from zarr_core.extension import StoreError

from zarr_stores.zip.archive import Archive, entries_of, file_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # a platform without file locks
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

_ZIP64_LIMIT = 1 << 31


class Writer:
    """Writer of the archive in a file."""

    def __init__(self, path: str, *, empty: bool, exclusive: bool = False) -> None:
        self._process = os.getpid()
        self.changed = empty
        """Whether the central directory must be written."""
        self._path = path
        self._created = not os.path.exists(path)
        self._stream = _locked_file(path, exclusive)
        try:
            if empty and os.fstat(self._stream.fileno()).st_size:
                self._stream = _replaced_file(self._stream, path)
            source = file_source(os.dup(self._stream.fileno()))
            if source.size:  # ``zipfile`` would append a second archive to a damaged one
                Archive.of(source, path)
            self._zip = _ZipFile(self._stream, "a")
        except BaseException:
            self._unlock()
            raise
        self.archive = Archive(source, entries_of(self._zip))

    @property
    def is_inherited(self) -> bool:
        """Whether archive and lock belong to the parent of this forked process."""
        return self._process != os.getpid()

    def append(self, key: str, pieces: Sequence[Buffer], method: int) -> None:
        """Append a value; after an error the archive is unchanged."""
        self.changed = True
        archive = self._zip
        info = ZipInfo(key, time.localtime()[:6])
        info.compress_type = method
        info.external_attr = 0o644 << 16
        end = archive.start_dir
        before = archive.NameToInfo.pop(key, None)  # avoids a warning for duplicate names
        large = sum(map(len, pieces)) >= _ZIP64_LIMIT
        try:
            with archive.open(info, "w", force_zip64=large) as entry:
                for piece in pieces:
                    entry.write(piece)
        except BaseException:
            archive.NameToInfo.pop(key, None)
            if before is not None:
                archive.NameToInfo[key] = before
            archive.start_dir = end
            self._stream.truncate(end)
            raise
        self.archive.source.size = archive.start_dir
        self.archive.entries[key] = info

    def write_directory(self) -> None:
        """Write the central directory, with each name once; the next value replaces it."""
        if self.is_inherited or not self.changed:
            return
        directory = copy(self._zip)  # the copy is closed, this archive is not
        directory.filelist = [*directory.NameToInfo.values()]
        try:
            directory.close()  # the stream remains open
        except BaseException:
            self._stream.truncate(self._zip.start_dir)
            raise

    def finish(self) -> None:
        """Write the central directory and close the file, unless the archive was not changed."""
        if self.is_inherited:
            self._stream.close()
            return
        try:
            self.write_directory()
        finally:
            self._unlock()

    def _unlock(self) -> None:
        """Close the file, which is removed if it was created and nothing was written."""
        if self._stream.closed:
            return
        if self._created and not (self.changed or os.fstat(self._stream.fileno()).st_size):
            os.unlink(self._path)
        if HAVE_LOCKS:
            # Closing is not enough: a forked child may have a copy of the descriptor.
            flock(self._stream.fileno(), LOCK_UN)
        self._stream.close()


class _ZipFile(ZipFile):
    """An archive that does not write its central directory when it is deleted."""

    def __del__(self) -> None:
        return


class _File(io.FileIO):
    """An unbuffered file whose writes are either complete or raise an error."""

    def write(self, data: Buffer, /) -> int:  # type: ignore[override]  # any buffer is enough
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            count = super().write(view[done:])
            if not count:
                raise OSError(errno.EIO, "the write was incomplete")
            done += count
        return done


def _locked_file(path: str, exclusive: bool, mode: int = 0o666) -> _File:
    """Open and lock the file at a path; another writer may replace it meanwhile."""
    flags = os.O_RDWR | os.O_CREAT | (os.O_EXCL if exclusive else 0)
    while True:
        file = _File(os.open(path, flags, mode), "r+b")
        try:
            _lock(file, path)
            if not HAVE_LOCKS or os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        except FileNotFoundError:
            pass
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: _File, path: str) -> None:
    if not HAVE_LOCKS:
        return
    try:
        flock(file.fileno(), LOCK_EX | LOCK_NB)
    except BlockingIOError as error:
        raise StoreError(
            "another store object or process is writing the archive; close it first", store=path
        ) from error


def _replaced_file(old: _File, path: str) -> _File:
    """Replace a file with an empty one; open readers keep the old file."""
    mode = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
    path = os.path.realpath(path)  # links to the archive remain
    try:
        os.unlink(path)
    except OSError:  # the file is writable, but its directory is not
        old.truncate(0)
        return old
    with old:
        new = _locked_file(path, exclusive=True, mode=mode)
        os.fchmod(new.fileno(), mode)
        return new
