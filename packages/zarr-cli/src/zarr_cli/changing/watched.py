"""How much was done, as the last report of a long operation says."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core import Progress

    from zarr_cli.progress import Progressing


class Watched:
    """Takes reports, passes them on, keeps the last.

    Parameters
    ----------
    drawn : callable or None
        What draws them.
    """

    def __init__(self, drawn: Callable[[Progress], object] | None) -> None:
        self._drawn = drawn
        self.last: Progress | None = None

    def __call__(self, now: Progress) -> None:
        self.last = now
        if self._drawn is not None:
            self._drawn(now)

    @property
    def keys(self) -> int:
        """Keys that were copied, or found to be there already."""
        return 0 if self.last is None else self.last.done

    @property
    def nbytes(self) -> int:
        """Bytes that were stored."""
        return 0 if self.last is None else self.last.nbytes


@contextmanager
def watched(progress: Progressing, title: str) -> Iterator[Watched]:
    """A bar, if one is wanted, with what it was told last."""
    with progress.bar(title) as drawn:
        yield Watched(drawn)
