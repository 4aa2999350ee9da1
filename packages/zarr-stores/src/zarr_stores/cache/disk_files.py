"""The files of a cache on disk, each with the blocks of one value that were read so far.

A sparse file: a header, a record with a checksum for each block, then the blocks at their
offsets.  Several processes can write the same blocks concurrently, because a block is used
only if its checksum matches.

Each process scans the directory after it has written a part of the limit, and removes the least
recently used files.  No background task and no total that processes share is needed.

``diskcache`` and the caches of fsspec are not used: the first unpickles what it finds, and neither
keeps parts of a value together with the generation that they belong to.
"""

from __future__ import annotations

import itertools
import os
import re
import struct
import threading
import time
import zlib
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from zarr_core.extension import ByteReader

from zarr_stores._after_fork import register_after_fork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Buffer

_MAGIC = b"zarrdc2\n"
_HEADER = struct.Struct(
    "<8sIIQI"
)  # magic, checksum of the rest, bytes of a block, size, generation
_SUMMED = 12  # offset of the first byte covered by the checksum
_RECORD = struct.Struct("<II")  # checksum of a block, and the checksum XOR _WRITTEN
_WRITTEN = 0x7A617272  # distinguishes records from holes of the file, which read as zeros
_PAGE = 4096
_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
_DIRECTORY = re.compile(r"[0-9a-f]{2}").fullmatch
_NAME = re.compile(r"[0-9a-f]{38}(\.new-[0-9]+-[0-9]+)?").fullmatch
_FILL_AFTER_EVICTION = 0.9  # fraction of the limit that remains after an eviction
_SCANNED = 32  # a process scans the directory after it has written this fraction of the limit
_ABANDONED = 600.0  # seconds after which an unfinished file is removed
_STRIPES = 1024

_counter = itertools.count()


def _pack_header(generation: str, size: int, block_bytes: int) -> bytes:
    """Return the header of a new file."""
    words = generation.encode()
    sizes = block_bytes, size, len(words)
    unsigned = _HEADER.pack(_MAGIC, 0, *sizes) + words
    return _HEADER.pack(_MAGIC, zlib.crc32(unsigned[_SUMMED:]), *sizes) + words


class Entry:
    """An open cache file."""

    __slots__ = (
        "_accessed", "_data", "_descriptor", "_start", "_table",
        "block_bytes", "generation", "size", "validated",
    )  # fmt: skip

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, _FLAGS)
        start = self._start = os.pread(self._descriptor, _PAGE, 0)
        if len(start) < _HEADER.size:
            raise ValueError("the file is shorter than a header")
        magic, checksum, block_bytes, size, length = _HEADER.unpack_from(start)
        end = _HEADER.size + length
        if magic != _MAGIC or checksum != zlib.crc32(start[_SUMMED:end]) or not block_bytes:
            raise ValueError("the header is damaged")
        self.size: int = size
        """Length of the value in bytes."""
        self.generation = start[_HEADER.size : end].decode()
        """Version of the value."""
        self.block_bytes: int = block_bytes
        """Length of each block except the last, in bytes."""
        self._table, self._data, total = _layout(end, self.size, block_bytes)
        status = os.fstat(self._descriptor)
        if status.st_size != total:
            raise ValueError("the length of the file does not match its header")
        self.validated = status.st_mtime
        """Time of the last comparison of generations, in seconds since the epoch."""
        self._accessed = status.st_atime

    @classmethod
    def create(cls, path: str, generation: str, size: int, block_bytes: int) -> None:
        """Create a file without blocks."""
        header = _pack_header(generation, size, block_bytes)
        descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, header)
            os.ftruncate(descriptor, _layout(len(header), size, block_bytes)[2])
        finally:
            os.close(descriptor)

    # --- blocks ---

    def read(self, start: int, buffer: memoryview) -> list[tuple[int, int]]:
        """Fill a buffer with the blocks that are cached."""
        if not len(buffer):
            return []
        step = self.block_bytes
        stop = start + len(buffer)
        first = start // step
        last = -(-stop // step)
        offset, length = self._table + _RECORD.size * first, _RECORD.size * (last - first)
        # The records read with the header are used once: others may write blocks meanwhile.
        records, self._start = self._start[offset : offset + length], b""
        if len(records) < length:
            records = os.pread(self._descriptor, length, offset)
        missing: list[tuple[int, int]] = []
        for number, (checksum, again) in enumerate(_RECORD.iter_unpack(records), first):
            if checksum ^ again != _WRITTEN or not self._read_block(
                number, checksum, start, stop, buffer
            ):
                if missing and missing[-1][1] == number:
                    missing[-1] = missing[-1][0], number + 1
                else:
                    missing.append((number, number + 1))
        return missing

    def _read_block(
        self, number: int, checksum: int, start: int, stop: int, buffer: memoryview
    ) -> bool:
        begin = number * self.block_bytes
        end = min(self.size, begin + self.block_bytes)
        if start <= begin and end <= stop:
            block = buffer[begin - start : end - start]
        else:
            block = memoryview(bytearray(end - begin))
        if os.preadv(self._descriptor, (block,), self._data + begin) != len(block):
            return False
        if zlib.crc32(block) != checksum:
            return False
        if start > begin or end > stop:
            low, high = max(begin, start), min(end, stop)
            buffer[low - start : high - start] = block[low - begin : high - begin]
        return True

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        """Return the start and the end of a run of blocks in the value."""
        return first * self.block_bytes, min(self.size, last * self.block_bytes)

    def write(self, first: int, data: Buffer) -> None:
        """Store a run of whole blocks."""
        view = memoryview(data)
        records = bytearray()
        for offset in range(0, len(view), self.block_bytes):
            checksum = zlib.crc32(view[offset : offset + self.block_bytes])
            records += _RECORD.pack(checksum, checksum ^ _WRITTEN)
        _write(self._descriptor, view, self._data + first * self.block_bytes)
        _write(self._descriptor, memoryview(records), self._table + first * _RECORD.size)

    # --- times ---

    def used(self, now: float, validated: float | None = None) -> None:
        """Record an access, and the time of a comparison of generations if given."""
        if validated is not None:
            self.validated = validated
        elif now - self._accessed <= 1:
            return
        self._accessed = now
        os.utime(self._descriptor, (now, self.validated))

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def _layout(header: int, size: int, block_bytes: int) -> tuple[int, int, int]:
    """Return the offsets of the records, of the blocks and of the end of the file."""
    blocks = -(-(size) // block_bytes)
    table = -(-header // _RECORD.size) * _RECORD.size
    data = -(-(table + blocks * _RECORD.size) // _PAGE) * _PAGE
    return table, data, data + (size)


def _write(descriptor: int, view: memoryview, start: int) -> None:
    done = 0
    while done < len(view):
        done += os.pwrite(descriptor, view[done : done + (1 << 30)], start + done)


class Directory:
    """A directory of cached values."""

    def __init__(self, path: str, max_bytes: int | None) -> None:
        self.path = path
        self.hits = 0
        self.misses = 0
        self.errors = 0
        self.gap_nbytes = ByteReader.gap_nbytes  # that of the last reader
        self._max_bytes = max_bytes
        self._guard = threading.Lock()
        register_after_fork(self, Directory._reinitialize)
        self._written = 0  # since the last scan
        self._room = -1  # what may be written before the next one
        self._scans = False
        self._changes = [0] * _STRIPES

    def _reinitialize(self) -> None:
        self._guard = threading.Lock()
        self._scans = False

    def count(self, hits: int = 0, misses: int = 0, errors: int = 0) -> None:
        """Add to the counters."""
        with self._guard:
            self.hits += hits
            self.misses += misses
            self.errors += errors

    # --- values ---

    def path_of(self, store_name: str, key: str) -> str:
        """Return the path of the file for a key of a store; it reveals neither of them."""
        words = f"{store_name}\0{key}".encode("utf-8", "surrogatepass")
        name = blake2b(words, digest_size=20).hexdigest()
        return f"{self.path}/{name[:2]}/{name[2:]}"

    def changes(self, path: str) -> int:
        """Return a counter that changes if the value is dropped."""
        return self._changes[hash(path) % _STRIPES]

    def find(self, path: str) -> Entry | None:
        """Return the file of a value, or None; a damaged file is removed."""
        try:
            return Entry(path)
        except FileNotFoundError:
            return None
        except ValueError:
            with suppress(FileNotFoundError):
                os.unlink(path)
            return None

    def create(
        self, path: str, generation: str, size: int, block_bytes: int, changes: int
    ) -> Entry | None:
        """Create a file for a value, or return an equal file created meanwhile."""
        new = f"{path}.new-{os.getpid()}-{next(_counter)}"
        with suppress(FileExistsError):
            os.makedirs(os.path.dirname(path), 0o700)
        try:
            Entry.create(new, generation, size, block_bytes)
            with self._guard:
                if changes != self.changes(path):
                    return None
                try:
                    os.link(new, path)
                except FileExistsError:
                    found = self.find(path)
                    if found is not None and (found.generation, found.size) == (generation, size):
                        return found
                    os.replace(new, path)
                except (OSError, AttributeError):  # without hard links
                    os.replace(new, path)
                entry = Entry(path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(new)
        self.add(4096)
        return entry

    def drop(self, path: str) -> None:
        """Remove the file of a value.  Open files remain readable; new ones are discarded."""
        with self._guard:
            self._changes[hash(path) % _STRIPES] += 1
            # Other errors are raised: a file that remains would be used later.
            with suppress(FileNotFoundError):
                os.unlink(path)

    # --- bytes ---

    def add(self, nbytes: int) -> None:
        """Note that bytes will be written; remove files if they may exceed the limit."""
        if self._max_bytes is None:
            return
        with self._guard:
            self._written += nbytes
            if self._written <= self._room or self._scans:
                return
            self._scans = True
        try:
            room = self._max_bytes - self._remove_oldest(self._max_bytes - nbytes)
        finally:
            with self._guard:
                self._scans = False
        with self._guard:
            self._room, self._written = min(room, self._max_bytes // _SCANNED), nbytes

    def nbytes(self) -> int:
        """Return the size of all files in bytes."""
        return sum(status.st_blocks * 512 for _, status in self._files())

    def clear(self) -> None:
        """Remove all cached values; other files are not touched."""
        with self._guard:
            self._changes = [number + 1 for number in self._changes]
        for path, _ in self._files():
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _remove_oldest(self, limit: int) -> int:
        """Remove the least recently used files above a limit; return the size of the others."""
        now = time.time()
        files = []
        total = 0
        for path, status in self._files():
            if ".new-" in path:
                if now - status.st_mtime > _ABANDONED:
                    with suppress(FileNotFoundError):
                        os.unlink(path)
                continue
            nbytes = status.st_blocks * 512
            files.append((status.st_atime, nbytes, path))
            total += nbytes
        if total > limit:
            for _, nbytes, path in sorted(files):
                with suppress(FileNotFoundError):
                    os.unlink(path)
                total -= nbytes
                if total <= limit * _FILL_AFTER_EVICTION:
                    break
        return total

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Iterate over the paths and properties of all files of the cache."""
        try:
            directories = [entry for entry in os.scandir(self.path) if _DIRECTORY(entry.name)]
        except FileNotFoundError:
            return
        for directory in directories:
            if not directory.is_dir(follow_symlinks=False):
                continue
            with os.scandir(directory.path) as entries:
                for entry in entries:
                    if _NAME(entry.name):
                        with suppress(FileNotFoundError):
                            yield entry.path, entry.stat(follow_symlinks=False)
