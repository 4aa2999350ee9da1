"""A directory of cached values, bounded by what it takes on disk.

Who writes into it adds up how much that is, in a small file that all processes share;
who finds the sum too large looks at all files, then removes those that were not used for
the longest time.  Nothing has to run in the background, and a sum that is wrong (someone
was killed) is put right by the next look.
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

from zarr_core.extension import ValueReader

from zarr_stores._forked import in_children
from zarr_stores.disk_cache_entry import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # a platform without file locks: the sum is less exact
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

__all__ = ["Directory"]

_SUM = struct.Struct("<q")
_USAGE = "usage"
_PLACE = re.compile(r"[0-9a-f]{2}").fullmatch
_NAME = re.compile(r"[0-9a-f]{38}(\.new-[0-9]+-[0-9]+)?").fullmatch
_FILLED_AGAIN = 0.9  # of the bytes, after something had to go
_ABANDONED = 600.0  # seconds after which nobody finishes a new file any more
_STRIPES = 1024

_counter = itertools.count()


class Directory:
    """Where cached values are.

    Parameters
    ----------
    path : str
        Made when something is written.
    max_bytes : int or None
        How much the files may take; None for any.
    """

    def __init__(self, path: str, max_bytes: int | None) -> None:
        self.path = path
        self.hits = 0
        self.misses = 0
        self.errors = 0
        self.gap_bytes = ValueReader.gap_bytes  # as the last value had it
        self._max_bytes = max_bytes
        self._guard = threading.Lock()
        in_children(self, Directory._renew)
        self._pending = 0
        self._changes = [0] * _STRIPES

    def _renew(self) -> None:
        self._guard = threading.Lock()

    def count(self, hits: int = 0, misses: int = 0, errors: int = 0) -> None:
        """Add to what is counted."""
        with self._guard:
            self.hits += hits
            self.misses += misses
            self.errors += errors

    # --- values ---

    def path_of(self, place: str, key: str) -> str:
        """Path of the file for a key of a store, of which it tells nothing."""
        words = f"{place}\0{key}".encode("utf-8", "surrogatepass")
        name = blake2b(words, digest_size=20).hexdigest()
        return f"{self.path}/{name[:2]}/{name[2:]}"

    def changes(self, path: str) -> int:
        """A number that is another one once the value was dropped."""
        return self._changes[hash(path) % _STRIPES]

    def find(self, path: str) -> Entry | None:
        """The file of a value; one that is damaged is removed.

        Raises
        ------
        OSError
            If it cannot be used.
        """
        try:
            return Entry(path)
        except FileNotFoundError:
            return None
        except ValueError:
            with suppress(FileNotFoundError):
                os.unlink(path)
            return None

    def make(
        self, path: str, version: str, size: int | None, block_bytes: int, changes: int
    ) -> Entry | None:
        """A file for a value: a new one, or that which others have made meanwhile.

        Parameters
        ----------
        path, version, size, block_bytes
            Of the value.
        changes : int
            What :meth:`changes` gave before the value was opened.

        Returns
        -------
        Entry or None
            None if the value was dropped meanwhile.

        Raises
        ------
        OSError
            If there can be no file.
        """
        new = f"{path}.new-{os.getpid()}-{next(_counter)}"
        with suppress(FileExistsError):
            os.makedirs(os.path.dirname(path), 0o700)
        try:
            Entry.make(new, version, size, block_bytes)
            with self._guard:
                if changes != self.changes(path):
                    return None
                try:
                    os.link(new, path)
                except FileExistsError:
                    found = self.find(path)
                    if found is not None and (found.version, found.size) == (version, size):
                        return found
                    os.replace(new, path)
                except OSError:  # a file system without hard links
                    os.replace(new, path)
                entry = Entry(path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(new)
        self.add(4096)
        return entry

    def drop(self, path: str) -> None:
        """Forget a value; who has it open still reads it, who is making it does not."""
        with self._guard:
            self._changes[hash(path) % _STRIPES] += 1
            # What cannot be removed could be taken for true later.
            with suppress(FileNotFoundError):
                os.unlink(path)

    # --- bytes ---

    def add(self, nbytes: int) -> None:
        """Count bytes that were written; remove files if that makes too many.

        Raises
        ------
        OSError
            If there is no room for the sum.
        """
        with self._guard:
            self._pending += nbytes
        with self._locked(wait=False) as descriptor:
            if descriptor is None:
                return  # the next one adds it
            with self._guard:
                pending, self._pending = self._pending, 0
            known = self._read_sum(descriptor)
            total = None if known is None else known + pending
            if total is None or (self._max_bytes is not None and total > self._max_bytes):
                total = self._remove_oldest()
            os.pwrite(descriptor, _SUM.pack(total), 0)

    def nbytes(self) -> int:
        """Bytes that the files take, as far as that was counted."""
        try:
            with open(os.path.join(self.path, _USAGE), "rb") as file:
                return max(0, self._read_sum(file.fileno()) or 0)
        except FileNotFoundError:
            return 0

    def clear(self) -> None:
        """Remove all cached values, and nothing else.

        Raises
        ------
        OSError
            If one cannot be removed.
        """
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
        """Remove what was not used for the longest time; what the rest takes."""
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
            if total <= self._max_bytes * _FILLED_AGAIN:
                break
        return total

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Paths and properties of all files that are ours."""
        try:
            places = [entry for entry in os.scandir(self.path) if _PLACE(entry.name)]
        except FileNotFoundError:
            return
        for place in places:
            if not place.is_dir(follow_symlinks=False):
                continue
            with os.scandir(place.path) as entries:
                for entry in entries:
                    if _NAME(entry.name):
                        with suppress(FileNotFoundError):
                            yield entry.path, entry.stat(follow_symlinks=False)

    @contextmanager
    def _locked(self, *, wait: bool) -> Iterator[int | None]:
        """The file of the sum, for us alone; None if others have it, or there is none."""
        path = os.path.join(self.path, _USAGE)
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
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
