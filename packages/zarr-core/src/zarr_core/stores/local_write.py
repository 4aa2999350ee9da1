"""Replacing files as a whole, under locks that other processes respect."""

from __future__ import annotations

import errno
import itertools
import os
import time
import warnings
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.interfaces.codec import Buffer

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
except ImportError:  # a platform without file locks: only threads exclude each other
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

PARTIAL = ".zarr-partial"
LOCK = ".zarr-lock"
_SUFFIXES = (PARTIAL, LOCK)
_NAME_LIMIT = 100
_PIECES_LIMIT = 1024  # IOV_MAX of Linux and macOS
_ATTEMPTS = 1000
_DAY = 86400.0
_CREATE = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})

_counter = itertools.count()
_process = os.getpid()  # asked once: the question costs as much as a small write


def is_ours(name: str) -> bool:
    """Whether a file name is that of an unfinished file or of a lock: never a key."""
    return name.endswith(_SUFFIXES) and name.startswith(".")


def _beside(path: str, ending: str) -> str:
    """Path of a file of ours in the directory of ``path``."""
    directory, _, name = path.rpartition("/")
    if len(name) > _NAME_LIMIT or not name.isascii():
        # Stay below the 255 bytes that a name may have.
        number = zlib.crc32(os.fsencode(name))
        name = f"{name[:20]}~{number:08x}"
    return f"{directory}/.{name}{ending}"


# --- directories ---


def make_directories(path: str) -> list[str]:
    """Make a directory with those above it; return those that were made, highest first.

    Not ``os.makedirs``: that recurses, and fails if another process removes an
    empty directory at the wrong moment.
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
    raise OSError(errno.EBUSY, "its directory is removed again and again", path)


def remove_empty_directories(path: str, root: str) -> None:
    """Remove a directory and those above it as long as they are empty, but not the root."""
    path = path.rstrip("/")
    while len(path) >= len(root):
        try:
            os.rmdir(path)
        except OSError:
            return
        path = os.path.dirname(path)


def _sync_directory(path: str) -> None:
    descriptor = os.open(path or "/", os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- files ---


def replace_file(path: str, pieces: Sequence[Buffer], *, sync: bool) -> None:
    """Write a file so that its path has the old content or the new, at every moment.

    Raises
    ------
    OSError
        If it cannot be done; the old file is untouched.
    """
    made: list[str] = []
    for _ in range(_ATTEMPTS):
        partial = _beside(path, f".{_process}-{next(_counter)}{PARTIAL}")
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_EXCL | _CREATE, 0o666)
        except FileNotFoundError:
            made += make_directories(os.path.dirname(path))
            continue
        except FileExistsError:  # of a process with our number on another machine
            continue
        try:
            try:
                _write(descriptor, pieces)
                if sync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(partial, path)
        except FileNotFoundError:  # someone erased the whole directory: begin anew
            continue
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise
        if sync:
            for directory in {os.path.dirname(path), *map(os.path.dirname, made)}:
                _sync_directory(directory)
        return
    raise OSError(errno.EBUSY, "its directory is removed again and again", path)


def _write(descriptor: int, pieces: Sequence[Buffer]) -> None:
    done = 0
    if len(pieces) <= _PIECES_LIMIT:
        done = os.writev(descriptor, pieces)
        if done == (len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces))):
            return
    views = [view for piece in pieces if (view := memoryview(piece).cast("B"))]
    position = 0
    while True:
        while position < len(views) and done >= len(views[position]):
            done -= len(views[position])
            position += 1
        if position == len(views):
            return
        views[position] = views[position][done:]
        done = os.writev(descriptor, views[position : position + _PIECES_LIMIT])
        if not done:
            raise OSError(errno.EIO, "the file takes no more bytes")


# --- locks ---


def lock(path: str) -> int:
    """Exclude every other process and thread that locks the same path.

    The lock belongs to the open lock file and ends with the process, so what a
    killed process leaves behind is only an empty file.

    Returns
    -------
    int
        What :func:`unlock` needs.

    Raises
    ------
    OSError
        If there can be no lock file beside the path.
    """
    return _acquire(_beside(path, LOCK)) if HAVE_LOCKS else -1


def unlock(path: str, descriptor: int) -> None:
    """Let the next one have the lock."""
    if descriptor < 0:
        return
    # First the name, then the lock: whoever waits sees that its file is gone.
    with suppress(OSError):
        os.unlink(_beside(path, LOCK))
    _release(descriptor)


def _acquire(name: str) -> int:
    for _ in range(_ATTEMPTS):
        try:
            descriptor = os.open(name, os.O_RDWR | _CREATE, 0o666)
        except FileNotFoundError:
            make_directories(os.path.dirname(name))
            continue
        try:
            flock(descriptor, LOCK_EX)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                warnings.warn(
                    f"{os.path.dirname(name)}: this file system has no file locks "
                    f"({error.strerror}); several processes must not change the same chunk",
                    RuntimeWarning,
                    stacklevel=2,
                )
                return descriptor
            os.close(descriptor)
            raise
        except BaseException:
            os.close(descriptor)
            raise
        if _is_at(descriptor, name):
            return descriptor
        _release(descriptor)
    raise OSError(errno.EBUSY, "the lock could not be had", name)


def _is_at(descriptor: int, name: str) -> bool:
    """Whether the file that was locked still is the one that others would lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(name))
    except FileNotFoundError:
        return False


def _release(descriptor: int) -> None:
    # Closing alone would not do: a forked child may have a copy of the descriptor.
    with suppress(OSError):
        flock(descriptor, LOCK_UN)
    os.close(descriptor)


# --- what killed processes leave ---


def remove_leftover(path: str, older_than: float) -> bool:
    """Remove an unfinished file or a lock file that nobody uses; whether it was done."""
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


def _remove_unused_lock(path: str) -> bool:
    if not HAVE_LOCKS:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        unused = _is_at(descriptor, path)
        if unused:
            os.unlink(path)
    except BlockingIOError:
        return False
    finally:
        _release(descriptor)
    return unused


def _writer_lives(path: str) -> bool:
    number = path.removesuffix(PARTIAL).rpartition(".")[2].partition("-")[0]
    if not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except PermissionError:  # there is one, of someone else
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _after_fork() -> None:
    global _process
    _process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
