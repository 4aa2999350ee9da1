"""Memory that a thread reuses for every chunk.

New memory causes page faults, which take longer than decompression for large chunks.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import TracebackType

_SMALLEST = 1 << 16
_KEPT_BYTES = 1 << 24  # larger buffers are freed at once
_KEPT_BUFFERS = 4


class _Free(threading.local):
    def __init__(self) -> None:
        self.buffers: list[memoryview] = []


_free = _Free()


class scratch:  # noqa: N801 - used as a function is: with scratch(n) as memory
    """Borrow memory of this thread for a block.

    The block gets a writable memoryview of format ``B`` and length ``nbytes``, with undefined
    content.  Nested blocks get different memory.
    """

    __slots__ = ("_buffer", "_nbytes")

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes

    def __enter__(self) -> memoryview:
        free = _free.buffers
        nbytes = self._nbytes
        buffer = free.pop() if free else None
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
        free = _free.buffers
        if len(self._buffer) <= _KEPT_BYTES and len(free) < _KEPT_BUFFERS:
            free.append(self._buffer)
