"""The bytes of zip archives, and reading their entries.

Specification: PKWARE APPNOTE 6.3.  ``zipfile`` reads the central directory.  Entries are read
here, because ``zipfile`` has one file position for all threads, and no limits for the memory that
a damaged or hostile archive claims.
"""

from __future__ import annotations

import errno
import io
import os
import struct
import zlib
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipExtFile, ZipFile

from zarr_core.extension import ByteRange, ByteReader, StoreError, StoreReadError
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.stores.local_files import FileReader

from zarr_stores._partial_reader import copy_held
from zarr_stores.databases.database_store import is_key, path_exists

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zipfile import ZipInfo

    from zarr_core.extension import Store

ArchiveLocation: TypeAlias = "str | tuple[Store, str]"
"""Where an archive is: the absolute path of a file, or a store and a key."""

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 0x1
_EXTRA = 128  # bytes to read for the extra fields of a header; they usually have 0 to 36
_TAIL = (1 << 16) + 22  # bytes that contain the end of the central directory
METHODS = (ZIP_STORED, ZIP_DEFLATED)
"""Compression methods of entries; the others have no limit for the memory of a hostile entry."""
_DEFLATE_RATIO = 1032  # two bits of deflated data expand to at most 258 bytes
_MOST_OVERHEAD = 1 << 16  # bytes of compressed data in addition to twice the size
_DAMAGE = (
    "the file is not a zip archive, is truncated, is being written, or its writer was killed "
    "before close(). To recover the complete values of its file: zip -FF FILE --out NEW_FILE"
)


# --- bytes ---


def open_source(location: ArchiveLocation) -> ByteReader | None:
    """Open the bytes of an archive, with the errors of files; None if its key is missing."""
    if isinstance(location, tuple):
        store, key = location
        return store.open_value(key, ByteRange(-_TAIL))
    path_exists(location)  # raises an error for a pipe, which would wait for its writer
    if os.path.isdir(location):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), location)
    return file_source(os.open(location, os.O_RDONLY))


def file_source(descriptor: int) -> FileReader:
    """Return a reader that closes the descriptor of a file when it is deleted."""
    return FileReader(descriptor, os.fstat(descriptor).st_size, "", "")


class _Prefetched(WrapperReader):
    """A source with some parts in memory."""

    def __init__(self, inner: ByteReader, held: Sequence[tuple[int, memoryview]]) -> None:
        super().__init__(inner)
        self._held = held

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        if missing := copy_held(self._held, parts):
            self.inner.read_into(missing)

    read = ByteReader.read


class _SourceFile(io.RawIOBase):
    """A source as a file object for ``zipfile``."""

    def __init__(self, source: ByteReader) -> None:
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        position = (0, self._position, self._source.size)[whence] + offset
        if position < 0:
            raise OSError("cannot seek before the start of the archive")
        self._position = position
        return position

    def readinto(self, buffer: Any, /) -> int:
        length = max(0, min(len(buffer), self._source.size - self._position))
        self._source.read_into([(self._position, memoryview(buffer)[:length])])
        self._position += length
        return length


# --- entries ---


class Archive:
    """The bytes of an archive and its entries by key."""

    def __init__(self, source: ByteReader, entries: dict[str, ZipInfo]) -> None:
        self.source = source
        self.entries = entries
        self._starts: dict[int, int] = {}  # offsets of data by those of the headers

    @classmethod
    def of(cls, source: ByteReader, named: object) -> Archive:
        """Read the central directory; an incomplete archive raises an error."""
        tail = max(0, source.size - _TAIL)
        try:
            with ZipFile(_SourceFile(_prefetched(source, [(tail, _TAIL)]))) as archive:
                return cls(source, entries_of(archive))
        except (BadZipFile, NotImplementedError, struct.error, ValueError, OSError) as error:
            raise StoreError(f"cannot be opened ({error}): {_DAMAGE}", store=named) from error

    def near(self, info: ZipInfo, *parts: ByteRange) -> ByteReader:
        """Return the bytes, with parts of the data of an entry in memory if requests have latency."""
        if self.source.max_concurrency is None:
            return self.source
        ranges = []
        length = _LOCAL_HEADER.size + len(info.filename.encode("utf-8", "surrogatepass"))
        start = self._starts.get(info.header_offset)
        if start is None:  # known except for the length of the extra fields
            ranges.append((info.header_offset, length + _EXTRA))
            start = info.header_offset + length
        for part in parts:
            begin, stop = part.within(info.compress_size)
            ranges.append((start + begin, stop - begin + _EXTRA))
        return _prefetched(self.source, ranges)

    def check(self, info: ZipInfo) -> None:
        """Raise an error for an entry that cannot be read, before memory is allocated for it."""
        if info.flag_bits & _ENCRYPTED:
            raise StoreReadError("the entry is encrypted, which is not supported")
        if info.compress_type not in METHODS:
            raise StoreReadError(
                f"compression method {info.compress_type} of the entry is not supported; "
                "recreate the archive with stored or deflated entries"
            )
        _check_sizes(info.compress_type, info.compress_size, info.file_size)
        if info.header_offset + info.compress_size > self.source.size:
            raise StoreReadError("damaged archive: an entry extends beyond the end of the file")

    def start(self, source: ByteReader, info: ZipInfo) -> int:
        """Return the offset of the data of an entry."""
        start = self._starts.get(info.header_offset)
        if start is None:
            header = source.read(info.header_offset, _LOCAL_HEADER.size)
            if bytes(header[:4]) != b"PK\3\4":
                raise StoreReadError(
                    "damaged archive: no entry at the offset in the central directory"
                )
            start = info.header_offset + _LOCAL_HEADER.size + sum(struct.unpack("<HH", header[26:]))
            self._starts[info.header_offset] = start
        return start

    def read_into(
        self, source: ByteReader, info: ZipInfo, parts: Sequence[tuple[int, memoryview]]
    ) -> None:
        """Read parts of an entry; the checksum is compared if the whole entry is read.

        A compressed entry is decompressed up to the last part, without memory for all of it.
        """
        first = self.start(source, info)
        if is_stored(info):
            source.read_into([(first + start, buffer) for start, buffer in parts])
            if any(
                zlib.crc32(part) != info.CRC for _, part in parts if len(part) == info.file_size
            ):
                raise StoreReadError("damaged archive: the checksum of the entry does not match")
            return
        file: Any = _SourceFile(source)
        file.seek(first)
        entry = ZipExtFile(file, "r", info)
        try:
            for start, buffer in sorted(parts, key=itemgetter(0)):
                entry.seek(start)
                buffer[:] = entry.read(len(buffer))
        except (BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
            raise StoreReadError(f"damaged archive: {error}") from error


def is_stored(info: ZipInfo) -> bool:
    """Return whether the bytes of an entry are those of the value."""
    return info.compress_type == ZIP_STORED


def entries_of(archive: ZipFile) -> dict[str, ZipInfo]:
    """Return the entries by key; the last of equal names is used, invalid keys are ignored."""
    return {info.filename: info for info in archive.infolist() if is_key(info.filename)}


def _prefetched(source: ByteReader, ranges: Sequence[tuple[int, int]]) -> ByteReader:
    """Return a source with some ranges, each of start and length, in memory."""
    merged: list[list[int]] = []
    for start, length in sorted(ranges):
        stop = min(start + length, source.size)
        if merged and start <= merged[-1][1] + source.gap_nbytes:
            merged[-1][1] = max(merged[-1][1], stop)
        elif start < stop:
            merged.append([start, stop])
    parts = [(start, memoryview(bytearray(stop - start))) for start, stop in merged]
    if parts:
        source.read_into(parts)
    return _Prefetched(source, parts)


def _check_sizes(method: int, compressed: int, size: int) -> None:
    """Raise an error for sizes that no data can have, before memory is allocated for them."""
    if method == ZIP_STORED and size != compressed:
        raise StoreReadError("damaged archive: an uncompressed entry with two sizes")
    if compressed > 2 * size + _MOST_OVERHEAD:
        raise StoreReadError(f"damaged archive: {compressed} compressed bytes for {size} bytes")
    if method == ZIP_DEFLATED and size > (compressed + 1) * _DEFLATE_RATIO:
        raise StoreReadError(f"damaged archive: {compressed} bytes cannot decompress to {size}")
