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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader, ValueReference

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
# Do not wait for the writer of a FIFO; do not follow links unchecked.
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
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
    """Reader of an open file, which it closes; ``store`` and ``key`` are for messages."""

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
            self.check_part(start, length := len(buffer))
            try:
                if os.preadv(self._descriptor, (buffer,), start) != length:
                    fill(self._descriptor, buffer, start)
            except OSError as error:
                raise self._error(error) from error

    def read(self, start: int, length: int) -> memoryview:
        self.check_part(start, length)
        try:
            return memoryview(read(self._descriptor, start, length))
        except OSError as error:
            raise self._error(error) from error

    def reference(self, start: int, length: int) -> Buffer | None:
        self.check_part(start, length)
        part: Any = FileRange(self._descriptor, start, length) if self.has_references else None
        return part  # type: ignore[no-any-return]  # only the store uses it as a FileRange

    def _error(self, error: OSError) -> StoreReadError:
        reason = "the reader is closed" if self._descriptor < 0 else read_failure(error)
        return StoreReadError(reason, self._store, self._key)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close


# --- writing ---


def replace_file(path: str, buffers: Sequence[Buffer], *, sync: bool) -> None:
    """Replace a file atomically; after an OSError, the old file is unchanged."""
    created: list[str] = []
    for _ in range(_ATTEMPTS):
        # 1. The value is written to a temporary file.  It is in the directory of the value, since
        # only within one file system can a file be renamed.  O_EXCL: no other writer has this file,
        # so writers of one key do not mix their values; the last one to rename wins.
        temporary = _hidden_path(path, f".{next(_numbers):x}{PARTIAL}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_EXCL | _CREATE, 0o666)
        except FileNotFoundError:
            # The directory is missing.  It is created only now: it usually exists, and another
            # process that removes its last value may have removed it since any earlier check.
            with suppress(FileNotFoundError):
                created += _create_directories(os.path.dirname(path))
            continue
        except FileExistsError:
            continue
        try:
            try:
                _write(descriptor, buffers)
                # 2. The value reaches the disk before its name does.  In the other order, a power
                # failure could leave a file with the new name and without its contents.
                if sync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            # 3. The complete file gets its name.  Readers open the old file or the new one, and a
            # kill before this line leaves the old one, and a temporary file that is never a key.
            os.replace(temporary, path)
        except FileNotFoundError:  # the directory was removed
            continue
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        # 4. The name reaches the disk with the entries of its directory, and so do the names of
        # new directories, which are entries of their parents.
        if sync:
            for directory in {os.path.dirname(path), *map(os.path.dirname, created)}:
                _sync_directory(directory)
        return
    raise _unusable_directory(path)


def is_temporary(name: str) -> bool:
    """Whether a file name is that of a temporary file or a lock, and not a key."""
    return name.endswith((PARTIAL, LOCK)) and name.startswith(".")


def _hidden_path(path: str, ending: str) -> str:
    """The path of a temporary file or lock file for ``path``, in the same directory."""
    directory, _, name = path.rpartition("/")
    if len(name) > _NAME_LIMIT or not name.isascii():
        # File names are limited to 255 bytes.
        number = zlib.crc32(os.fsencode(name))
        name = f"{name[:20]}~{number:08x}"
    return f"{directory}/.{name}{ending}"


def _create_directories(path: str) -> list[str]:
    """Create a directory and its missing parents; return these directories."""
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


@dataclass(slots=True)
class FileRange(ValueReference):
    """A part of an open file, in bytes, which the system copies to the new file."""

    descriptor: int
    start: int
    length: int

    def __len__(self) -> int:
        return self.length

    def copy_to(self, descriptor: int) -> None:
        """Append the part to another file; raises OSError also if the source has become shorter."""
        start, end = self.start, self.start + self.length
        while start < end:
            try:
                length = min(end - start, _ONE_CALL)
                count = os.copy_file_range(self.descriptor, descriptor, length, start)
            except (AttributeError, OSError):  # not on all systems, nor between all files
                count = 0
            if not count:
                data = os.pread(self.descriptor, min(end - start, _COPY_BYTES), start)
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
    """Exclude every other process and thread that locks the same path, which need not exist."""
    if not HAVE_LOCKS:
        yield
        return
    # The lock belongs to the open lock file, so it ends with the process, however that ends.  It
    # is not on the file of the value, which is replaced meanwhile: two processes could then have
    # locks on two files.
    lock_path = _hidden_path(path, LOCK)
    descriptor = _acquire(lock_path)
    try:
        yield
    finally:
        # The name is removed while the lock is held: who waits for it, or opens the file now,
        # notices in _acquire that the file has lost its name.
        with suppress(OSError):
            os.unlink(lock_path)
        if descriptor is not None:
            _release(descriptor)


def _acquire(path: str) -> int | None:
    """Open and lock a file; None, with a warning, if the file system has no locks."""
    for _ in range(_ATTEMPTS):
        try:
            descriptor = os.open(path, os.O_RDWR | _CREATE, 0o666)
        except FileNotFoundError:
            with suppress(FileNotFoundError):
                _create_directories(os.path.dirname(path))
            continue
        try:
            flock(descriptor, LOCK_EX)
        except BaseException as error:
            os.close(descriptor)
            if not isinstance(error, OSError) or error.errno not in _NO_LOCKS:
                raise
            warnings.warn(
                f"{os.path.dirname(path)}: this file system has no file locks "
                f"({error.strerror}); several processes must not change the same chunk",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        if _is_at(descriptor, path):
            return descriptor
        _release(descriptor)
    raise _unusable_directory(path)


def _is_at(descriptor: int, path: str, directory: int | None = None) -> bool:
    """Whether a locked file still has its name; else the lock excludes nobody."""
    try:
        return os.path.samestat(
            os.fstat(descriptor), os.stat(path, dir_fd=directory, follow_symlinks=False)
        )
    except FileNotFoundError:
        return False


def _release(descriptor: int) -> None:
    # Closing is not sufficient: a forked child may have a copy of the descriptor.
    with suppress(OSError):
        flock(descriptor, LOCK_UN)
    os.close(descriptor)


# --- removing ---


def remove_leftover(path: str, older_than: float = 0.0, directory: int | None = None) -> bool:
    """Remove an old temporary file or an unused lock file; return whether it was removed."""
    with suppress(FileNotFoundError):
        if not path.endswith(LOCK):
            status = os.stat(path, dir_fd=directory, follow_symlinks=False)
            if is_old := time.time() - status.st_mtime >= older_than:
                os.unlink(path, dir_fd=directory)
            return is_old
        if HAVE_LOCKS:
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW, dir_fd=directory)
            try:
                flock(descriptor, LOCK_EX | LOCK_NB)
                if _is_at(descriptor, path, directory):
                    os.unlink(path, dir_fd=directory)
                    return True
            except BlockingIOError:  # the lock is in use
                return False
            finally:
                _release(descriptor)
    return False


def remove_tree(top: str, *, keep_top: bool) -> None:
    """Remove everything below a directory, and the directory unless ``keep_top`` is true."""
    # Another process may replace a directory by a link at any time.  So nothing is removed by its
    # path: each directory is opened without following a link in its place, is compared with the
    # inode that its parent listed, and its entries are removed relative to the open directory.
    parent, name = os.path.split(top)
    parent = os.path.realpath(parent)
    for _ in range(_PASSES):  # other processes may use a directory for a moment
        try:
            children = [(name, os.lstat(os.path.join(parent, name)).st_ino)]
            listed = [(parent, os.lstat(parent).st_ino, children)]
        except FileNotFoundError:
            return
        for path, _, children in listed:  # parents first
            for child, inode in children:
                child_path = f"{path}/{child}"
                with _opened_directory(child_path, inode) as opened:
                    if opened is not None:
                        listed.append((child_path, inode, _remove_files(opened)))
        kept = False
        for path, inode, children in listed[: 0 if keep_top else None : -1]:  # children first
            if children:
                with _opened_directory(path, inode) as opened:
                    for child, _ in children:
                        kept |= opened is not None and not _remove_directory(opened, child)
        if not kept:
            return


def _remove_files(directory: int) -> list[tuple[str, int]]:
    """Remove the files of an open directory; return the names and inodes of its directories."""
    directories: list[tuple[str, int]] = []
    with os.scandir(directory) as scan:
        entries = list(scan)  # complete before anything is removed
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            directories.append((entry.name, entry.inode()))
            continue
        if entry.name.endswith(LOCK) and is_temporary(entry.name):
            remove_leftover(entry.name, directory=directory)
            continue
        with suppress(FileNotFoundError):
            os.unlink(entry.name, dir_fd=directory)
    return directories


def _remove_directory(parent: int, name: str) -> bool:
    """Remove a directory of an open directory; return False if it is not empty."""
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
