"""Files below a directory: reading, atomic replacement, locks, removal.

Another process may replace a directory by a link at any time.  So no path is used twice, once to
check it and once to open it: each directory is opened relative to the one above it, without
following a link in its place, and its files are opened, renamed and removed relative to it.  A link
is resolved by its text, and its target is opened in the same way.

Functions raise :class:`OSError`; the store adds the key.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import stat
import struct
import sys
import warnings
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader, ValueReference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from zarr_core.interfaces.byte_reader import Buffer

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # no file locks: only threads exclude each other
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

FOLLOW_LINKS = "To follow links out of the store, pass storage_options={'follow_links': True}"
PARTIAL = ".zarr-partial"
LOCK = ".zarr-lock"
# Do not wait for the writer of a FIFO; do not follow links unchecked.
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
_CREATE = os.O_CREAT | os.O_NOFOLLOW
# O_PATH needs no permission to list the directory.
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW_FILE = os.O_WRONLY | os.O_EXCL | _CREATE
_NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})  # or a link in its place
_ONE_CALL = 1 << 30  # bytes
_COPY_BYTES = 1 << 20
_BUFFERS_LIMIT = 1024  # IOV_MAX of Linux and macOS
_NAME_LIMIT = 100
_ATTEMPTS = 1000
_PASSES = 4
_LINKS = 40  # to follow for one path, as many as Linux follows
_SYS_OPENAT2, _AT_FDCWD, _RESOLVE_NO_SYMLINKS = 437, -100, 4

# Names of temporary files; processes that use the same number at once take the next.
_numbers = itertools.count(int.from_bytes(os.urandom(4)))


# --- reading ---


def read_failure(error: Exception) -> str:
    """The reason why a file cannot be read."""
    number = getattr(error, "errno", None)
    if number == errno.EXDEV:
        return f"a symbolic link leads out of the store, in a circle or nowhere. {FOLLOW_LINKS}"
    if isinstance(error, IsADirectoryError):
        return "is a directory"
    if isinstance(error, MemoryError | OverflowError):
        return "there is not enough memory for the value"
    if number in (errno.ESPIPE, errno.EINVAL):
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
    while buffer:
        count = os.preadv(descriptor, (buffer[:_ONE_CALL],), start)
        if count == len(buffer):
            return
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
            self.check_part(start, len(buffer))
            try:
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


# --- directories ---


def _find_openat2() -> Callable[[int, str, int], int] | None:
    """The call of Linux that refuses links anywhere on a path; None if there is none."""
    if sys.platform != "linux":
        return None
    try:
        from ctypes import CDLL, c_long, c_size_t, get_errno

        call = partial(CDLL(None, use_errno=True).syscall, c_long(_SYS_OPENAT2))
    except (ImportError, OSError, AttributeError):
        return None
    options = {}
    for flags in (READ_FLAGS, _DIRECTORY, LISTED):
        how = struct.pack("QQQ", flags | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)  # struct open_how
        options[flags] = how, c_size_t(len(how))

    def openat2(directory: int, path: str, flags: int) -> int:
        descriptor: int = call(directory, os.fsencode(path), *options[flags])
        return descriptor if descriptor >= 0 else -get_errno()

    # Not in an old kernel, or in a container that does not permit it.
    descriptor = openat2(_AT_FDCWD, "/", _DIRECTORY)
    if descriptor < 0:
        return None
    os.close(descriptor)
    return openat2


# ``openat2(directory, path, flags)`` returns a descriptor, or a negative number of an error.
openat2 = _find_openat2()


class OpenDescriptor(int):
    """The descriptor of an open file or directory, which is closed with the last reference."""

    __slots__ = ()
    # Calls partial(os.close, self)(), without a Python function: the exception of a signal
    # handler, such as KeyboardInterrupt, would be ignored there.
    __del__ = property(partial(partial, os.close))


def _open_below(
    directory: int, path: str, flags: int, create: bool = False, sync: bool = False
) -> int:
    """Open a path below an open directory; raise ENOTDIR or ELOOP for a link on it.

    Missing directories on the path are created if ``create`` is true.
    """
    if openat2 is not None and (descriptor := openat2(directory, path or ".", flags)) >= 0:
        return descriptor
    *parents, name = path.split("/")
    for parent in parents:
        if create:
            _make_directory(directory, parent, sync)
        directory = OpenDescriptor(os.open(parent, _DIRECTORY, dir_fd=directory))
    return os.open(name or ".", flags, dir_fd=directory)


class DirectoryTree:
    """A directory and everything below it, but nothing outside of it.

    Paths are relative to it, with ``/``; the path of a directory is empty or ends in ``/``.  The
    directory need not exist.  Links on the way to it are followed, and those that lead out of it
    if ``follow_links`` is true.
    """

    def __init__(self, path: str, follow_links: bool = False) -> None:
        self.root: str = f"{path.replace(os.sep, '/').rstrip('/')}/"
        """The path with a final slash."""
        self.follow_links = follow_links

    def open(self, prefix: str, *, create: bool = False, sync: bool = False) -> OpenDescriptor:
        """Open a directory; ``create`` it and its parents, and ``sync`` them with the disk."""
        return OpenDescriptor(self.open_path(prefix, _DIRECTORY, create, sync))

    def open_path(self, path: str, flags: int, create: bool = False, sync: bool = False) -> int:
        """Open a file or directory, also behind links; the caller closes it."""
        root = self.root
        if openat2 is not None:  # the usual case first, for speed
            descriptor = openat2(_AT_FDCWD, root + path, flags)
            if descriptor >= 0:
                return descriptor
            if descriptor == -errno.ENOENT and not create:
                raise FileNotFoundError(errno.ENOENT, "missing", root + path)
            if descriptor == -errno.ENAMETOOLONG:  # other calls could not use what is created
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        for _ in range(_LINKS):
            if create:
                for match in re.finditer("/", "" if os.path.isdir(root) else root[1:]):
                    _make_directory(None, root[: match.start() + 1], sync)
            top = OpenDescriptor(os.open(root, _DIRECTORY))
            try:
                return _open_below(top, path, flags, create, sync)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
            root, path = self._without_link(root, path)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), root + path)

    def target(self, link: str) -> str | None:
        """The target of a link; None if it is outside, circular or missing."""
        with suppress(OSError):
            target = os.path.realpath(link, strict=True)
            if self.follow_links or f"{target}/".startswith(self._real_root()):
                return target
        return None

    def _real_root(self) -> str:
        return os.path.join(os.path.realpath(self.root), "")

    def _without_link(self, root: str, path: str) -> tuple[str, str]:
        """Replace the first link of a path below a root by its target; return root and path."""
        for match in re.finditer("[^/]+", path):
            link = root + path[: match.end()]
            if os.path.islink(link):
                if (target := self.target(link)) is None:  # as by openat2(RESOLVE_BENEATH)
                    raise OSError(errno.EXDEV, "the path leaves the directory", link)
                root = "/" if self.follow_links else self._real_root()
                path = f"{target}{path[match.end() :]}"
                return root, path[len(root) :].lstrip("/")
        if os.path.lexists(root + path):  # another process has replaced the link
            return root, path
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), root + path)

    # --- changes ---

    def replace(self, path: str, buffers: Sequence[Buffer], *, sync: bool = False) -> None:
        """Replace a file atomically; after an OSError, the old file is unchanged."""
        prefix, name = split(path)
        for _ in range(_ATTEMPTS):
            try:
                directory = self.open(prefix, create=True, sync=sync)
                return _replace_file(directory, name, buffers, sync)
            except FileNotFoundError:  # another process has removed the directory
                continue
        raise self._unusable(path)

    @contextmanager
    def lock(self, path: str) -> Iterator[None]:
        """Exclude every other process and thread that locks the same path, which need not exist."""
        if not HAVE_LOCKS:
            yield
            return
        # The lock belongs to the open lock file, so it ends with the process, however that ends.
        # It is not on the file of the value, which is replaced meanwhile: two processes could then
        # have locks on two files.
        prefix, name = split(path)
        name = _hidden_name(name, LOCK)
        directory, descriptor = self._acquire(prefix, name)
        try:
            yield
        finally:
            # The name is removed while the lock is held: who waits for it, or opens the file now,
            # notices in _acquire that the file has lost its name.
            with suppress(OSError):
                os.unlink(name, dir_fd=directory)
            _release(descriptor)

    def _acquire(self, prefix: str, name: str) -> tuple[OpenDescriptor, int]:
        """Open and lock a file, also if another process removes it or its directory meanwhile."""
        for _ in range(_ATTEMPTS):
            with suppress(FileNotFoundError):  # another process has removed the directory
                directory = self.open(prefix, create=True)
                descriptor = os.open(name, os.O_RDWR | _CREATE, 0o666, dir_fd=directory)
                is_locked = False
                try:
                    _lock(descriptor, self.root + prefix)
                    is_locked = _is_at(descriptor, name, directory)
                finally:
                    if not is_locked:
                        _release(descriptor)
                if is_locked:
                    return directory, descriptor
        raise self._unusable(prefix + name)

    def remove_empty(self, prefix: str) -> None:
        """Remove a directory and those above it, as far as they are empty."""
        with suppress(OSError):  # it is not empty
            while prefix:
                prefix, name = split(prefix[:-1])
                os.rmdir(name, dir_fd=self.open(prefix))

    def remove(self, prefix: str) -> None:
        """Remove everything below a directory, and the directory unless it is the root."""
        above, name = split(prefix[:-1])
        try:
            top = self.open(above)
            if name and stat.S_ISLNK(os.lstat(name, dir_fd=top).st_mode):
                return os.unlink(name, dir_fd=top)  # not what it leads to
        except (FileNotFoundError, NotADirectoryError):
            return None
        for _ in range(_PASSES):  # other processes may use a directory for a moment
            paths = []
            for path, directory, files in _walk(top, name and f"{name}/"):
                paths.append(path)
                for file in files:
                    _remove_file(directory, file)
            # Children first; all must be tried.
            kept = [path for path in reversed(paths) if path and not _remove_directory(top, path)]
            if not kept:
                break
        return None

    def _unusable(self, path: str) -> OSError:
        reason = "its directory cannot be created, or is removed repeatedly"
        return OSError(errno.EBUSY, reason, self.root + path)


def file_lock(path: str) -> AbstractContextManager[None]:
    """The lock of an absolute path."""
    directory, name = os.path.split(path)
    return DirectoryTree(directory).lock(name)


def split(path: str) -> tuple[str, str]:
    """The directory of a path, with its slash, and the name in it."""
    end = path.rfind("/") + 1
    return path[:end], path[end:]


def _walk(top: int, prefix: str) -> Iterator[tuple[str, OpenDescriptor, list[str]]]:
    """Iterate over a directory below an open one, and over those below it, parents first.

    Yields the path, the descriptor and the names of files, which include links.
    """
    prefixes = [prefix]
    for prefix in prefixes:
        files = []
        try:
            directory = OpenDescriptor(_open_below(top, prefix, LISTED))
        except OSError as error:
            if error.errno in _GONE:
                continue
            raise
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    prefixes.append(f"{prefix}{entry.name}/")
                else:
                    files.append(entry.name)
        yield prefix, directory, files


def _remove_directory(top: int, prefix: str) -> bool:
    """Remove a directory below an open one; return False if it is not empty."""
    above, name = split(prefix[:-1])
    try:
        os.rmdir(name, dir_fd=OpenDescriptor(_open_below(top, above, _DIRECTORY)))
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        if error.errno not in _GONE:
            raise
    return True


def _remove_file(directory: int, name: str) -> None:
    """Remove a file, unless it is a lock in use."""
    with suppress(FileNotFoundError, BlockingIOError):
        if not (HAVE_LOCKS and name.endswith(LOCK) and is_temporary(name)):
            os.unlink(name, dir_fd=directory)
            return
        descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW, dir_fd=directory)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            if _is_at(descriptor, name, directory):
                os.unlink(name, dir_fd=directory)
        finally:
            _release(descriptor)


def is_temporary(name: str) -> bool:
    """Whether a file name is that of a temporary file or a lock, and not a key."""
    return name.endswith((PARTIAL, LOCK)) and name.startswith(".")


def _hidden_name(name: str, ending: str) -> str:
    """The name of a temporary file or lock file for a file."""
    if len(name) > _NAME_LIMIT or not name.isascii():
        # File names are limited to 255 bytes.
        number = zlib.crc32(os.fsencode(name))
        name = f"{name[:20]}~{number:08x}"
    return f".{name}{ending}"


def _make_directory(above: int | None, path: str, sync: bool) -> None:
    """Create a directory, unless there is one; what else is there makes opening it fail."""
    with suppress(FileExistsError):
        os.mkdir(path, dir_fd=above)
        if sync:
            _sync_directory(above, os.path.dirname(path) or ".")


def _sync_directory(above: int | None, path: str = ".") -> None:
    """Store the entries of a directory on the disk."""
    descriptor = os.open(path, os.O_RDONLY, dir_fd=above)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- locks ---


def _is_at(descriptor: int, name: str, directory: int) -> bool:
    """Whether a locked file still has its name.  Without it, other processes lock a new file."""
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), status)


def _lock(descriptor: int, directory: str) -> None:
    """Lock an open file, with a warning if the file system has no locks."""
    try:
        flock(descriptor, LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        warnings.warn(
            f"{directory}: this file system has no file locks ({error.strerror}); "
            "several processes must not change the same chunk",
            RuntimeWarning,
            stacklevel=2,
        )


def _release(descriptor: int) -> None:
    # Closing is not sufficient: a forked child may have a copy of the descriptor.
    with suppress(OSError):
        flock(descriptor, LOCK_UN)
    os.close(descriptor)


# --- writing ---


def _replace_file(directory: int, name: str, buffers: Sequence[Buffer], sync: bool) -> None:
    """Replace a file of an open directory; raise FileNotFoundError if the directory was removed."""
    # 1. The value is written to a temporary file.  It is in the directory of the value, since only
    # within one file system can a file be renamed.  O_EXCL: no other writer has this file, so
    # writers of one key do not mix their values; the last one to rename wins.
    while True:
        temporary = _hidden_name(name, f".{next(_numbers):x}{PARTIAL}")
        try:
            descriptor = os.open(temporary, _NEW_FILE, 0o666, dir_fd=directory)
            break
        except FileExistsError:  # another process uses the number
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
        # 3. The complete file gets its name.  Readers open the old file or the new one, and a kill
        # before this line leaves the old one, and a temporary file that is never a key.
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    if sync:  # 4. The name reaches the disk with the entries of its directory.
        _sync_directory(directory)


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
