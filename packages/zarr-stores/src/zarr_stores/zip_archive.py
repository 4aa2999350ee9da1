"""A zip file as a list of entries, read without locks, changed only by adding.

Specification: PKWARE APPNOTE 6.3, by way of the standard library's ``zipfile``.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import struct
import time
import weakref
import zlib
from typing import TYPE_CHECKING, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from zarr_core.extension import StoreError, StoreKeyError, StoreReadError, check_key

from zarr_stores.zip_methods import METHODS, decompress, most_bytes
from zarr_stores.zip_source import Descriptor, SourceFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer

    from zarr_stores.zip_source import Source

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # a platform without file locks
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 0x1
EXTRA = 128  # bytes that further fields of a header may take; usually none, or up to 36
TAIL = (1 << 16) + 22  # bytes in which the directory ends, and a small one lies
_ZIP64_LIMIT = 1 << 31
_CHECKSUM = "damaged archive: the checksum of the entry is another"
_DAMAGE = (
    "it is no zip archive, was cut short, is still being written, or its writer was stopped before "
    "close(). zarr_stores.zip_recover.recover(path, new_path) saves what is complete in it"
)


class Entry(NamedTuple):
    """Where and how one value is stored in an archive."""

    header: int
    size: int
    compressed_size: int
    method: int
    checksum: int
    encrypted: bool

    @property
    def version(self) -> str:
        """A word that is another one for each value that an archive ever had."""
        return f"{self.header:x}-{self.checksum:x}-{self.size:x}"

    @classmethod
    def from_info(cls, info: ZipInfo) -> Entry:
        """Take what is needed from the standard library's description."""
        return cls(
            info.header_offset,
            info.file_size,
            info.compress_size,
            info.compress_type,
            info.CRC,
            bool(info.flag_bits & _ENCRYPTED),
        )


# --- reading ---


def open_file(path: str) -> Descriptor:
    """Open a file for reading.

    Raises
    ------
    OSError
        If that cannot be done.
    """
    file = Descriptor(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    if stat.S_ISDIR(os.fstat(file.number).st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory, not a zip archive", path)
    return file


def read_entries(source: Source, place: object) -> dict[str, Entry]:
    """Read the directory of an archive.

    Parameters
    ----------
    source : Source
        The archive.
    place : object
        What it is called in messages.

    Raises
    ------
    StoreError
        If it is no complete zip archive.
    ValueReplacedError
        If it is in a store, where it has just been replaced.
    """
    near_end = source.near([(max(0, source.size - TAIL), TAIL)])
    try:
        with ZipFile(SourceFile(near_end)) as archive:
            return keys_of(archive)
    except (BadZipFile, NotImplementedError, struct.error, ValueError, OSError) as error:
        raise StoreError(f"cannot be opened ({error}): {_DAMAGE}", store=place) from error


def keys_of(archive: ZipFile) -> dict[str, Entry]:
    """Entries by key: of several with one name the last; those with other names left out."""
    entries = {}
    for info in archive.infolist():
        try:
            check_key(info.filename)
        except StoreKeyError:  # a directory, or a way out such as "../x"
            continue
        entries[info.filename] = Entry.from_info(info)
    return entries


def head(key: str, entry: Entry) -> tuple[int, int]:
    """Where the header of an entry begins, how long it is at most, unless it is unusual."""
    return entry.header, LOCAL_HEADER.size + len(key.encode()) + EXTRA


def span(key: str, entry: Entry) -> tuple[int, int]:
    """The same of a whole entry."""
    start, length = head(key, entry)
    return start, length + entry.compressed_size


def data_start(source: Source, entry: Entry) -> int:
    """Offset of an entry's data in the file.

    Raises
    ------
    StoreReadError
        If the entry is damaged, or is of a kind that is not read here.
    """
    if entry.encrypted:
        raise StoreReadError("the entry is encrypted")
    if entry.method not in METHODS:
        raise StoreReadError(
            f"compression method {entry.method} of the entry is not supported; "
            "pack the archive anew with stored or deflated entries"
        )
    known = source.starts
    start = None if known is None else known.get(entry.header)
    if start is None:
        header = source.read(entry.header, LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or not header.startswith(b"PK\3\4"):
            raise StoreReadError("damaged archive: no entry where its directory says")
        name_length, extra_length = struct.unpack_from("<HH", header, 26)
        start = entry.header + LOCAL_HEADER.size + int(name_length) + int(extra_length)
        if known is not None:
            known[entry.header] = start
    if start + entry.compressed_size > source.size:
        raise StoreReadError("damaged archive: an entry reaches beyond the end of the file")
    if entry.method == ZIP_STORED and entry.size != entry.compressed_size:
        raise StoreReadError("damaged archive: an uncompressed entry with two sizes")
    most = most_bytes(entry.method, entry.compressed_size)
    if most is not None and entry.size > most:
        raise StoreReadError(f"damaged archive: {entry.size} bytes cannot come of so few")
    return start


def read_start(source: Source, start: int, entry: Entry, buffer: memoryview) -> None:
    """Read the beginning of an entry, or all of it and then its checksum, into a buffer.

    Parameters
    ----------
    start : int
        What :func:`data_start` said.
    buffer : memoryview
        Not longer than the entry; memory beyond it is not used for what is decoded.
    """
    if entry.method == ZIP_STORED:
        source.fill(start, buffer)
    elif len(buffer):
        buffer[:] = _decompressed(source, start, entry, len(buffer))
    if len(buffer) == entry.size and zlib.crc32(buffer) != entry.checksum:
        raise StoreReadError(_CHECKSUM)


def read_whole(source: Source, start: int, entry: Entry) -> Buffer:
    """Read an entry into memory of its own; a large claim of little data costs nothing."""
    if entry.method != ZIP_STORED:
        data = _decompressed(source, start, entry, entry.size)
        if zlib.crc32(data) != entry.checksum:
            raise StoreReadError(_CHECKSUM)
        return data
    buffer = memoryview(bytearray(entry.size))
    read_start(source, start, entry, buffer)
    return buffer.toreadonly()


def _decompressed(source: Source, start: int, entry: Entry, length: int) -> bytes:
    compressed = memoryview(bytearray(entry.compressed_size))
    source.fill(start, compressed)
    return decompress(entry.method, compressed, length, entry.size)


# --- writing ---


class _Stream(io.FileIO):
    """An unbuffered file whose writes are complete, or fail."""

    def write(self, data: Buffer, /) -> int:  # type: ignore[override]  # any buffer is enough
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            count = super().write(view[done:])
            if not count:
                raise OSError(errno.EIO, "the file takes no more bytes")
            done += count
        return done


class Writer:
    """An archive that is being written.

    Parameters
    ----------
    path : str
        Of the file, which is made if it is not there.
    empty : bool
        Forget what is in it.

    Raises
    ------
    StoreError
        If someone else is writing it.
    OSError
        If the file cannot be opened for writing.
    """

    def __init__(self, path: str, *, empty: bool) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._stream = _Stream(descriptor, "r+b")
        self.abandoned = False
        """Whether it is of the process that forked this one."""
        try:
            self._lock(path)
            if empty:
                descriptor = self._begin_anew(path)
            elif os.fstat(descriptor).st_size:
                read_entries(
                    open_file(path), path
                )  # zipfile would append a second archive to a damaged one
            self._archive = ZipFile(self._stream, "a")
        except BaseException:
            self._stream.close()
            raise
        self.descriptor = Descriptor(os.dup(descriptor))
        """For reading what has been written."""
        self.entries = keys_of(self._archive)
        _writers.add(self)

    def _lock(self, path: str) -> None:
        if not HAVE_LOCKS:
            return
        try:
            flock(self._stream.fileno(), LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                "another store object or process is writing this archive; close that first",
                store=path,
            ) from error

    def _begin_anew(self, path: str) -> int:
        """Put an empty file in the place of the one that is there, which others may be reading."""
        old = self._stream
        if not os.fstat(old.fileno()).st_size:
            return old.fileno()
        real = os.path.realpath(path)
        new = f"{real}.{os.getpid()}-{id(self):x}.new"
        mode = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
        try:
            descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except OSError:  # the file may be changed, its directory not
            old.truncate(0)
            return old.fileno()
        self._stream = _Stream(descriptor, "r+b")
        with old:
            try:
                os.fchmod(descriptor, mode)
                self._lock(path)
                os.replace(new, real)
            except BaseException:
                os.unlink(new)
                raise
        return descriptor

    def append(self, key: str, pieces: Sequence[Buffer], method: int) -> Entry:
        """Add a value; if that fails, the archive is as before."""
        archive = self._archive
        info = ZipInfo(key, time.localtime()[:6])
        info.compress_type = method
        info.external_attr = 0o644 << 16
        end = archive.start_dir
        before = archive.NameToInfo.pop(key, None)  # else zipfile warns of the name
        large = sum(map(len, pieces)) >= _ZIP64_LIMIT
        try:
            with archive.open(info, "w", force_zip64=large) as entry:
                for piece in pieces:
                    entry.write(piece)
        except BaseException:
            archive.filelist[:] = [item for item in archive.filelist if item is not info]
            archive.NameToInfo.pop(key, None)
            if before is not None:
                archive.NameToInfo[key] = before
            archive.start_dir = end
            self._stream.truncate(end)
            self._stream.seek(end)
            raise
        written = self.entries[key] = Entry.from_info(info)
        return written

    def finish(self) -> None:
        """Write the directory of the archive, each name once, and let go of the file."""
        if self.abandoned:
            return
        archive = self._archive
        archive.filelist[:] = archive.NameToInfo.values()
        try:
            archive.close()
        finally:
            if HAVE_LOCKS and not self._stream.closed:
                # Closing alone would not do: a forked child may have a copy.
                flock(self._stream.fileno(), LOCK_UN)
            self._stream.close()

    def abandon(self) -> None:
        """Let go of the file without touching it: it is the parent's, and this a forked child."""
        self.abandoned = True
        self._archive.fp = None  # zipfile would write the directory when it is collected
        self._stream.close()


_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in tuple(_writers):
        writer.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
