"""How far the decoding of an array has come, noted every few seconds."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import Note, RechunkingTask

_EVERY = 2.0  # seconds between notes


class Journal:
    """What is noted while boxes are gone through in their order.

    Parameters
    ----------
    note : Note
        The note beside the array: the stage, and where the last box that is done begins.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self._stage = 0
        self._last: list[int] | None = None
        self._when = monotonic()

    def begin(self) -> int | None:
        """The stage to go on with; None if there is nothing to go on from."""
        done: Any = self._note.begin()
        if done is None:
            return None
        self._stage, self._last = done
        return self._stage

    def left(
        self, stage: int, tasks: Iterable[RechunkingTask]
    ) -> Iterator[tuple[bool, RechunkingTask]]:
        """All boxes of a stage in their order, each with whether it is done."""
        if stage != self._stage:
            self._stage, self._last = stage, None
        last = self._last
        for task in tasks:
            yield last is not None and _start(task) <= last, task

    def done(self, task: RechunkingTask) -> None:
        """Note that a box, and all before it, is written."""
        self._last = _start(task)
        if monotonic() - self._when >= _EVERY:
            self.write()

    def write(self) -> None:
        """Store the note, if it says anything new."""
        self._when = monotonic()
        if self._last is not None:
            self._note.write([self._stage, [*self._last]])

    def end(self) -> None:
        """All is done; the document says so."""
        self._note.end()


def _start(task: RechunkingTask) -> list[int]:
    return [part.start for part in task.box]
