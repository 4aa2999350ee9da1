"""Reading of files and directories of a local store, without leaving its root.

Functions raise :class:`OSError`; the store adds the key.
"""

from __future__ import annotations

import errno
import os
import stat
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_core import system_calls
from zarr_core.errors import StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader
from zarr_core.stores.local_write import FileRange, is_ours

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.interfaces.byte_reader import Buffer, ByteRange

# Do not wait for the writer of a FIFO; do not follow links unchecked.
OPEN_FLAGS = (
    os.O_RDONLY
    | system_calls.CLOSE_ON_EXEC
    | system_calls.NO_WAIT
    | system_calls.NO_FOLLOW
    | system_calls.BINARY
)
ANY_SIZE = (1 << 63) - 1
"""A limit that no file exceeds."""
_ONE_CALL = 1 << 30
_REMEMBERED = 100_000
_UNCHECKED = 5e-4  # seconds in which the directories of small chunks are not checked for each chunk


def read_failure(error: Exception) -> str:
    """The reason why a file cannot be read."""
    if isinstance(error, IsADirectoryError):
        return "is a directory"
    if isinstance(error, MemoryError | OverflowError):
        return "there is not enough memory for the value"
    if isinstance(error, OSError) and error.errno == errno.ESPIPE:
        return "not a regular file"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def size_of(descriptor: int) -> int:
    """Return the length of an open file in bytes; raises OSError if it is not a regular file."""
    # lseek takes a third of the time of fstat, and rejects pipes.  It returns 0 for devices and
    # any number for directories, for which the read that follows fails.
    size = os.lseek(descriptor, 0, os.SEEK_END)
    return size if 0 < size <= _ONE_CALL else _checked_size(descriptor)


def _checked_size(descriptor: int) -> int:
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return status.st_size
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "not a regular file")


def read_into(descriptor: int, buffer: memoryview) -> int:
    """Read the beginning of a file into a buffer; return the length of the whole file."""
    size = size_of(descriptor)
    length = len(buffer)
    if not length:
        return _checked_size(descriptor)
    expected = size if size < length else length
    if system_calls.preadv(descriptor, (buffer,), 0) != expected:
        fill(descriptor, buffer[:expected], 0)
        return _checked_size(descriptor)
    return size


def fill(descriptor: int, buffer: memoryview, start: int) -> None:
    """Fill a buffer from a file, even if a system call returns fewer bytes."""
    done = 0
    while done < len(buffer):
        count = system_calls.preadv(descriptor, (buffer[done : done + _ONE_CALL],), start + done)
        if not count:
            raise OSError(errno.EIO, f"the file ends {len(buffer) - done} bytes too early")
        done += count


def read(descriptor: int, start: int, length: int) -> Buffer:
    """Return a part of a file in new memory."""
    if length <= _ONE_CALL:
        data = system_calls.pread(descriptor, length, start)
        if len(data) == length:
            return data
    buffer = memoryview(bytearray(length))
    fill(descriptor, buffer, start)
    return buffer.toreadonly()


def read_limited(descriptor: int, limit: int) -> Buffer | int:
    """Return a whole file, or its length if that is more than a limit."""
    size = size_of(descriptor)
    return size if size > limit else read(descriptor, 0, size)


def read_part(descriptor: int, part: ByteRange) -> Buffer:
    """Return a part of a file, truncated at its end, in new memory."""
    start, length = part
    # The usual case; the size as in size_of.
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if length is not None and length >= 0 and start >= 0 and start + length <= size <= _ONE_CALL:
        data = system_calls.pread(descriptor, length, start)
        if len(data) == length:
            return data
    start, stop = part.within(size_of(descriptor))
    return read(descriptor, start, max(0, stop - start))


class FileReader(ByteReader):
    """Reader of an open file, which it closes, even if the constructor fails.

    ``store`` and ``key`` are for messages.  ``read_next`` tells that a read follows, which detects
    directories.  Raises OSError if it is not a regular file.
    """

    __slots__ = ("_descriptor", "_key", "_store", "size")

    def __init__(self, descriptor: int, store: object, key: str, read_next: bool = False) -> None:
        self._descriptor = descriptor
        self._store = store
        self._key = key
        try:
            self.size: int = size_of(descriptor)
            if not read_next:
                system_calls.pread(descriptor, 0, 0)  # fails for a directory
        except OSError:
            self.close()
            raise

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            length = len(buffer)
            if start < 0 or start + length > self.size:
                raise self._beyond(start, length)
            try:
                if system_calls.preadv(self._descriptor, (buffer,), start) != length:
                    fill(self._descriptor, buffer, start)
            except OSError as error:
                raise self._error(error) from error

    def read(self, start: int, length: int) -> memoryview:
        if start < 0 or length < 0 or start + length > self.size:
            raise self._beyond(start, length)
        try:
            return memoryview(read(self._descriptor, start, length))
        except OSError as error:
            raise self._error(error) from error

    def _beyond(self, start: int, length: int) -> StoreReadError:
        reason = f"bytes {start} to {start + length} of a value of {self.size} bytes"
        return StoreReadError(reason, self._store, self._key)

    def _error(self, error: OSError) -> StoreReadError:
        if self._descriptor < 0:
            return StoreReadError("the reader is closed", self._store, self._key)
        return StoreReadError(read_failure(error), self._store, self._key)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


class ReferencingReader(FileReader):
    """Reader of a file that stays open until its new content is written."""

    __slots__ = ()

    def reference(self, start: int, length: int) -> Buffer | None:
        if start < 0 or length < 0 or start + length > self.size:
            raise self._beyond(start, length)
        part: Any = FileRange(self._descriptor, start, length)
        return part  # type: ignore[no-any-return]  # only the store uses it as a FileRange


# --- directories ---


class CaseConflictError(Exception):
    """A name differs only in upper and lower case from an existing one."""


def folds_case(directory: str) -> bool:
    """Whether the file system of an existing directory takes upper and lower case as equal."""
    path = directory.rstrip("/")
    while path and path.rpartition("/")[2].swapcase() == path.rpartition("/")[2]:
        path = path.rpartition("/")[0]
    above, _, name = path.rpartition("/")
    if not name:
        return system_calls.IS_WINDOWS
    try:
        return os.path.samestat(os.lstat(path), os.lstat(f"{above}/{name.swapcase()}"))
    except OSError:
        return False


class Boundary:
    """The directories below a root, as prefixes of keys, and the targets of symbolic links.

    ``root`` is an absolute path that ends in ``/``.  ``follow_links`` allows links that lead out of
    it.
    """

    __slots__ = ("_folds_case", "_real", "follow_links", "hidden", "inside_until", "root")

    def __init__(self, root: str, follow_links: bool) -> None:
        self.root = root
        self.follow_links = follow_links
        self.inside_until: dict[str, float] = {"": inf}
        """Until when prefixes that were inside are not checked again for each of many small chunks,
        in seconds of ``time.monotonic``."""
        self.hidden: dict[str, bool] = {}
        """Links to directories outside that listings met, and whether a warning named them."""
        self._real: str | None = None
        self._folds_case: bool | None = None

    def contains(self, prefix: str, now: float = inf) -> bool:
        """Whether a prefix is a directory inside the root, or missing; as known at ``now``."""
        inside_until = self.inside_until
        end = 0
        while (end := prefix.find("/", end) + 1) > 0:
            part = prefix[:end]
            if inside_until.get(part, 0.0) >= now:
                continue
            path = self.root + part[:-1]
            try:
                is_link = stat.S_ISLNK(os.lstat(path).st_mode)
            except (FileNotFoundError, NotADirectoryError):
                return True
            if is_link and self.real_path(path) is None:
                return False
            if part not in inside_until:
                self._check_case(path)
            if len(inside_until) > _REMEMBERED:
                inside_until.clear()
                inside_until[""] = inf
            inside_until[part] = inf if self.follow_links else monotonic() + _UNCHECKED
        return True

    def _check_case(self, path: str) -> None:
        """Raise CaseConflictError if only a name with other upper and lower case exists."""
        if self._folds_case is None:
            self._folds_case = folds_case(self.root)
        if not self._folds_case:
            return
        above, _, name = path.rpartition("/")
        with os.scandir(above) as entries:
            names = [entry.name for entry in entries if entry.name.casefold() == name.casefold()]
        if names and name not in names:
            raise CaseConflictError(
                f"the file system does not distinguish {name!r} from {names[0]!r}, which exists; "
                "choose another name"
            )

    def real_path(self, path: str) -> str | None:
        """Return the target of a link; None if it is outside the root, circular or missing."""
        try:
            real = os.path.realpath(path, strict=True)
        except OSError:
            return None
        if self._real is None:
            self._real = os.path.join(os.path.realpath(self.root), "")
        return real if self.follow_links or f"{real}/".startswith(self._real) else None

    def scan(self, prefix: str) -> tuple[list[str], list[str]]:
        """Return the keys and prefixes directly below a prefix.

        Links to a parent directory are ignored: following them would not terminate.
        """
        keys: list[str] = []
        prefixes: list[str] = []
        try:
            with os.scandir(self.root + prefix) as entries:
                for entry in entries:
                    name = entry.name
                    if "\\" in name:  # not in a key
                        continue
                    if entry.is_file(follow_symlinks=False):
                        if not (name[0] == "." and is_ours(name)):
                            keys.append(prefix + name)
                    elif entry.is_dir(follow_symlinks=False):
                        prefixes.append(f"{prefix}{name}/")
                    elif not entry.is_symlink() or not self._is_directory_inside(entry.path):
                        keys.append(prefix + name)
                        if entry.is_dir() and len(self.hidden) < _REMEMBERED:
                            self.hidden.setdefault(prefix + name, False)
                    elif not self._leads_back(prefix + name):
                        prefixes.append(f"{prefix}{name}/")
        except (FileNotFoundError, NotADirectoryError):
            pass  # missing, or removed meanwhile
        return keys, prefixes

    def _is_directory_inside(self, path: str) -> bool:
        real = self.real_path(path)
        return real is not None and os.path.isdir(real)

    def walk(self, prefix: str) -> Iterator[str]:
        """Iterate over all keys below a prefix."""
        stack = [prefix]
        while stack:
            keys, prefixes = self.scan(stack.pop())
            yield from keys
            stack += prefixes

    def _leads_back(self, link: str) -> bool:
        above = self.root + link
        target = os.path.realpath(above)
        while len(above) > len(self.root):
            above = os.path.dirname(above)
            if os.path.realpath(above) == target:
                return True
        return False
