"""Telling how far something has come that takes a while."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

_EVERY = 0.1  # seconds
_WIDTH = 24  # characters of the bar


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something has come that takes a while, such as a copy.

    Parameters
    ----------
    path : str
        The node that is being worked on, below the one that was asked for.
    done : int
        How much of it is done.
    total : int or None
        How much there is to do; None if that is not known.
    unit : str
        What is counted: ``"keys"`` that are copied or removed; ``"chunks"`` of a
        conversion, or ``"elements"`` where chunks are decoded; ``"nodes"`` of which the
        documents are read.
    node, nodes : int
        Which part of the work it is, counted from 1; how many there are.
    nbytes : int
        Bytes that were stored until now, where they are counted.
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
        return f"{self.node}/{self.nodes} /{self.path}  {amount}"


class Reporter:
    """Calls back a few times a second, always from the thread that made the reporter.

    Parameters
    ----------
    callback : callable, True or None
        What to call; True to draw a line on standard error.
    nodes : int
        How many parts there are.
    """

    def __init__(self, callback: Callable[[Progress], object] | bool | None, nodes: int) -> None:
        self._line: _Line | None = None
        if callback is True:
            self._line = callback = _Line()
        self._callback = callback or None
        self._now = Progress("", 0, None, "chunks", 0, nodes)
        self._last = -_EVERY
        self._guard = threading.Lock()
        self._thread = threading.get_ident()

    def begin(self, path: str, total: int | None, unit: str) -> None:
        """Go on to the next part."""
        now = self._now
        self._now = Progress(path, 0, total, unit, now.node + 1, now.nodes, now.nbytes)
        self._tell(always=False)

    def advance(self, count: int, nbytes: int = 0) -> None:
        """More of the part is done; any thread may say so."""
        if self._callback is None:
            return
        with self._guard:
            now = self._now
            self._now = replace(now, done=now.done + count, nbytes=now.nbytes + nbytes)
        if threading.get_ident() == self._thread:
            self._tell(always=False)

    def end(self) -> None:
        """The part is done."""
        now = self._now
        total = now.total or now.done  # perhaps less was there than might have been
        self._now = replace(now, done=total, total=total)
        self._tell(always=now.node == now.nodes or now.done > 0)

    def close(self) -> None:
        """It is over, in one way or the other."""
        if self._line is not None:
            self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_heard(self) -> bool:
        """Whether anybody wants to know."""
        return self._callback is not None

    def _tell(self, *, always: bool) -> None:
        if self._callback is None:
            return
        if always or monotonic() - self._last >= _EVERY:
            self._callback(self._now)
            self._last = monotonic()


@contextmanager
def reporting(
    callback: Callable[[Progress], object] | bool | None, path: str, total: int | None, unit: str
) -> Iterator[Reporter]:
    """Report a work of one part from its beginning to its end.

    Parameters
    ----------
    callback : callable, True or None
        As for :class:`Reporter`.
    path, total, unit
        As :class:`Progress` has them.
    """
    with Reporter(callback, 1) as reporter:
        reporter.begin(path, total, unit)
        yield reporter
        reporter.end()


class _Line:
    """One line on standard error that is drawn again and again."""

    def __init__(self) -> None:
        self._length = 0

    def __call__(self, progress: Progress) -> None:
        text = str(progress)
        sys.stderr.write("\r" + text.ljust(self._length))
        sys.stderr.flush()
        self._length = len(text)

    def close(self) -> None:
        """Leave the line standing."""
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()
