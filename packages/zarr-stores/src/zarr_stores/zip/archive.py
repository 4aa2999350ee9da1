"""The bytes of zip archives, and reading their entries.

Specification: PKWARE APPNOTE 6.3.  ``zipfile`` reads the central directory.  Entries are read
here, because ``zipfile`` has one file position for all threads, and no limits for the memory that
a damaged or hostile archive claims.
"""

from __future__ import annotations

import importlib
import io
import os
import struct
import sys
import threading
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias
from urllib.parse import quote
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, BadZipFile, ZipExtFile, ZipFile

from zarr_core.extension import (
    ByteRange,
    ByteReader,
    Store,
    StoreError,
    StoreKeyError,
    StoreReadError,
    check_key,
)
from zarr_core.interfaces.byte_reader import WrapperReader

from zarr_stores.databases.database_store import path_exists

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zipfile import ZipInfo

    from zarr_core.extension import Buffer

Place: TypeAlias = str | BinaryIO | tuple[Store, str]
"""Where an archive is: the absolute path of a file, a file object, or a store and a key."""

LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 0x1
_EXTRA = 128  # bytes to read for the extra fields of a header; they usually have 0 to 36
_TAIL = (1 << 16) + 22  # bytes that contain the end of the central directory
_METHODS = {ZIP_STORED: "", ZIP_DEFLATED: "zlib", ZIP_BZIP2: "bz2", ZIP_LZMA: "lzma"}
_DEFLATE_RATIO = 1032  # two bits of deflated data expand to at most 258 bytes
_MOST_OVERHEAD = 1 << 16  # bytes of compressed data in addition to twice the size
DAMAGE = (zlib.error, OSError, EOFError, ValueError, struct.error)
"""Errors of the modules for damaged data, except for LZMA."""
_LEAST_DICTIONARY = 1 << 12
_TRUNCATED = "damaged archive: the file is truncated"
_DAMAGE = (
    "the file is not a zip archive, is truncated, is being written, or its writer was killed "
    "before close(). zarr_stores.zip.recover.recover(path, new_path) copies its complete values"
)


# --- places ---


def place_of(given: Any) -> Place:
    """Return where an archive is."""
    if isinstance(given, str | os.PathLike):
        return os.path.abspath(os.fspath(given))
    if isinstance(given, tuple):
        store, key = given
        if not isinstance(store, Store):
            raise StoreError(f"must be a store, not {type(store).__name__}", store=repr(store))
        return store, check_key(key)
    if hasattr(given, "read") and hasattr(given, "seek"):
        file: BinaryIO = given
        return file
    raise StoreError("must be a path or a binary file object", store=repr(given))


def url_of(place: Place) -> str:
    """Return the URL for messages; a file can be opened again with it."""
    if isinstance(place, str):
        return f"zip://{quote(place)}"
    if isinstance(place, tuple):
        return f"zip::{place[0].url.rstrip('/')}/{place[1]}"
    return f"zip://{type(place).__name__}@{id(place):#x}"


def is_writable(place: Place) -> bool:
    """Return whether an archive can be written."""
    if isinstance(place, str | tuple):
        return isinstance(place, str)
    return all(getattr(place, name, bool)() for name in ("readable", "writable", "seekable"))


def open_source(place: Place) -> ByteReader | None:
    """Open the bytes of an archive, with the errors of files; None if its key is missing."""
    if isinstance(place, tuple):
        return place[0].open_value(place[1], ByteRange(-_TAIL))
    if isinstance(place, str):
        path_exists(place)  # raises an error for a pipe, which would wait for its writer
        return FileSource(os.open(place, os.O_RDONLY))
    if not is_writable(place) and isinstance(getattr(place, "raw", place), io.FileIO):
        return FileSource(os.dup(place.fileno()))  # read without the shared file position
    return StreamSource(place)


# --- bytes ---


class FileSource(ByteReader):
    """A file, read by several threads; its descriptor is closed when the object is deleted."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.size = os.fstat(descriptor).st_size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            done = 0
            while done < len(buffer):
                window = buffer[done : done + (1 << 30)]  # the most that all platforms read
                count = os.preadv(self.descriptor, [window], start + done)
                if not count:
                    raise StoreReadError(_TRUNCATED)
                done += count

    def read(self, start: int, length: int) -> memoryview:
        data = os.pread(self.descriptor, length, start)
        return memoryview(data) if len(data) == length else super().read(start, length)

    def __del__(self) -> None:
        os.close(self.descriptor)


class StreamSource(ByteReader):
    """A seekable file object, used by one thread at a time, which is not closed."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.lock = threading.Lock()
        self._process = os.getpid()
        try:
            self.size = file.seek(0, os.SEEK_END)
        except (OSError, AttributeError, ValueError) as error:
            raise StoreError(f"the file object is not seekable: {error}", repr(file)) from error

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        if self._process != os.getpid():
            # The processes share the file position, and a lost thread may hold the lock.
            raise StoreReadError("a file object cannot be used in a forked process")
        with self.lock:
            for start, buffer in parts:
                self.file.seek(start)
                done = 0
                while done < len(buffer):
                    data = self.file.read(len(buffer) - done)
                    if not data:
                        raise StoreReadError(_TRUNCATED)
                    buffer[done : done + len(data)] = data
                    done += len(data)


class _Windows(WrapperReader):
    """A source with some parts in memory."""

    def __init__(self, inner: ByteReader, held: Sequence[tuple[int, memoryview]]) -> None:
        super().__init__(inner)
        self._held = held

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        missing = []
        for start, buffer in parts:
            stop = start + len(buffer)
            for begin, part in self._held:
                if begin <= start and stop <= begin + len(part):
                    buffer[:] = part[start - begin : stop - begin]
                    break
            else:
                missing.append((start, buffer))
        if missing:
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

    def near(self, *wanted: tuple[str, ZipInfo, ByteRange | None]) -> ByteReader:
        """Return the bytes, with parts of entries in memory if requests have latency.

        Each is a key, its entry, and the part of its stored data; None for the header only.
        """
        if self.source.max_concurrency is None:
            return self.source
        ranges = []
        for key, info, part in wanted:
            length = LOCAL_HEADER.size + len(key.encode())
            start = self._starts.get(info.header_offset)
            if start is None:  # known except for the length of the extra fields
                ranges.append((info.header_offset, length + _EXTRA))
                start = info.header_offset + length
            if part is not None:
                begin, stop = part.within(info.compress_size)
                ranges.append((start + begin, stop - begin + _EXTRA))
        return _prefetched(self.source, ranges)

    def start(self, source: ByteReader, info: ZipInfo) -> int:
        """Return the offset of the data of an entry, which is checked before it is read."""
        if info.flag_bits & _ENCRYPTED:
            raise StoreReadError("the entry is encrypted, which is not supported")
        if info.compress_type not in _METHODS:
            raise StoreReadError(
                f"compression method {info.compress_type} of the entry is not supported; "
                "recreate the archive with stored or deflated entries"
            )
        start = self._starts.get(info.header_offset)
        if start is None:
            header = source.read(info.header_offset, LOCAL_HEADER.size)
            if bytes(header[:4]) != b"PK\3\4":
                raise StoreReadError(
                    "damaged archive: no entry at the offset in the central directory"
                )
            start = info.header_offset + LOCAL_HEADER.size + sum(struct.unpack("<HH", header[26:]))
            self._starts[info.header_offset] = start
        if start + info.compress_size > source.size:
            raise StoreReadError("damaged archive: an entry extends beyond the end of the file")
        _check_sizes(info.compress_type, info.compress_size, info.file_size)
        return start

    def read(self, key: str, info: ZipInfo, out: memoryview | None = None) -> Buffer:
        """Read an entry, ``out`` may be used for it; a false size allocates nothing."""
        source = self.near((key, info, ByteRange(0)))
        start = self.start(source, info)
        value: Buffer
        if info.compress_type != ZIP_STORED:
            value = _decompress(info, source.read(start, info.compress_size))
        elif out is None:
            value = source.read(start, info.file_size).toreadonly()
        else:
            value = out[: info.file_size]
            source.read_into([(start, value)])
        if zlib.crc32(value) != info.CRC:
            raise StoreReadError("damaged archive: the checksum of the entry does not match")
        return value

    def open_compressed(self, info: ZipInfo) -> ZipExtFile:
        """Return a file object that decompresses an entry up to where it is read."""
        file: Any = _SourceFile(self.source)
        file.seek(self.start(self.source, info))
        return ZipExtFile(file, "r", info)


def entries_of(archive: ZipFile) -> dict[str, ZipInfo]:
    """Return the entries by key; the last of equal names is used, invalid keys are ignored."""
    entries = {}
    for info in archive.infolist():
        try:
            check_key(info.filename)
        except StoreKeyError:  # a directory, or a path such as "../x"
            continue
        entries[info.filename] = info
    return entries


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
    return _Windows(source, parts)


def _check_sizes(method: int, compressed: int, size: int) -> None:
    """Raise an error for sizes that no data can have, before memory is allocated for them."""
    if method == ZIP_STORED and size != compressed:
        raise StoreReadError("damaged archive: an uncompressed entry with two sizes")
    if compressed > 2 * size + _MOST_OVERHEAD:
        raise StoreReadError(f"damaged archive: {compressed} compressed bytes for {size} bytes")
    if method == ZIP_DEFLATED and size > (compressed + 1) * _DEFLATE_RATIO:
        raise StoreReadError(f"damaged archive: {compressed} bytes cannot decompress to {size}")


def _decompress(info: ZipInfo, data: memoryview) -> bytes:
    """Decompress an entry; more than its size is never decompressed."""
    method, size = info.compress_type, info.file_size
    if not size:
        return b""
    try:
        module: Any = importlib.import_module(_METHODS[method])
        if method == ZIP_DEFLATED:
            value: bytes = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size)
        elif method == ZIP_BZIP2:
            value = module.BZ2Decompressor().decompress(data, size)
        else:
            value = _lzma_decompressor(module, data, size).decompress(data[9:], size)
    except ImportError as error:
        raise StoreReadError(f"this Python was built without {_METHODS[method]}") from error
    except (*DAMAGE, getattr(sys.modules.get("lzma"), "LZMAError", zlib.error)) as error:
        raise StoreReadError(f"damaged archive: {error}") from error
    if len(value) != size:
        raise StoreReadError("damaged archive: the entry is shorter than its size")
    return value


def _lzma_decompressor(lzma: Any, data: memoryview, size: int) -> Any:
    """Return a decompressor; ``data`` begins with a version, and 5 bytes of properties."""
    _, count, properties, dictionary = struct.unpack_from("<HHBL", data)
    if count != 5 or properties >= 9 * 5 * 5:
        raise ValueError("the LZMA properties are not valid")
    rest, lc = divmod(properties, 9)
    pb, lp = divmod(rest, 5)
    # The dictionary is never larger than the value; a false size must not allocate memory.
    dictionary = max(_LEAST_DICTIONARY, min(dictionary, size))
    options = {"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[options])
