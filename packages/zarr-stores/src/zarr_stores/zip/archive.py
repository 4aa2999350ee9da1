"""Entries of zip archives: reading without locks, and appending.

Specification: PKWARE APPNOTE 6.3, mostly with ``zipfile`` of the standard library.
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
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from zarr_core.extension import StoreError, StoreKeyError, StoreReadError, check_key
from zarr_core.tools import call_after_fork

from zarr_stores.zip.methods import METHODS, decompress, max_decompressed_size
from zarr_stores.zip.source import Descriptor, SourceFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer

    from zarr_stores.zip.source import Source, Stream

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # a platform without file locks
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 0x1
EXTRA = 128  # bytes to read for the extra fields of a header; they usually have 0 to 36
TAIL = (1 << 16) + 22  # bytes that contain the end of the central directory
_ZIP64_LIMIT = 1 << 31
_MOST_OVERHEAD = 1 << 16  # bytes of compressed data in addition to twice the size
_CHECKSUM = "damaged archive: the checksum of the entry does not match"
_DAMAGE = (
    "the file is not a zip archive, is truncated, is being written, or its writer was killed "
    "before close(). zarr_stores.zip.recover.recover(path, new_path) copies its complete values"
)


class Entry(NamedTuple):
    """Location and encoding of a value in an archive."""

    header: int
    size: int
    compressed_size: int
    method: int
    checksum: int
    encrypted: bool

    @property
    def generation(self) -> str:
        """Version of the value, unique among all values written to the archive."""
        return f"{self.header:x}-{self.checksum:x}-{self.size:x}"

    @classmethod
    def from_info(cls, info: ZipInfo) -> Entry:
        """Create an entry from a ``ZipInfo``."""
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
        If the file cannot be opened.
    """
    file = Descriptor(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    mode = os.fstat(file.number).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "the path is a directory, not a zip archive", path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "the path is a pipe or a device, not a zip archive", path)
    return file


def read_entries(source: Source, location: object) -> dict[str, Entry]:
    """Read the central directory of an archive.

    Parameters
    ----------
    source : Source
        The archive.
    location : object
        Name of the archive in messages.

    Raises
    ------
    StoreError
        If the archive is not complete, or not a zip archive.
    ValueReplacedError
        If the archive is a value of a store and was replaced.
    """
    near_end = source.near([(max(0, source.size - TAIL), TAIL)])
    try:
        with ZipFile(SourceFile(near_end)) as archive:
            return keys_of(archive)
    except (BadZipFile, NotImplementedError, struct.error, ValueError, OSError) as error:
        raise StoreError(f"cannot be opened ({error}): {_DAMAGE}", store=location) from error


def keys_of(archive: ZipFile) -> dict[str, Entry]:
    """Return the entries by key; the last of equal names is used, invalid keys are ignored."""
    entries = {}
    for info in archive.infolist():
        try:
            check_key(info.filename)
        except StoreKeyError:  # a directory, or a path such as "../x"
            continue
        entries[info.filename] = Entry.from_info(info)
    return entries


def header_range(key: str, entry: Entry) -> tuple[int, int]:
    """Return the offset and the usual maximum length of the header of an entry."""
    return entry.header, LOCAL_HEADER.size + len(key.encode()) + EXTRA


def entry_range(key: str, entry: Entry) -> tuple[int, int]:
    """Return the offset and the usual maximum length of a whole entry."""
    start, length = header_range(key, entry)
    return start, length + entry.compressed_size


def data_start(source: Source, entry: Entry) -> int:
    """Return the offset of the data of an entry.

    Raises
    ------
    StoreReadError
        If the entry is damaged, encrypted or compressed with an unsupported method.
    """
    if entry.encrypted:
        raise StoreReadError("the entry is encrypted, which is not supported")
    if entry.method not in METHODS:
        raise StoreReadError(
            f"compression method {entry.method} of the entry is not supported; "
            "recreate the archive with stored or deflated entries"
        )
    known = source.starts
    start = None if known is None else known.get(entry.header)
    if start is None:
        header = source.read(entry.header, LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or not header.startswith(b"PK\3\4"):
            raise StoreReadError("damaged archive: no entry at the offset in the central directory")
        name_length, extra_length = struct.unpack_from("<HH", header, 26)
        start = entry.header + LOCAL_HEADER.size + int(name_length) + int(extra_length)
        if known is not None:
            known[entry.header] = start
    if start + entry.compressed_size > source.size:
        raise StoreReadError("damaged archive: an entry extends beyond the end of the file")
    if entry.method == ZIP_STORED and entry.size != entry.compressed_size:
        raise StoreReadError("damaged archive: an uncompressed entry with two sizes")
    if entry.compressed_size > 2 * entry.size + _MOST_OVERHEAD:
        raise StoreReadError(
            f"damaged archive: {entry.compressed_size} compressed bytes for {entry.size} bytes"
        )
    most = max_decompressed_size(entry.method, entry.compressed_size)
    if most is not None and entry.size > most:
        raise StoreReadError(
            f"damaged archive: {entry.compressed_size} bytes cannot decompress to {entry.size}"
        )
    return start


def read_start(source: Source, start: int, entry: Entry, buffer: memoryview) -> None:
    """Read the start of an entry into a buffer; a whole entry is checked by its checksum.

    Parameters
    ----------
    start : int
        Result of :func:`data_start`.
    buffer : memoryview
        Destination, not longer than the entry.  Only this many bytes are decompressed.
    """
    if entry.method == ZIP_STORED:
        source.fill(start, buffer)
    elif len(buffer):
        buffer[:] = _decompressed(source, start, entry, len(buffer))
    if len(buffer) == entry.size and zlib.crc32(buffer) != entry.checksum:
        raise StoreReadError(_CHECKSUM)


def read_whole(source: Source, start: int, entry: Entry) -> Buffer:
    """Read an entry into new memory; a false size of a compressed entry allocates nothing."""
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


class Writer:
    """Writer of an archive.

    Parameters
    ----------
    path : str
        Path of the file; created if it does not exist.
    empty : bool
        Whether to replace an existing file.
    exclusive : bool
        Whether the file must not exist.

    Raises
    ------
    StoreError
        If another store or process is writing the archive.
    OSError
        If the file cannot be opened for writing.
    """

    _stream: _Stream
    source: Source
    """Source for reading written values."""

    def __init__(self, path: str, *, empty: bool, exclusive: bool = False) -> None:
        self.abandoned = False
        """Whether the writer belongs to the parent of this forked process."""
        self.changed = empty
        """Whether the central directory must be written."""
        self._path = path
        self._created = exclusive or not os.path.exists(path)
        descriptor = self._open_locked(path, os.O_EXCL if exclusive else 0)
        try:
            if empty:
                descriptor = self._replace_file(path)
            elif os.fstat(descriptor).st_size:
                read_entries(
                    open_file(path), path
                )  # otherwise zipfile would append a second archive to a damaged one
            self._archive = ZipFile(self._stream, "a")
        except BaseException:
            self._stream.close()
            raise
        self.source = Descriptor(os.dup(descriptor))
        self.entries = keys_of(self._archive)
        _writers.add(self)

    def _open_locked(self, path: str, flags: int) -> int:
        """Open and lock the file at the path; another writer may replace it meanwhile."""
        flags |= os.O_RDWR | os.O_CREAT
        while True:
            descriptor = os.open(path, flags, 0o666)
            self._stream = _Stream(descriptor, "r+b")
            try:
                self._lock(path)
                if not HAVE_LOCKS or os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    return descriptor
            except FileNotFoundError:
                pass
            except BaseException:
                self._stream.close()
                raise
            self._stream.close()

    def _lock(self, path: str) -> None:
        if not HAVE_LOCKS:
            return
        try:
            flock(self._stream.fileno(), LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                "another store object or process is writing the archive; close it first",
                store=path,
            ) from error

    def _replace_file(self, path: str) -> int:
        """Replace the file with an empty one; open readers keep the old file."""
        old = self._stream
        if not os.fstat(old.fileno()).st_size:
            return old.fileno()
        real = os.path.realpath(path)
        new = f"{real}.{os.getpid()}-{id(self):x}.new"
        mode = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
        try:
            descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except OSError:  # the file is writable, but its directory is not
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
        """Append a value; after an error the archive is unchanged."""
        self.changed = True
        archive = self._archive
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

    def write_directory(self) -> None:
        """Write the central directory; the next value replaces it.

        After an error, values can still be added, and the directory be written.
        """
        if self.abandoned:
            return
        archive = self._archive
        archive.filelist[:] = archive.NameToInfo.values()
        end = archive.start_dir
        try:
            archive.close()  # the stream remains open
        except BaseException:
            self._stream.truncate(end)
            again = self._archive = ZipFile(self._stream, "a")
            again.filelist, again.NameToInfo = archive.filelist, archive.NameToInfo
            again.start_dir = end
            again.comment = archive.comment  # an archive with a new comment is written when closed
            raise
        self._archive = ZipFile(self._stream, "a")
        self._stream.flush()

    def finish(self) -> None:
        """Write the central directory, with each name once, and close the file."""
        if self.abandoned:
            return
        archive = self._archive
        archive.filelist[:] = archive.NameToInfo.values()
        try:
            archive.close()
        finally:
            self._unlock()
            self._close()

    def withdraw(self) -> None:
        """Close a file that was not changed; remove it if this writer created it."""
        if self._created and not os.fstat(self._stream.fileno()).st_size:
            os.unlink(self._path)
        self._unlock()
        self.abandon()

    def abandon(self) -> None:
        """Close the file without writing, in a forked child: it belongs to the parent."""
        self.abandoned = True
        self._archive.fp = None  # otherwise zipfile writes the directory when it is deleted
        self._close()

    def _close(self) -> None:
        self._stream.close()

    def _unlock(self) -> None:
        if HAVE_LOCKS and not self._stream.closed:
            # Closing is not enough: a forked child may have a copy of the descriptor.
            flock(self._stream.fileno(), LOCK_UN)


class StreamWriter(Writer):
    """Writer of an archive in a file object, which is not closed.

    Parameters
    ----------
    source : Stream
        The file object, which writer and readers use in turns.
    empty : bool
        Whether to remove its contents.
    exclusive : bool
        Whether it must have no contents.
    """

    _stream: Any

    def __init__(self, source: Stream, *, empty: bool, exclusive: bool) -> None:
        self._stream = source.file
        self.abandoned = False
        self.changed = empty
        if exclusive and source.size:
            raise FileExistsError
        if empty:
            self._stream.seek(0)
            self._stream.truncate()
        elif source.size:
            read_entries(source, self._stream)
        self._archive = ZipFile(self._stream, "a")
        self.source = source
        self._guard = source.guard
        self.entries = keys_of(self._archive)
        _writers.add(self)

    def append(self, key: str, pieces: Sequence[Buffer], method: int) -> Entry:
        """Append a value; after an error the archive is unchanged."""
        with self._guard:
            return super().append(key, pieces, method)

    def write_directory(self) -> None:
        """Write the central directory; the next value replaces it."""
        with self._guard:
            super().write_directory()

    def finish(self) -> None:
        """Write the central directory."""
        with self._guard:
            super().finish()

    def withdraw(self) -> None:
        """Forget the file object, which was not changed."""
        self.abandon()

    def _unlock(self) -> None:
        self._stream.flush()

    def _close(self) -> None:
        pass  # the file object of a forked child is its own, or shared with the parent


_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in tuple(_writers):
        writer.abandon()


call_after_fork(_after_fork)
