"""Atomic replacement of files, locks between processes, and removal of directories."""

from __future__ import annotations

import errno
import itertools
import os
import time
import warnings
import zlib
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING

from zarr_core import system_calls
from zarr_core.interfaces.byte_reader import ValueReference
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
_NAME_LIMIT = 100
_BUFFERS_LIMIT = 1024  # IOV_MAX of Linux and macOS
_COPY_BYTES = 1 << 20
_ONE_COPY = 1 << 30
_ATTEMPTS = 1000
_DAY = 86400.0
_VISITS = 4
_OPEN = system_calls.CLOSE_ON_EXEC | system_calls.NO_FOLLOW | system_calls.BINARY
_CREATE = os.O_CREAT | _OPEN
_NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})

_counter = itertools.count()
_process = os.getpid()  # os.getpid takes as long as a small write


def is_ours(name: str) -> bool:
    """Whether a file name is that of a temporary file or a lock."""
    return name.endswith(_SUFFIXES) and name.startswith(".")


def _beside(path: str, ending: str) -> str:
    """Return the path of a temporary file or lock file for ``path``, in the same directory."""
    directory, _, name = path.rpartition("/")
    if len(name) > _NAME_LIMIT or not name.isascii():
        # File names are limited to 255 bytes.
        number = zlib.crc32(os.fsencode(name))
        name = f"{name[:20]}~{number:08x}"
    return f"{directory}/.{name}{ending}"


# --- directories ---


def create_directories(path: str) -> list[str]:
    """Create a directory and its parents; return the created ones, highest first.

    Unlike ``os.makedirs``, this works while another process removes empty directories.
    """
    for _ in range(_ATTEMPTS):
        missing = []
        above = path.rstrip("/") or "/"
        while not os.path.lexists(above):
            missing.append(above)
            above = os.path.dirname(above)
        if not os.path.isdir(above):
            if not os.path.lexists(above):
                continue
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), above)
        try:
            for directory in reversed(missing):
                with suppress(FileExistsError):
                    os.mkdir(directory)
        except FileNotFoundError:
            continue
        return missing[::-1]
    raise OSError(errno.EBUSY, "its directory cannot be created, or is removed repeatedly", path)


def remove_empty_directories(path: str, root: str) -> None:
    """Remove a directory and its parents below the root while they are empty."""
    path = path.rstrip("/")
    while len(path) >= len(root):
        try:
            os.rmdir(path)
        except OSError:
            return
        path = os.path.dirname(path)


# --- files ---


def replace_file(path: str, buffers: Sequence[Buffer], *, sync: bool) -> None:
    """Replace a file atomically.

    After an OSError the old file is unchanged, and new directories are removed.
    """
    created: list[str] = []
    try:
        _replace_file(path, buffers, created, sync=sync)
    except BaseException:
        for directory in reversed(created):
            with suppress(OSError):  # not empty: another process uses it
                os.rmdir(directory)
        raise


def _replace_file(path: str, buffers: Sequence[Buffer], created: list[str], *, sync: bool) -> None:
    for _ in range(_ATTEMPTS):
        partial = _beside(path, f".{_process}-{next(_counter)}{PARTIAL}")
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_EXCL | _CREATE, 0o666)
        except FileNotFoundError:
            created += create_directories(os.path.dirname(path))
            continue
        except FileExistsError:  # from a process with the same number on another machine
            continue
        try:
            try:
                _write(descriptor, buffers)
                if sync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            system_calls.replace(partial, path)
        except FileNotFoundError:  # the directory was removed: try again
            continue
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise
        if sync:
            for directory in {os.path.dirname(path), *map(os.path.dirname, created)}:
                system_calls.sync_directory(directory)
        return
    raise OSError(errno.EBUSY, "its directory cannot be created, or is removed repeatedly", path)


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
        position, left = self._start, self._length
        while left:
            count = _copy_range(self._descriptor, descriptor, left, position)
            if not count:  # not supported between these files, or the end of the file
                data = system_calls.pread(self._descriptor, min(left, _COPY_BYTES), position)
                if not data:
                    raise OSError(errno.EIO, "the file with the old value has become shorter")
                count = os.write(descriptor, data)
            position += count
            left -= count


def _copy_range(source: int, target: int, length: int, start: int) -> int:
    """Copy a part of a file within the system; return the number of bytes, 0 on failure."""
    try:
        return os.copy_file_range(source, target, min(length, _ONE_COPY), start)
    except (AttributeError, OSError):  # not on all systems
        return 0


def _write(descriptor: int, buffers: Sequence[Buffer]) -> None:
    if FileRange in map(type, buffers):
        for is_range, group in groupby(buffers, lambda it: isinstance(it, FileRange)):
            if is_range:
                for part in group:
                    part.copy_to(descriptor)  # type: ignore[union-attr]  # not a buffer
            else:
                _write(descriptor, [*group])
        return
    done = 0
    if len(buffers) <= _BUFFERS_LIMIT:
        done = system_calls.writev(descriptor, buffers)
        if done == (len(buffers[0]) if len(buffers) == 1 else sum(map(len, buffers))):
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


def lock(path: str) -> int:
    """Exclude every other process and thread that locks the same path.

    The lock belongs to the open lock file and ends with the process.  A killed process leaves
    only an empty file.  Returns the argument for :func:`unlock`; raises OSError if the lock file
    cannot be created.
    """
    return _acquire(_beside(path, LOCK)) if HAVE_LOCKS else -1


def unlock(path: str, descriptor: int) -> None:
    """Release the lock."""
    if descriptor < 0:
        return
    # The name before the lock: waiting processes detect that the file was removed.
    with suppress(OSError):
        os.unlink(_beside(path, LOCK))
    _release(descriptor)


@contextmanager
def file_lock(path: str) -> Iterator[None]:
    """Hold the lock of :func:`lock`; the path need not exist."""
    descriptor = lock(path)
    try:
        yield
    finally:
        unlock(path, descriptor)


def _acquire(name: str) -> int:
    for _ in range(_ATTEMPTS):
        try:
            descriptor = os.open(name, os.O_RDWR | _CREATE, 0o666)
        except FileNotFoundError:
            create_directories(os.path.dirname(name))
            continue
        try:
            try:
                flock(descriptor, LOCK_EX)
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
                warnings.warn(
                    f"{os.path.dirname(name)}: this file system has no file locks "
                    f"({error.strerror}); several processes must not change the same chunk",
                    RuntimeWarning,
                    stacklevel=2,
                )
                return descriptor
        except BaseException:  # also a warning that is an error
            os.close(descriptor)
            raise
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


def remove_leftover(path: str, older_than: float) -> bool:
    """Remove a temporary file or lock file if it is unused; return whether it was removed."""
    if path.endswith(LOCK):
        return _remove_unused_lock(path)
    try:
        age = time.time() - os.lstat(path).st_mtime
        if age < older_than or (age < _DAY and _writer_lives(path)):
            return False
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


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


def _writer_lives(path: str) -> bool:
    number = path.removesuffix(PARTIAL).rpartition(".")[2].partition("-")[0]
    if not number.isdecimal():
        return False
    return system_calls.is_running(int(number))


# --- directory trees ---


def remove_tree(top: str, *, keep_top: bool) -> None:
    """Remove everything below a directory; links are removed, not followed.

    Files that other processes create meanwhile may remain.  A directory that is replaced by a link
    meanwhile is not entered.
    """
    top = os.path.join(os.path.realpath(os.path.dirname(top)), os.path.basename(top))
    try:
        stack = [(top, os.lstat(top).st_ino, os.lstat(os.path.dirname(top)).st_ino, 0)]
    except FileNotFoundError:
        return
    while stack:
        path, inode, parent, visits = stack.pop()
        below = _remove_files(path, inode)
        if visits == 0:
            stack.append((path, inode, parent, visits + 1))
            stack += ((*directory, inode, 0) for directory in below)
        elif path != top or not keep_top:
            try:
                with _opened_directory(os.path.dirname(path), parent) as above:
                    if above is not None:
                        at, name = (None, path) if above < 0 else (above, os.path.basename(path))
                        os.rmdir(name, dir_fd=at)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                if visits < _VISITS:
                    stack.append((path, inode, parent, visits + 1))
                    stack += ((*directory, inode, 0) for directory in below)


def _remove_files(path: str, inode: int) -> list[tuple[str, int]]:
    """Remove the files of a directory; return its directories with their inodes."""
    below: list[tuple[str, int]] = []
    with _opened_directory(path, inode) as directory:
        if directory is None:
            return below
        with os.scandir(path if directory < 0 else directory) as entries:
            found = list(entries)
        at = None if directory < 0 else directory
        for entry in found:
            name = entry.path if at is None else entry.name
            if entry.is_dir(follow_symlinks=False):
                below.append((f"{path.rstrip('/')}/{entry.name}", entry.inode()))
                continue
            with suppress(FileNotFoundError):
                if entry.name.endswith(LOCK) and is_ours(entry.name):
                    _remove_unused_lock(name, at)
                else:
                    os.unlink(name, dir_fd=at)
    return below


@contextmanager
def _opened_directory(path: str, inode: int) -> Iterator[int | None]:
    """Open a directory; None if another one is there now, -1 where directories cannot be opened."""
    if os.scandir not in os.supports_fd:
        yield -1
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _OPEN)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        yield None  # a link
        return
    try:
        yield descriptor if os.fstat(descriptor).st_ino == inode else None
    finally:
        os.close(descriptor)


def remove_leftovers(top: str, older_than: float) -> int:
    """Remove the files of killed processes below a directory; return their number."""
    count = 0
    stack = [top]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                found = list(entries)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                stack.append(entry.path)
            elif is_ours(entry.name) and remove_leftover(entry.path, older_than):
                log("recovery", "%s: file of a killed process removed", entry.path)
                count += 1
    return count


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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
