"""The last progress report of a long operation."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_transfer import Progress

    from zarr_cli.progress import ProgressOutput


class LastProgress:
    """A progress callback that forwards reports and keeps the last one.

    Parameters
    ----------
    draw : callable or None
        The callback that draws the bar.
    """

    def __init__(self, draw: Callable[[Progress], object] | None) -> None:
        self._draw = draw
        self.last: Progress | None = None

    def __call__(self, now: Progress) -> None:
        self.last = now
        if self._draw is not None:
            self._draw(now)

    @property
    def keys(self) -> int:
        """The number of keys that were copied or already existed."""
        return 0 if self.last is None else self.last.done

    @property
    def nbytes(self) -> int:
        """The number of bytes that were stored."""
        return 0 if self.last is None else self.last.nbytes


@contextmanager
def watch_progress(progress: ProgressOutput, title: str) -> Iterator[LastProgress]:
    """Draw a bar if requested, and yield its last report."""
    with progress.bar(title) as draw:
        yield LastProgress(draw)
