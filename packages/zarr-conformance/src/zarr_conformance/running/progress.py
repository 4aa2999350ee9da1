"""A bar on a terminal that grows with what has been asked."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from zarr_conformance.running.run import Outcome

_EVERY = 0.1  # seconds between two drawings


class Progress:
    """Draws a bar, if there is a terminal; says nothing elsewhere.

    Parameters
    ----------
    name : str
        Of the implementation.
    total : int
        How many cases there are.
    stream : file, optional
        Where it is drawn; standard error by default.
    """

    def __init__(self, name: str, total: int, stream: TextIO | None = None) -> None:
        self._name = name
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._guard = threading.Lock()
        self._done = self._wrong = 0
        self._drawn = 0.0

    def __call__(self, outcome: Outcome) -> None:
        """Count one outcome; any thread may."""
        if not self._shown:
            return
        with self._guard:
            self._done += 1
            self._wrong += outcome.verdict.grade in ("fail", "crash")
            if time.monotonic() - self._drawn > _EVERY:
                self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        told = f" {self._done}/{self._total}" + (f", {self._wrong} wrong" if self._wrong else "")
        room = shutil.get_terminal_size().columns - len(self._name) - len(told) - 2
        width = max(0, min(40, room))
        full = width * self._done // max(1, self._total)
        bar = "━" * full + "╌" * (width - full)
        self._stream.write(f"\r\x1b[K{self._name} {bar}{told}")
        self._stream.flush()

    def close(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
