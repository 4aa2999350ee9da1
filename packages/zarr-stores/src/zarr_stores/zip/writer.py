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
import weakref
from contextlib import nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

from zarr_core.extension import StoreError
from zarr_core.threads import call_after_fork

from zarr_stores.zip.archive import Archive, StreamSource, entries_of, file_source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from zarr_core.extension import Buffer, ByteReader

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # a platform without file locks
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

_ZIP64_LIMIT = 1 << 31


class Writer:
    """Writer of an archive in a file, or in a file object, which is not closed."""

    def __init__(self, place: str | BinaryIO, *, empty: bool, exclusive: bool = False) -> None:
        self.abandoned = False
        """Whether the writer belongs to the parent of this forked process."""
        self.changed = empty
        """Whether the central directory must be written."""
        self._path = place if isinstance(place, str) else None
        self._guard: AbstractContextManager[Any] = nullcontext()
        self._stream: Any = place
        self._created = False
        if isinstance(place, str):
            self._created = not os.path.exists(place)
            self._stream = _locked_file(place, exclusive)
        try:
            source = self._prepare(empty, exclusive)
            self._zip = ZipFile(self._stream, "a")
        except BaseException:
            self._unlock()
            raise
        self.archive = Archive(source, entries_of(self._zip))
        _writers.add(self)

    def _prepare(self, empty: bool, exclusive: bool) -> ByteReader:
        """Empty or check the archive; return its bytes."""
        source: ByteReader
        if self._path is None:
            source = StreamSource(self._stream)
            self._guard = source.lock
            if exclusive and source.size:
                raise FileExistsError
            if empty:
                self._stream.seek(0)
                self._stream.truncate()
        else:
            if empty and os.fstat(self._stream.fileno()).st_size:
                self._stream = _replaced_file(self._stream, self._path)
            source = file_source(os.dup(self._stream.fileno()))
        if not empty and source.size:
            # ``zipfile`` would append a second archive to a damaged one.
            Archive.of(source, self._path or self._stream)
        return source

    def append(self, key: str, pieces: Sequence[Buffer], method: int) -> None:
        """Append a value; after an error the archive is unchanged."""
        self.changed = True
        archive = self._zip
        info = ZipInfo(key, time.localtime()[:6])
        info.compress_type = method
        info.external_attr = 0o644 << 16
        with self._guard:
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
        if self.abandoned or not self.changed:
            return
        with self._guard:
            end = self._zip.start_dir
            directory = copy(self._zip)  # which is closed, and this archive not
            directory.filelist = [*directory.NameToInfo.values()]
            try:
                directory.close()  # the stream remains open
            except BaseException:
                self._stream.truncate(end)
                raise
            self._stream.flush()

    def finish(self) -> None:
        """Write the central directory and close the file, unless the archive was not changed."""
        if self.abandoned:
            return
        try:
            self.write_directory()
        finally:
            self._zip.fp = None  # otherwise zipfile writes the directory when it is deleted
            self._unlock()

    def abandon(self) -> None:
        """Close the file in a forked child: archive and lock belong to the parent."""
        self._zip.fp = None
        self.abandoned = True
        if self._path is not None:
            self._stream.close()

    def _unlock(self) -> None:
        """Close the file, which is removed if it was created and nothing was written."""
        if self._path is None or self._stream.closed:
            return
        if self._created and not (self.changed or os.fstat(self._stream.fileno()).st_size):
            os.unlink(self._path)
        if HAVE_LOCKS:
            # Closing is not enough: a forked child may have a copy of the descriptor.
            flock(self._stream.fileno(), LOCK_UN)
        self._stream.close()


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


def _locked_file(path: str, exclusive: bool) -> _File:
    """Open and lock the file at a path; another writer may replace it meanwhile."""
    flags = os.O_RDWR | os.O_CREAT | (os.O_EXCL if exclusive else 0)
    while True:
        file = _File(os.open(path, flags, 0o666), "r+b")
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
    real = os.path.realpath(path)
    new = f"{real}.{os.getpid()}-{id(old):x}.new"
    mode = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
    try:
        file = _File(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), "r+b")
    except OSError:  # the file is writable, but its directory is not
        old.truncate(0)
        return old
    with old:
        try:
            os.fchmod(file.fileno(), mode)
            _lock(file, path)
            os.replace(new, real)
        except BaseException:
            os.unlink(new)
            raise
    return file


_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in tuple(_writers):
        writer.abandon()


call_after_fork(_after_fork)
