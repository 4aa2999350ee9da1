"""Memory that is reused for every chunk, and limits of memory.

New memory causes page faults, which take longer than decompression for large chunks.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from zarr_core.config import config
from zarr_core.threads import call_after_fork, interruptible, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SMALLEST = 1 << 16
_LARGE = 1 << 18  # bytes
_KEPT_BYTES = (os.cpu_count() or 1) << 24  # of large buffers; others are freed at once
_KEPT_BUFFERS = 4 * (os.cpu_count() or 1)  # small ones

# Of the process, not of each thread: requests to remote stores have many threads, of which few need
# a buffer at a time.  ``append`` and ``pop`` are atomic.
_small: list[memoryview] = []
_large: list[memoryview] = []


class Scratch:
    """Borrow memory for a block.

    The block gets a writable memoryview of format ``B`` and length ``nbytes``, with undefined
    content.  Nested blocks get different memory.
    """

    __slots__ = ("_buffer", "_nbytes")

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes

    def __enter__(self) -> memoryview:
        nbytes = self._nbytes
        free = _small if nbytes < _LARGE else _large
        try:
            buffer = free.pop()
        except IndexError:
            buffer = None
        if buffer is None or len(buffer) < nbytes:
            buffer = np.empty(max(nbytes, _SMALLEST), np.uint8).data
        self._buffer = buffer
        return buffer[:nbytes]

    def __exit__(self, *_: object) -> None:
        buffer = self._buffer
        if len(buffer) < _LARGE:
            if len(_small) < _KEPT_BUFFERS:
                _small.append(buffer)
        elif sum(map(len, [*_large])) + len(buffer) <= _KEPT_BYTES:
            _large.append(buffer)


class Reservation:
    """A reserved amount of memory; call it with another amount in bytes to correct it."""

    def __init__(self, changed: threading.Lock) -> None:
        self.amount = 0
        self._changed = changed

    def __call__(self, amount: int) -> None:
        self.amount = amount
        with suppress(RuntimeError):  # it is released already
            self._changed.release()


class MemoryLimiter:
    """Limits the total memory of concurrent tasks, in bytes; a single task is always allowed.

    Without ``limit``, it is the setting ``remote_memory_nbytes``.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self.reset()

    @property
    def limit(self) -> int:
        """Bytes of all tasks together."""
        return config.settings.remote_memory_nbytes if self._limit is None else self._limit

    @property
    def used(self) -> int:
        """Bytes that are reserved."""
        return sum(reservation.amount for reservation in [*self._reserved])

    def reset(self) -> None:
        """Forget all tasks, for a child process, which has none of them."""
        self._reserved: set[Reservation] = set()
        self._entrance = threading.Lock()
        self._changed = threading.Lock()  # released by changes; the task that waits acquires it

    @contextmanager
    def reserve(self, expected: Callable[[], int]) -> Iterator[Reservation]:
        """Reserve an expected amount within the block; wait until it is available."""
        reservation = Reservation(self._changed)
        try:
            # Only one task waits for the amount: otherwise small ones could overtake it forever.
            with interruptible(self._entrance):
                # The expected amount may change while waiting.
                while self.used + (amount := expected()) > self.limit and self._reserved:
                    with waiting():  # an interrupt may have prevented a release
                        self._changed.acquire(timeout=0.5)
                reservation.amount = amount
                self._reserved.add(reservation)
            yield reservation
        finally:
            self._reserved.discard(reservation)
            reservation(0)


remote_memory = MemoryLimiter()
"""Limits the memory for chunks of remote stores, encoded and decoded, outside of results."""

call_after_fork(remote_memory.reset)
