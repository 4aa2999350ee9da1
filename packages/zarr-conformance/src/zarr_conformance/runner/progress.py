"""Progress on the terminal."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from zarr_conformance.runner.run import Outcome

_EVERY = 0.1  # seconds between updates


class Progress:
    """A line with the number of judged and failed cases; does nothing without a terminal.

    Parameters
    ----------
    name : str
        The name of the implementation.
    total : int
        The number of cases.
    stream : file, optional
        The output; standard error by default.
    """

    def __init__(self, name: str, total: int, stream: TextIO | None = None) -> None:
        self._name = name
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._guard = threading.Lock()
        self._done = self._failed = 0
        self._drawn = 0.0

    def __call__(self, outcome: Outcome) -> None:
        """Count an outcome; thread-safe."""
        if not self._shown:
            return
        with self._guard:
            self._done += 1
            self._failed += outcome.verdict.grade in ("fail", "crash")
            if time.monotonic() - self._drawn > _EVERY:
                self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        failed = f", {self._failed} failed" if self._failed else ""
        self._stream.write(f"\r\x1b[K{self._name} {self._done}/{self._total}{failed}")
        self._stream.flush()

    def close(self) -> None:
        """Remove the line."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
