"""Files and directories of a local store: reading, atomic replacement, locks, removal.

Functions raise :class:`OSError`; the store adds the key.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
import time
import warnings
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader, ValueReference
from zarr_core.messages import log

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.interfaces.byte_reader import Buffer

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # no file locks: only threads exclude each other
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

PARTIAL = ".zarr-partial"
LOCK = ".zarr-lock"
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
"""Do not wait for the writer of a FIFO; do not follow links unchecked."""
_CREATE = os.O_CREAT | os.O_NOFOLLOW
_NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})  # or a link in its place
_ONE_CALL = 1 << 30  # bytes
_COPY_BYTES = 1 << 20
_BUFFERS_LIMIT = 1024  # IOV_MAX of Linux and macOS
_NAME_LIMIT = 100
_ATTEMPTS = 1000
_PASSES = 4

# Names of temporary files; processes that use the same number at once take the next.
_numbers = itertools.count(int.from_bytes(os.urandom(4)))


# --- reading ---


def read_failure(error: Exception) -> str:
    """The reason why a file cannot be read."""
    if isinstance(error, IsADirectoryError):
        return "is a directory"
    if isinstance(error, MemoryError | OverflowError):
        return "there is not enough memory for the value"
    if isinstance(error, OSError) and error.errno in (errno.ESPIPE, errno.EINVAL):
        return "not a regular file, but a directory or a device"  # EINVAL: directories of tmpfs
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def size_of(descriptor: int) -> int:
    """The length of an open file in bytes; raises OSError if it is not a regular file."""
    # lseek takes a third of the time of fstat, and rejects pipes.  It returns 0 for devices and
    # any number for directories, for which the read that follows fails.
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if 0 < size <= _ONE_CALL:
        return size
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return status.st_size


def fill(descriptor: int, buffer: memoryview, start: int) -> None:
    """Fill a buffer from a file, even if a system call returns fewer bytes."""
    if not buffer:
        os.pread(descriptor, 0, 0)  # fails for a directory, as every read
    while buffer:
        count = os.preadv(descriptor, (buffer[:_ONE_CALL],), start)
        if not count:
            raise OSError(errno.EIO, f"the file ends {len(buffer)} bytes too early")
        buffer = buffer[count:]
        start += count


def read(descriptor: int, start: int, length: int) -> Buffer:
    """Return a part of a file in new memory."""
    if length <= _ONE_CALL:
        data = os.pread(descriptor, length, start)
        if len(data) == length:
            return data
    buffer = memoryview(bytearray(length))
    fill(descriptor, buffer, start)
    return buffer.toreadonly()


class FileReader(ByteReader):
    """Reader of an open file, which it closes.

    ``store`` and ``key`` are for messages.
    """

    __slots__ = ("_descriptor", "_key", "_store", "has_references", "size")

    def __init__(self, descriptor: int, size: int, store: object, key: str) -> None:
        self._descriptor = descriptor
        self.size: int = size
        self._store = store
        self._key = key
        self.has_references = False
        """Whether the new value, which is being computed, may refer to parts of this file."""

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self._check(start, length := len(buffer))
            try:
                if os.preadv(self._descriptor, (buffer,), start) != length:
                    fill(self._descriptor, buffer, start)
            except OSError as error:
                raise self._error(error) from error

    def read(self, start: int, length: int) -> memoryview:
        self._check(start, length)
        try:
            return memoryview(read(self._descriptor, start, length))
        except OSError as error:
            raise self._error(error) from error

    def reference(self, start: int, length: int) -> Buffer | None:
        self._check(start, length)
        part: Any = FileRange(self._descriptor, start, length) if self.has_references else None
        return part  # type: ignore[no-any-return]  # only the store uses it as a FileRange

    def _check(self, start: int, length: int) -> None:
        if start < 0 or length < 0 or start + length > self.size:
            reason = f"bytes {start} to {start + length} of a value of {self.size} bytes"
            raise StoreReadError(reason, self._store, self._key)

    def _error(self, error: OSError) -> StoreReadError:
        reason = "the reader is closed" if self._descriptor < 0 else read_failure(error)
        return StoreReadError(reason, self._store, self._key)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close


# --- writing ---


def is_ours(name: str) -> bool:
    """Whether a file name is that of a temporary file or a lock."""
    return name.endswith((PARTIAL, LOCK)) and name.startswith(".")


def _beside(path: str, ending: str) -> str:
    """The path of a temporary file or lock file for ``path``, in the same directory."""
    directory, _, name = path.rpartition("/")
    if len(name) > _NAME_LIMIT or not name.isascii():
        # File names are limited to 255 bytes.
        number = zlib.crc32(os.fsencode(name))
        name = f"{name[:20]}~{number:08x}"
    return f"{directory}/.{name}{ending}"


def _create_directories(path: str) -> list[str]:
    """Create a directory and its missing parents; return these directories.

    Raises FileNotFoundError if another process removes an empty directory meanwhile.
    """
    missing = [path]
    with suppress(FileExistsError):  # a file makes the next call fail
        while True:
            try:
                os.mkdir(missing[-1])
                break
            except FileNotFoundError:
                missing.append(os.path.dirname(missing[-1]))
    for directory in missing[-2::-1]:
        with suppress(FileExistsError):
            os.mkdir(directory)
    return missing


def remove_empty_directories(path: str, root: str) -> None:
    """Remove a directory and its parents below the root while they are empty."""
    path = path.rstrip("/")
    while len(path) >= len(root):
        try:
            os.rmdir(path)
        except OSError:
            return
        path = os.path.dirname(path)


def replace_file(path: str, buffers: Sequence[Buffer], *, sync: bool) -> None:
    """Replace a file atomically; after an OSError, the old file is unchanged."""
    created: list[str] = []
    for _ in range(_ATTEMPTS):
        # The value is complete before it gets its name, so that a kill leaves the old or the new.
        partial = _beside(path, f".{next(_numbers):x}{PARTIAL}")
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_EXCL | _CREATE, 0o666)
        except FileNotFoundError:
            with suppress(FileNotFoundError):
                created += _create_directories(os.path.dirname(path))
            continue
        except FileExistsError:
            continue
        try:
            try:
                _write(descriptor, buffers)
                if sync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(partial, path)
        except FileNotFoundError:  # the directory was removed
            continue
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise
        if sync:
            for directory in {os.path.dirname(path), *map(os.path.dirname, created)}:
                _sync_directory(directory)
        return
    raise _unusable_directory(path)


def _unusable_directory(path: str) -> OSError:
    reason = "its directory cannot be created, or is removed repeatedly"
    return OSError(errno.EBUSY, reason, path)


def _sync_directory(path: str) -> None:
    """Store the entries of a directory on the disk."""
    descriptor = os.open(path or "/", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FileRange(ValueReference):
    """A part of an open file, in bytes, which the system copies to the new file."""

    __slots__ = ("_descriptor", "_length", "_start")

    def __init__(self, descriptor: int, start: int, length: int) -> None:
        self._descriptor = descriptor
        self._start = start
        self._length = length

    def __len__(self) -> int:
        return self._length

    def copy_to(self, descriptor: int) -> None:
        """Append the part to another file; raises OSError also if the source has become shorter."""
        start, end = self._start, self._start + self._length
        while start < end:
            try:
                length = min(end - start, _ONE_CALL)
                count = os.copy_file_range(self._descriptor, descriptor, length, start)
            except (AttributeError, OSError):  # not on all systems, nor between all files
                count = 0
            if not count:
                data = os.pread(self._descriptor, min(end - start, _COPY_BYTES), start)
                if not data:
                    raise OSError(errno.EIO, "the file with the old value has become shorter")
                count = os.write(descriptor, data)
            start += count


def _write(descriptor: int, buffers: Sequence[Buffer]) -> None:
    """Write buffers one after the other, even if a system call writes fewer bytes."""
    if FileRange in map(type, buffers):
        part: Any
        for part in buffers:
            if isinstance(part, FileRange):
                part.copy_to(descriptor)
            else:
                _write(descriptor, [part])
        return
    for first in range(0, len(buffers), _BUFFERS_LIMIT):
        group = buffers[first : first + _BUFFERS_LIMIT]
        done = os.writev(descriptor, group)
        if done == sum(map(len, group)):
            continue
        for buffer in group:
            rest = memoryview(buffer).cast("B")[done:]
            done = max(0, done - len(buffer))
            while rest:
                rest = rest[os.write(descriptor, rest) :]


# --- locks ---


@contextmanager
def file_lock(path: str) -> Iterator[None]:
    """Exclude every other process and thread that locks the same path, which need not exist.

    The lock belongs to the open lock file and ends with the process.  A killed process leaves
    only an empty file.  Raises OSError if the lock file cannot be created.
    """
    if not HAVE_LOCKS:
        yield
        return
    name = _beside(path, LOCK)
    descriptor = _acquire(name)
    try:
        yield
    finally:
        # The name before the lock: waiting processes detect that the file was removed.
        with suppress(OSError):
            os.unlink(name)
        if descriptor is not None:
            _release(descriptor)


def _acquire(name: str) -> int | None:
    """Open and lock a file; None, with a warning, if the file system has no locks."""
    for _ in range(_ATTEMPTS):
        try:
            descriptor = os.open(name, os.O_RDWR | _CREATE, 0o666)
        except FileNotFoundError:
            with suppress(FileNotFoundError):
                _create_directories(os.path.dirname(name))
            continue
        try:
            flock(descriptor, LOCK_EX)
        except BaseException as error:
            os.close(descriptor)
            if not isinstance(error, OSError) or error.errno not in _NO_LOCKS:
                raise
            warnings.warn(
                f"{os.path.dirname(name)}: this file system has no file locks "
                f"({error.strerror}); several processes must not change the same chunk",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        if _is_at(descriptor, name):
            return descriptor
        _release(descriptor)
    raise _unusable_directory(name)


def _is_at(descriptor: int, name: str, directory: int | None = None) -> bool:
    """Whether the locked file is still the one at its path."""
    try:
        return os.path.samestat(
            os.fstat(descriptor), os.stat(name, dir_fd=directory, follow_symlinks=False)
        )
    except FileNotFoundError:
        return False


def _release(descriptor: int) -> None:
    # Closing is not sufficient: a forked child may have a copy of the descriptor.
    with suppress(OSError):
        flock(descriptor, LOCK_UN)
    os.close(descriptor)


# --- removing ---


def remove_leftover(path: str, older_than: float) -> bool:
    """Remove an old temporary file or an unused lock file; return whether it was removed."""
    try:
        if path.endswith(LOCK):
            removed = _remove_unused_lock(path)
        elif removed := time.time() - os.lstat(path).st_mtime >= older_than:
            os.unlink(path)
    except FileNotFoundError:
        return False
    if removed:
        log("recovery", "%s: file of a killed process removed", path)
    return removed


def _remove_unused_lock(path: str, directory: int | None = None) -> bool:
    if not HAVE_LOCKS:
        return False
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW, dir_fd=directory)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        unused = _is_at(descriptor, path, directory)
        if unused:
            os.unlink(path, dir_fd=directory)
    except BlockingIOError:
        return False
    finally:
        _release(descriptor)
    return unused


def remove_tree(top: str, *, keep_top: bool) -> None:
    """Remove everything below a directory; links are removed, not followed.

    Files that other processes create meanwhile may remain.  A directory that is replaced by a link
    meanwhile is not entered: its inode differs.
    """
    top = os.path.join(os.path.realpath(os.path.dirname(top)), os.path.basename(top))
    for _ in range(_PASSES):  # other processes may use a directory for a moment
        try:
            inode, parent = os.lstat(top).st_ino, os.lstat(os.path.dirname(top)).st_ino
        except FileNotFoundError:
            return
        directories = [(top, inode, parent)]
        for path, inode, _ in directories:  # parents first
            with _opened_directory(path, inode) as opened:
                if opened is not None:
                    below = _remove_files(opened)
                    directories += ((f"{path}/{name}", number, inode) for name, number in below)
        kept = False
        for path, _, inode in directories[: 0 if keep_top else None : -1]:
            with _opened_directory(os.path.dirname(path), inode) as opened:
                if opened is not None and not _remove_directory(opened, os.path.basename(path)):
                    kept = True
        if not kept:
            return


def _remove_files(directory: int) -> list[tuple[str, int]]:
    """Remove the files of an open directory; return the names and inodes of its directories."""
    directories: list[tuple[str, int]] = []
    with os.scandir(directory) as scan:
        entries = list(scan)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            directories.append((entry.name, entry.inode()))
            continue
        with suppress(FileNotFoundError):
            if entry.name.endswith(LOCK) and is_ours(entry.name):
                _remove_unused_lock(entry.name, directory)
            else:
                os.unlink(entry.name, dir_fd=directory)
    return directories


def _remove_directory(parent: int, name: str) -> bool:
    """Remove a directory; return False if it is not empty."""
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        if error.errno not in _GONE:
            raise
    return True


@contextmanager
def _opened_directory(path: str, inode: int) -> Iterator[int | None]:
    """Open a directory; None if it was removed, or something else is at its path now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno not in _GONE:
            raise
        yield None
        return
    try:
        yield descriptor if os.fstat(descriptor).st_ino == inode else None
    finally:
        os.close(descriptor)
