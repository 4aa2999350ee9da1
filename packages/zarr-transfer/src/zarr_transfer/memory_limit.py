"""Limiting the memory of concurrent tasks."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Reservation:
    """A reserved amount; call it to correct the amount."""

    def __init__(self, limiter: MemoryLimiter, amount: int) -> None:
        self.amount = amount
        self._limiter = limiter

    def __call__(self, amount: int) -> None:
        self._limiter.change(amount - self.amount)
        self.amount = amount


class MemoryLimiter:
    """Limits the total memory of concurrent tasks, in bytes; a single task is always allowed."""

    def __init__(self, limit: int) -> None:
        self.used = 0
        self._limit = limit
        self._inside = 0
        self._entrance = threading.Lock()
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, expected: Callable[[], int]) -> Iterator[Reservation]:
        """Reserve an expected amount within the block; wait until it is available."""
        # Only one task waits for the amount: otherwise small ones could overtake it forever.
        with self._entrance, self._changed:
            # The expected amount may change while waiting.
            while self.used + (amount := expected()) > self._limit and self._inside:
                self._changed.wait()
            self.used += amount
            self._inside += 1
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
