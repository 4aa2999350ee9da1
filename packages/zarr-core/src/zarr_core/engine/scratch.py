"""Memory that is reused for every chunk, and limits of memory.

New memory causes page faults, which take longer than decompression for large chunks.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from zarr_core.config import config
from zarr_core.threads import acquire_interruptibly, call_after_fork, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

_SMALLEST = 1 << 16
_LARGE = 1 << 18  # bytes of buffers that all threads share
_KEPT_BYTES = (os.cpu_count() or 1) << 24  # of large buffers; others are freed at once
_KEPT_BUFFERS = 4  # small ones of each thread


class _Free(threading.local):
    def __init__(self) -> None:
        self.buffers: list[memoryview] = []


_free = _Free()
_large: list[memoryview] = []  # append and pop are atomic


class scratch:  # noqa: N801 - used as a function is: with scratch(n) as memory
    """Borrow memory for a block: small buffers of this thread, large buffers of the process.

    The block gets a writable memoryview of format ``B`` and length ``nbytes``, with undefined
    content.  Nested blocks get different memory.

    Requests to remote stores have many threads, of which few need a large buffer at a time.
    """

    __slots__ = ("_buffer", "_nbytes")

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes

    def __enter__(self) -> memoryview:
        nbytes = self._nbytes
        free = _free.buffers if nbytes < _LARGE else _large
        try:
            buffer = free.pop()
        except IndexError:
            buffer = None
        if buffer is None or len(buffer) < nbytes:
            buffer = np.empty(max(nbytes, _SMALLEST), np.uint8).data
        self._buffer = buffer
        return buffer[:nbytes]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        buffer = self._buffer
        if len(buffer) < _LARGE:
            free = _free.buffers
            if len(free) < _KEPT_BUFFERS:
                free.append(buffer)
        elif sum(map(len, [*_large])) + len(buffer) <= _KEPT_BYTES:
            _large.append(buffer)


class Reservation:
    """A reserved amount of memory; call it with another amount in bytes to correct it."""

    def __init__(self, limiter: MemoryLimiter, amount: int) -> None:
        self.amount = amount
        self._limiter = limiter

    def __call__(self, amount: int) -> None:
        self._limiter.change(amount - self.amount)
        self.amount = amount


class MemoryLimiter:
    """Limits the total memory of concurrent tasks, in bytes; a single task is always allowed."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.reset()

    def reset(self) -> None:
        """Forget all tasks, for a child process, which has none of them."""
        self.used = self._inside = 0
        self._entrance = threading.Lock()
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, expected: Callable[[], int]) -> Iterator[Reservation]:
        """Reserve an expected amount within the block; wait until it is available."""
        # Only one task waits for the amount: otherwise small ones could overtake it forever.
        acquire_interruptibly(self._entrance)
        try:
            with self._changed:
                # The expected amount may change while waiting.
                while self.used + (amount := expected()) > self.limit and self._inside:
                    with waiting():
                        self._changed.wait()
                self.used += amount
                self._inside += 1
        finally:
            self._entrance.release()
        hold = Reservation(self, amount)
        try:
            yield hold
        finally:
            with self._changed:
                self.used -= hold.amount
                self._inside -= 1
                self._changed.notify_all()

    def change(self, more: int) -> None:
        """Correct the used amount without waiting."""
        with self._changed:
            self.used += more
            if more < 0:
                self._changed.notify_all()


class _RemoteMemory(MemoryLimiter):
    """A limit that is a setting."""

    def __init__(self) -> None:
        self.reset()

    @property
    def limit(self) -> int:  # type: ignore[override]  # an attribute
        return config.settings.remote_memory_nbytes


remote_memory = _RemoteMemory()
"""Limits the memory for chunks of remote stores, encoded and decoded, outside of results."""

call_after_fork(remote_memory.reset)
