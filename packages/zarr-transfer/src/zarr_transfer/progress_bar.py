"""A progress bar on standard error, and notices of what is waited for."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from zarr_core.tools import escape_controls, longest_wait

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOK_SECONDS = 0.5  # between two looks at what is waited for
_LONG_SECONDS = 3.0  # of a wait that is named


class WaitNotices:
    """Writes for which server a call waits, once for each, after some seconds.

    Parameters
    ----------
    write : callable
        Writes a line; called in another thread.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="zarr-waits", daemon=True).start()

    def _watch(self) -> None:
        written: set[str] = set()
        while not self._closed.wait(_LOOK_SECONDS):
            seconds, what = longest_wait() or (0.0, "")
            if seconds >= _LONG_SECONDS and what not in written:
                written.add(what)
                self._write(f"waiting for {escape_controls(what)} ...\n")

    def close(self) -> None:
        """Write no further lines."""
        self._closed.set()


class ProgressBar:
    """A progress bar on standard error."""

    def __init__(self) -> None:
        self._length = 0
        self._notices = WaitNotices(self._note) if sys.stderr.isatty() else None

    def _note(self, line: str) -> None:
        sys.stderr.write(f"\r{line.rstrip().ljust(self._length)}\n")
        sys.stderr.flush()

    def __call__(self, progress: object) -> None:
        text = str(progress)
        sys.stderr.write("\r" + text.ljust(self._length))
        sys.stderr.flush()
        self._length = len(text)

    def close(self) -> None:
        """End the line."""
        if self._notices is not None:
            self._notices.close()
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()
