"""A size-limited directory of cached values.

Every write adds its size to a total in a small file that all processes share.  If the total
exceeds the limit, all files are scanned and the least recently used ones are removed.  No
background task is needed.  A wrong total, after a process was killed, is corrected by the
next scan.
"""

from __future__ import annotations

import itertools
import os
import re
import struct
import threading
import time
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from zarr_core.extension import ByteReader

from zarr_stores._after_fork import register_after_fork
from zarr_stores.cache.disk_entry import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # a platform without file locks: the total is less exact
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

_SUM = struct.Struct("<q")
_USAGE = "usage"
_DIRECTORY = re.compile(r"[0-9a-f]{2}").fullmatch
_NAME = re.compile(r"[0-9a-f]{38}(\.new-[0-9]+-[0-9]+)?").fullmatch
_FILL_AFTER_EVICTION = 0.9  # fraction of the limit that remains after an eviction
_ABANDONED = 600.0  # seconds after which an unfinished file is removed
_STRIPES = 1024

_counter = itertools.count()


class Directory:
    """A directory of cached values."""

    def __init__(self, path: str, max_bytes: int | None) -> None:
        self.path = path
        self.hits = 0
        self.misses = 0
        self.errors = 0
        self.gap_bytes = ByteReader.gap_bytes  # that of the last reader
        self._max_bytes = max_bytes
        self._guard = threading.Lock()
        register_after_fork(self, Directory._reinitialize)
        self._pending = 0
        self._changes = [0] * _STRIPES

    def _reinitialize(self) -> None:
        self._guard = threading.Lock()

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
        self, path: str, generation: str, size: int | None, block_bytes: int, changes: int
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
        """Add to the total size; remove files if it exceeds the limit."""
        with self._guard:
            self._pending += nbytes
        with self._locked(wait=False) as descriptor:
            if descriptor is None:
                return  # the next call adds it
            with self._guard:
                pending, self._pending = self._pending, 0
            known = self._read_sum(descriptor)
            total = None if known is None else known + pending
            if total is None or (self._max_bytes is not None and total > self._max_bytes):
                total = self._remove_oldest()
            os.pwrite(descriptor, _SUM.pack(total), 0)

    def nbytes(self) -> int:
        """Return the total size of the files in bytes, as far as counted."""
        try:
            with open(os.path.join(self.path, _USAGE), "rb") as file:
                return max(0, self._read_sum(file.fileno()) or 0)
        except FileNotFoundError:
            return 0

    def clear(self) -> None:
        """Remove all cached values; other files are not touched."""
        with self._guard:
            self._changes = [number + 1 for number in self._changes]
        for path, _ in self._files():
            with suppress(FileNotFoundError):
                os.unlink(path)
        with self._locked(wait=True) as descriptor:
            if descriptor is not None:
                os.pwrite(descriptor, _SUM.pack(0), 0)

    def _read_sum(self, descriptor: int) -> int | None:
        found = os.pread(descriptor, _SUM.size, 0)
        return int(_SUM.unpack(found)[0]) if len(found) == _SUM.size else None

    def _remove_oldest(self) -> int:
        """Remove the least recently used files; return the size of the others in bytes."""
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
        if self._max_bytes is None or total <= self._max_bytes:
            return total
        for _, nbytes, path in sorted(files):
            with suppress(FileNotFoundError):
                os.unlink(path)
            total -= nbytes
            if total <= self._max_bytes * _FILL_AFTER_EVICTION:
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

    @contextmanager
    def _locked(self, *, wait: bool) -> Iterator[int | None]:
        """Lock the file of the total; None if it is locked by others, or does not exist."""
        path = os.path.join(self.path, _USAGE)
        flags = os.O_RDWR | os.O_NOFOLLOW
        try:
            descriptor = os.open(path, flags | (0 if wait else os.O_CREAT), 0o600)
        except FileNotFoundError:
            yield None
            return
        try:
            if HAVE_LOCKS:
                try:
                    flock(descriptor, LOCK_EX | (0 if wait else LOCK_NB))
                except BlockingIOError:
                    yield None
                    return
            try:
                yield descriptor
            finally:
                if HAVE_LOCKS:
                    flock(descriptor, LOCK_UN)
        finally:
            os.close(descriptor)
