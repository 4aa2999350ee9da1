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
from itertools import groupby
from typing import TYPE_CHECKING, Any

from zarr_core import system_calls
from zarr_core.errors import StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader, ValueReference
from zarr_core.log import log

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
_SUFFIXES = (PARTIAL, LOCK)
_OPEN = system_calls.CLOSE_ON_EXEC | system_calls.NO_FOLLOW | system_calls.BINARY
READ_FLAGS = os.O_RDONLY | system_calls.NO_WAIT | _OPEN
"""Do not wait for the writer of a FIFO; do not follow links unchecked."""
_CREATE = os.O_CREAT | _OPEN
_NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})  # or a link in its place
_ONE_CALL = 1 << 30  # bytes
_COPY_BYTES = 1 << 20
_BUFFERS_LIMIT = 1024  # IOV_MAX of Linux and macOS
_NAME_LIMIT = 100
_ATTEMPTS = 1000
_PASSES = 4
_DAY = 86400.0

_counter = itertools.count()
_process = os.getpid()  # os.getpid takes as long as a small write


# --- reading ---


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
    """The length of an open file in bytes; raises OSError if it is not a regular file."""
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
    if not len(buffer):
        return _checked_size(descriptor)
    fill(descriptor, buffer[:size], 0)
    return size if size <= len(buffer) else _checked_size(descriptor)


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
        data: bytes = system_calls.pread(descriptor, length, start)
        if len(data) == length:
            return data
    buffer = memoryview(bytearray(length))
    fill(descriptor, buffer, start)
    return buffer.toreadonly()


class FileReader(ByteReader):
    """Reader of an open file, which it closes, even if the constructor fails.

    ``store`` and ``key`` are for messages.  ``read_next`` tells that a read follows, which detects
    directories.  Raises OSError if it is not a regular file.
    """

    __slots__ = ("_descriptor", "_key", "_store", "has_references", "size")

    def __init__(self, descriptor: int, store: object, key: str, read_next: bool) -> None:
        self._descriptor = descriptor
        self._store = store
        self._key = key
        self.has_references = False
        """Whether the new value, which is being computed, may refer to parts of this file."""
        try:
            self.size: int = size_of(descriptor)
            if not read_next:
                system_calls.pread(descriptor, 0, 0)  # fails for a directory
        except OSError:
            self.close()
            raise

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self._check(start, length := len(buffer))
            try:
                if system_calls.preadv(self._descriptor, (buffer,), start) != length:
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
    return name.endswith(_SUFFIXES) and name.startswith(".")


def _beside(path: str, ending: str) -> str:
    """The path of a temporary file or lock file for ``path``, in the same directory."""
    directory, _, name = path.rpartition("/")
    if len(name) > _NAME_LIMIT or not name.isascii():
        # File names are limited to 255 bytes.
        number = zlib.crc32(os.fsencode(name))
        name = f"{name[:20]}~{number:08x}"
    return f"{directory}/.{name}{ending}"


def create_directories(path: str, created: list[str]) -> None:
    """Create a directory and its parents, and add the new ones to ``created``, highest first.

    Unlike ``os.makedirs``, this works while another process removes empty directories.
    """
    missing = [path]
    for _ in range(_ATTEMPTS + 2 * path.count("/")):
        try:
            os.mkdir(missing[-1])
        except FileNotFoundError:
            missing.append(os.path.dirname(missing[-1]))
            continue
        except FileExistsError:  # a file makes the next call fail
            if os.path.islink(missing[-1]) and not os.path.isdir(missing[-1]):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        else:
            created.append(missing[-1])
        missing.pop()
        if not missing:
            return
    raise _removed_repeatedly(path)


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
    """Replace a file atomically.

    After an OSError the old file is unchanged, and new directories are removed.
    """
    created: list[str] = []
    try:
        for _ in range(_ATTEMPTS):
            if _replace_file(path, buffers, created, sync=sync):
                break
        else:
            raise _removed_repeatedly(path)
        if sync:
            for directory in {os.path.dirname(path), *map(os.path.dirname, created)}:
                _sync_directory(directory)
    except BaseException:
        for directory in reversed(created):
            with suppress(OSError):  # not empty: another process uses it
                os.rmdir(directory)
        raise


def _replace_file(path: str, buffers: Sequence[Buffer], created: list[str], *, sync: bool) -> bool:
    """Replace a file unless its directory is removed meanwhile."""
    # The value is complete before it gets its name, so that a kill leaves the old or the new one.
    partial = _beside(path, f".{_process}-{next(_counter)}{PARTIAL}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_EXCL | _CREATE, 0o666)
    except FileNotFoundError:
        create_directories(os.path.dirname(path), created)
        return False
    except FileExistsError:  # from a process with the same number on another machine
        return False
    try:
        try:
            _write(descriptor, buffers)
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        system_calls.replace(partial, path)
    except FileNotFoundError:
        return False
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise
    return True


def _removed_repeatedly(path: str) -> OSError:
    reason = "its directory cannot be created, or is removed repeatedly"
    return OSError(errno.EBUSY, reason, path)


def _sync_directory(path: str) -> None:
    """Store the entries of a directory on the disk; Windows does this itself."""
    if system_calls.IS_WINDOWS:
        return
    descriptor = os.open(path or "/", os.O_RDONLY | system_calls.CLOSE_ON_EXEC)
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
                data = system_calls.pread(self._descriptor, min(end - start, _COPY_BYTES), start)
                if not data:
                    raise OSError(errno.EIO, "the file with the old value has become shorter")
                count = os.write(descriptor, data)
            start += count


def _write(descriptor: int, buffers: Sequence[Buffer]) -> None:
    """Write buffers one after the other, even if a system call writes fewer bytes."""
    if FileRange in map(type, buffers):
        for is_range, group in groupby(buffers, lambda buffer: isinstance(buffer, FileRange)):
            if not is_range:
                _write(descriptor, [*group])
                continue
            for part in group:
                part.copy_to(descriptor)  # type: ignore[union-attr]  # not a buffer
        return
    done = system_calls.writev(descriptor, buffers) if len(buffers) <= _BUFFERS_LIMIT else 0
    if done == sum(map(len, buffers)):
        return
    views = [view for buffer in buffers if (view := memoryview(buffer).cast("B"))]
    position = 0
    while True:
        while position < len(views) and done >= len(views[position]):
            done -= len(views[position])
            position += 1
        if position == len(views):
            return
        views[position] = views[position][done:]
        done = system_calls.writev(descriptor, views[position : position + _BUFFERS_LIMIT])
        if not done:
            raise OSError(errno.EIO, "no more bytes can be written to the file")


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
            create_directories(os.path.dirname(name), [])
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
    raise OSError(errno.EBUSY, "the lock cannot be acquired", name)


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


# --- files of killed processes ---


def remove_leftovers(top: str, older_than: float) -> int:
    """Remove the files of killed processes below a directory; return their number."""
    count = 0
    stack = [top]
    while stack:
        try:
            with os.scandir(stack.pop()) as scan:
                entries = list(scan)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                stack.append(entry.path)
            elif is_ours(entry.name) and _remove_leftover(entry.path, older_than):
                log("recovery", "%s: file of a killed process removed", entry.path)
                count += 1
    return count


def _remove_leftover(path: str, older_than: float) -> bool:
    """Remove a temporary file or lock file if it is unused; return whether it was removed."""
    if path.endswith(LOCK):
        return _remove_unused_lock(path)
    with suppress(FileNotFoundError):
        age = time.time() - os.lstat(path).st_mtime
        process = path.removesuffix(PARTIAL).rpartition(".")[2].partition("-")[0]
        is_written = process.isdecimal() and system_calls.is_running(int(process))
        if age >= older_than and (age >= _DAY or not is_written):
            os.unlink(path)
            return True
    return False


def _remove_unused_lock(path: str, directory: int | None = None) -> bool:
    if not HAVE_LOCKS:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR | _OPEN, dir_fd=directory)
    except FileNotFoundError:
        return False
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


# --- directory trees ---


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
            directories += ((below, number, inode) for below, number in _remove_files(path, inode))
        kept = [_remove_directory(path, parent) for path, _, parent in directories[:0:-1]]
        if not keep_top:
            kept.append(_remove_directory(top, parent))
        if not any(kept):
            return


def _remove_files(path: str, inode: int) -> list[tuple[str, int]]:
    """Remove the files of a directory; return its directories with their inodes."""
    directories: list[tuple[str, int]] = []
    with _opened_directory(path, inode) as opened:
        if opened is None:
            return directories
        at, prefix = opened
        with os.scandir(path if at is None else at) as scan:
            entries = list(scan)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                directories.append((os.path.join(path, entry.name), entry.inode()))
                continue
            with suppress(FileNotFoundError):
                if entry.name.endswith(LOCK) and is_ours(entry.name):
                    _remove_unused_lock(prefix + entry.name, at)
                else:
                    os.unlink(prefix + entry.name, dir_fd=at)
    return directories


def _remove_directory(path: str, parent: int) -> bool:
    """Remove a directory; return whether it is kept because it is not empty."""
    with _opened_directory(os.path.dirname(path), parent) as opened:
        if opened is None:
            return False
        at, prefix = opened
        try:
            os.rmdir(prefix + os.path.basename(path), dir_fd=at)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return True
            if error.errno not in _GONE:
                raise
    return False


@contextmanager
def _opened_directory(path: str, inode: int) -> Iterator[tuple[int | None, str] | None]:
    """What to pass as ``dir_fd``, and a prefix of names; None if another directory is there now."""
    if os.scandir not in os.supports_fd:
        yield None, os.path.join(path, "")
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _OPEN)
    except OSError as error:
        if error.errno not in _GONE:
            raise
        yield None
        return
    try:
        yield (descriptor, "") if os.fstat(descriptor).st_ino == inode else None
    finally:
        os.close(descriptor)


def move_tree(old: str, new: str) -> bool:
    """Rename a directory; return False if it is not a directory or the new path exists."""
    if os.path.islink(old) or not os.path.isdir(old):
        return False
    os.makedirs(os.path.dirname(new), exist_ok=True)
    try:
        os.rename(old, new)  # replaces an empty directory
    except OSError as error:
        if error.errno in (errno.EXDEV, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            return False
        raise
    return True


def _after_fork() -> None:
    global _process
    _process = os.getpid()


system_calls.call_after_fork(_after_fork)
