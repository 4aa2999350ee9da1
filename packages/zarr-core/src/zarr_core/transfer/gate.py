"""Holding what is in memory at a time below a limit."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Hold:
    """The part of a limit that someone has; called with what it really is."""

    def __init__(self, gate: Gate, amount: int) -> None:
        self.amount = amount
        self._gate = gate

    def __call__(self, amount: int) -> None:
        self._gate.change(amount - self.amount)
        self.amount = amount


class Gate:
    """Lets so many pass at a time that together they stay below a limit, or one alone.

    Parameters
    ----------
    limit : int
        The limit, in whatever is counted.
    """

    def __init__(self, limit: int) -> None:
        self.used = 0
        self._limit = limit
        self._inside = 0
        self._entrance = threading.Lock()
        self._changed = threading.Condition()

    @contextmanager
    def holding(self, expected: Callable[[], int]) -> Iterator[Hold]:
        """Wait until there is room for what is expected by then, and leave it again."""
        # One waits for room, the others for that one: else small ones would pass by for ever.
        with self._entrance, self._changed:
            while self._inside and self.used + expected() > self._limit:
                self._changed.wait()
            self.used += (amount := expected())
            self._inside += 1
        hold = Hold(self, amount)
        try:
            yield hold
        finally:
            with self._changed:
                self.used -= hold.amount
                self._inside -= 1
                self._changed.notify_all()

    def change(self, more: int) -> None:
        """Correct what was expected; who is inside does not wait."""
        with self._changed:
            self.used += more
            if more < 0:
                self._changed.notify_all()
