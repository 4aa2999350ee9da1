"""Progress of long operations."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_core.optional import optional_function
from zarr_core.printable import escape_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

_EVERY = 0.1  # seconds
_WIDTH = 24  # characters of the bar


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


class Reporter:
    """Calls a function a few times per second, in the thread that created the reporter.

    ``callback`` True draws a progress bar with zarr-transfer; ``nodes`` is the number of parts.
    """

    def __init__(self, callback: Callable[[Progress], object] | bool | None, nodes: int) -> None:
        self._bar: Any = optional_function("progress=True")() if callback is True else None
        self._callback = None if isinstance(callback, bool) else callback
        self._callback = self._bar or self._callback
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
        if self._callback is None:
            return
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

    def close(self) -> None:
        """Complete the operation, also after an error."""
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_heard(self) -> bool:
        """Whether there is a callback."""
        return self._callback is not None

    def _report(self, *, always: bool) -> None:
        if self._callback is None:
            return
        if always or monotonic() - self._last >= _EVERY:
            self._callback(self._now)
            self._last = monotonic()


@contextmanager
def reporting(
    callback: Callable[[Progress], object] | bool | None, path: str, total: int | None, unit: str
) -> Iterator[Reporter]:
    """Report an operation of one part; arguments as for Reporter and Progress."""
    with Reporter(callback, 1) as reporter:
        reporter.begin(path, total, unit)
        yield reporter
        reporter.end()
