"""Memory that a thread uses again for every chunk.

Fresh memory costs page faults, for large chunks more than decompression does.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import TracebackType

_SMALLEST = 1 << 16
_KEPT_BYTES = 1 << 24  # a larger buffer goes back to the system at once
_KEPT_BUFFERS = 4


class _Free(threading.local):
    def __init__(self) -> None:
        self.buffers: list[memoryview] = []


_free = _Free()


class scratch:  # noqa: N801 - used as a function is: with scratch(n) as memory
    """Borrow memory of this thread for a block.

    Parameters
    ----------
    nbytes : int
        How much is needed.

    Notes
    -----
    Gives a writable memoryview of format ``B`` and length ``nbytes``, with
    undefined content.  Blocks nest; what an inner block borrows is other memory.
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
