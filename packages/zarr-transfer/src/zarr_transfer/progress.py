"""Progress and logs of long operations, and notices of what is waited for."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_core.extension import escape_controls
from zarr_core.optional import Reporter
from zarr_core.threads import longest_wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_transfer.copy_executor import CopyResult


_EVERY = 0.1  # seconds
_WIDTH = 24  # characters of the bar
_LOOK_SECONDS = 0.5  # between two looks at what is waited for
_LONG_SECONDS = 3.0  # of a wait that is named


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a long operation, such as a copy.

    Parameters
    ----------
    path : str
        The present node, relative to the node of the operation.
    done : int
        Completed units of this node.
    total : int or None
        All units of this node; None if unknown.
    unit : str
        ``"keys"`` that are copied or removed; ``"chunks"`` of a conversion, or ``"elements"`` if
        chunks are decoded; ``"nodes"`` whose metadata is read.
    node, nodes : int
        Number of the present part of the operation, from 1, and number of parts.
    nbytes : int
        Bytes stored so far, if they are counted.
    """

    path: str
    done: int
    total: int | None
    unit: str
    node: int
    nodes: int
    nbytes: int = 0

    def __str__(self) -> str:
        if self.total:
            share = min(1.0, self.done / self.total)
            filled = round(share * _WIDTH)
            amount = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {share:4.0%}"
        else:
            amount = f"{self.done} {self.unit}"
        return f"{self.node}/{self.nodes} /{escape_controls(self.path)}  {amount}"


class ProgressReporter(Reporter):
    """Calls a function a few times per second, in the thread that created the reporter.

    ``callback`` True draws a progress bar; ``nodes`` is the number of parts.
    """

    def __init__(self, callback: Callable[[Progress], object] | bool, nodes: int) -> None:
        self._bar = ProgressBar() if isinstance(callback, bool) else None
        self._callback = self._bar if isinstance(callback, bool) else callback
        self._now = Progress("", 0, None, "chunks", 0, nodes)
        self._last = -_EVERY
        self._guard = threading.Lock()
        self._thread = threading.get_ident()

    def begin(self, path: str, total: int | None, unit: str) -> None:
        """Begin the next part."""
        now = self._now
        self._now = Progress(path, 0, total, unit, now.node + 1, now.nodes, now.nbytes)
        self._report(always=False)

    def advance(self, count: int, nbytes: int = 0) -> None:
        """Add completed units; can be called from any thread."""
        with self._guard:
            now = self._now
            self._now = replace(now, done=now.done + count, nbytes=now.nbytes + nbytes)
        if threading.get_ident() == self._thread:
            self._report(always=False)

    def end(self) -> None:
        """Complete the part."""
        now = self._now
        total = now.total or now.done  # the total can be an upper bound
        self._now = replace(now, done=total, total=total)
        self._report(always=now.node == now.nodes or now.done > 0)

    def __exit__(self, *_: object) -> None:
        """Complete the operation, also after an error."""
        if self._bar is not None:
            self._bar.close()

    def _report(self, *, always: bool) -> None:
        if self._callback is not None and (always or monotonic() - self._last >= _EVERY):
            self._callback(self._now)
            self._last = monotonic()


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
    """A progress bar on standard error; on a terminal, it names servers that do not answer."""

    def __init__(self, title: str = "", *, notices: bool = True) -> None:
        self._title = title
        self._length = 0
        self._notices = WaitNotices(self._note) if notices and sys.stderr.isatty() else None

    def _note(self, line: str) -> None:
        sys.stderr.write(f"\r{line.rstrip().ljust(self._length)}\n")
        sys.stderr.flush()

    def __call__(self, progress: Progress) -> None:
        text = f"{self._title}{progress}"
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


@contextmanager
def logging_to(log: Any) -> Iterator[Callable[[str], object]]:
    """Return a function that writes lines to a callable, path, file or None."""
    if log is None:
        yield lambda line: None
    elif callable(log):
        yield log
    elif isinstance(log, str | os.PathLike):
        with open(log, "w", encoding="utf-8") as file:
            yield _writer(file)
    elif hasattr(log, "write"):
        yield _writer(log)
    else:
        raise TypeError(f"log must be a callable, a path or a file, not {log!r}")


def _writer(file: Any) -> Callable[[str], object]:
    def write(line: str) -> None:
        file.write(f"{escape_controls(line)}\n")
        if hasattr(file, "flush"):
            file.flush()  # for users that follow the log

    return write


def summary(done: CopyResult, *, dry_run: bool) -> str:
    """Return the last line of a log."""
    line = f"{done.copied:,} copied, {done.skipped:,} skipped"
    return f"dry run: {line}" if dry_run else f"all done: {line}, {done.nbytes:,} bytes copied"
