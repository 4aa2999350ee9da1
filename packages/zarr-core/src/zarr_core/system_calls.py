"""System calls that some platforms do not have, and what is used there instead.

Windows has no ``pread``, ``preadv``, ``pwrite`` and ``writev``, no ``O_CLOEXEC``, ``O_NOFOLLOW``
and ``O_NONBLOCK``, does not replace files that others have open, and forbids some file names.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from zarr_core.log import log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Buffer = bytes | bytearray | memoryview

IS_WINDOWS = os.name == "nt"

CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
"""The descriptor is not inherited by child processes."""

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
"""Do not open the target of a symbolic link; links are followed where the flag is missing."""

NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Do not wait for the writer of a FIFO."""

BINARY = getattr(os, "O_BINARY", 0)
"""Do not translate line ends."""

_positions = threading.Lock()
_REPLACE_SECONDS = 10.0


def call_after_fork(function: Callable[[], object]) -> None:
    """Call a function in the child process of each fork, such as to replace locks.

    Threads do not survive a fork, but locks that they held stay locked in the child process.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


# --- reading and writing at a position ---


def _pread(descriptor: int, length: int, position: int) -> bytes:
    """Like ``os.pread``; changes the position of the descriptor, so only one thread at a time."""
    with _positions:
        os.lseek(descriptor, position, os.SEEK_SET)
        return os.read(descriptor, length)


def _preadv(descriptor: int, buffers: Sequence[memoryview], position: int) -> int:
    """Like ``os.preadv`` with one buffer."""
    [buffer] = buffers
    with _positions:
        os.lseek(descriptor, position, os.SEEK_SET)
        data = os.read(descriptor, len(buffer))
    buffer[: len(data)] = data
    return len(data)


def _pwrite(descriptor: int, data: Buffer, position: int) -> int:
    """Like ``os.pwrite``."""
    with _positions:
        os.lseek(descriptor, position, os.SEEK_SET)
        return os.write(descriptor, data)


def _writev(descriptor: int, buffers: Sequence[Buffer]) -> int:
    """Like ``os.writev``; may write fewer bytes than the system call."""
    for buffer in buffers:
        if len(buffer):
            return os.write(descriptor, buffer)
    return 0


pread = getattr(os, "pread", _pread)
preadv = getattr(os, "preadv", _preadv)
pwrite = getattr(os, "pwrite", _pwrite)
writev = getattr(os, "writev", _writev)


# --- files ---


def _replace_when_closed(
    source: str | bytes | os.PathLike[str], target: str | bytes | os.PathLike[str]
) -> None:
    """Like ``os.replace``; waits while another process has the target open."""
    end, pause = time.monotonic() + _REPLACE_SECONDS, 0.001
    while True:
        try:
            os.replace(source, target)
        except PermissionError:
            if time.monotonic() > end:
                raise
        else:
            return
        log("retries", "%s is open in another process; replacing it again", target)
        time.sleep(pause)
        pause = min(2 * pause, 0.1)


replace = _replace_when_closed if IS_WINDOWS else os.replace


def is_running(process: int) -> bool:
    """Whether a process with this number may exist."""
    if IS_WINDOWS:  # os.kill would end it
        return True
    try:
        os.kill(process, 0)
    except PermissionError:  # a process of another user
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


# --- names ---

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"] + [f"{name}{n}" for name in ("com", "lpt") for n in range(10)]
)
_FORBIDDEN = frozenset('<>:"|?*') | {chr(code) for code in range(32)}


def name_problem(path: str) -> str:
    """Return why Windows forbids a path, whose names are separated by ``/``; or an empty text."""
    for name in path.split("/"):
        if forbidden := sorted(_FORBIDDEN.intersection(name)):
            return f"Windows does not allow {forbidden[0]!r} in the name {name!r}"
        if name[-1:] in (".", " "):
            return f"Windows does not allow a name that ends with {name[-1]!r}: {name!r}"
        if name.partition(".")[0].rstrip().lower() in _DEVICES:
            return f"Windows uses the name {name!r} for a device"
    return ""
