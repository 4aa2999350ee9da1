"""Decoding the chunks of an array, to encode them as those of another.

The boxes are those of ``zarr_core.rechunking``, as for copies.  Apart from these, elements may
change their data type here, and are compared; so boxes are done in order, and the note says
which was the last.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from zarr_core.extension import (
    Note,
    ZarrError,
    beside,
    leftovers,
    read_task,
    tasks_of,
    write_task,
)

from zarr_formats.conversion.elements import as_dtype, difference
from zarr_formats.conversion.errors import ElementsDifferError
from zarr_formats.conversion.laying_out import same_fill_value
from zarr_formats.conversion.memory import opened, planned
from zarr_formats.conversion.pieces import array_of_pieces
from zarr_formats.conversion.resuming import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array
    from zarr_core.extension import (
        Carrier,
        ProgressReporter,
        RechunkingPlan,
        RechunkingStage,
        RechunkingTask,
    )

    from zarr_formats.conversion.steps import Memory, Side, Step

    NDArray = np.ndarray[Any, Any]


def recode(
    source: Side,
    dest: Side,
    step: Step,
    reporter: ProgressReporter,
    memory: Memory,
    workers: Carrier | None = None,
    *,
    verify: bool = False,
) -> None:
    """Write the chunks of an array anew.

    Parameters
    ----------
    source, dest, step
        What is converted.
    reporter : ProgressReporter
        Is told how many elements are done.
    memory : Memory
        What may be held.
    workers : Carrier, optional
        Who moves the elements, if they keep their data type; by default this process.
    verify : bool
        Whether everything is read back and compared.

    Raises
    ------
    ElementsDifferError
        If elements are not read back as they were, or do not fit into the data type.

    Notes
    -----
    What an earlier call of the same conversion has noted as done is left.  Other chunks
    that lie at the target and have no document are removed first, as some may belong to
    another layout.
    """
    old, new = opened(source, step, read_only=True), opened(dest, step, read_only=False)
    if workers is not None and old.dtype == new.dtype:
        note = Note(old, new)
        there = _left_by(note, new)
        reporter.begin(step.path, old.size, "elements")
        workers.elements(old, new, there, reporter.advance)
        note.end()
        reporter.end()
        return
    plan = planned(old, new, memory)
    stages = _stages(old, new, plan)
    boxes: list[Any] = [
        [[along.size, along.length, along.starts and [*along.starts]] for along in stage.boxes.cuts]
        for stage in stages
    ]
    journal = Journal(Note(old, new, boxes, verify))
    first = journal.begin()
    if first is None:
        first = 0
        new.store.erase_values(leftovers(new))
    reporter.begin(step.path, old.size * len(stages), "elements")
    reporter.advance(old.size * first)
    try:
        for number in range(first, len(stages)):
            carrier = _Carrier(stages[number].old, stages[number].new, verify=verify)
            for done, task in journal.left(number, _tasks(stages[number])):
                if not done:
                    carrier.carry(task)
                    journal.done(task)
                reporter.advance(task.size)
    except BaseException:
        with suppress(ZarrError):  # what stopped the work says more
            journal.write()
        raise
    if len(stages) > 1:
        new.store.erase_prefix(f"{beside(new, '-pieces')}/")
    journal.end()
    reporter.end()


class _Stage(NamedTuple):
    """All elements taken from one array to another."""

    old: Array
    new: Array
    boxes: RechunkingStage


def _stages(old: Array, new: Array, plan: RechunkingPlan) -> list[_Stage]:
    """The way from one array to the other: at once, or by way of pieces."""
    if plan.between is None:
        return [_Stage(old, new, plan.stages[0])]
    middle = array_of_pieces(old, new, plan.between)
    first, last = plan.stages
    return [_Stage(old, middle, first), _Stage(middle, new, last)]


def _left_by(note: Note, new: Array) -> frozenset[tuple[int, ...]]:
    """What the same conversion has stored before; what others left is removed."""
    if not new.store.supports_listing:
        return frozenset()
    if note.begin():
        return frozenset(at for at, _ in new.stored_chunks())
    new.store.erase_values(leftovers(new))
    note.write(True)
    return frozenset()


def _tasks(stage: _Stage) -> Iterator[RechunkingTask]:
    """Where there is something to be read; everywhere if missing chunks change their meaning."""
    stays = not stage.new.metadata.fill_value_undefined and same_fill_value(
        stage.old, stage.new, undefined=True
    )
    if not stage.old.size:
        return iter(())
    return tasks_of(stage.boxes, stage.old, only_stored=stays)


class _Carrier:
    """Takes elements from one array to another, all boxes in the same memory.

    Parameters
    ----------
    old, new : Array
        From where, where to.
    verify : bool
        Whether what was written is read back.
    """

    def __init__(self, old: Array, new: Array, *, verify: bool) -> None:
        self._old = old
        self._new = new
        self._verify = verify
        self._memory = np.empty(0, old.dtype)
        self._read_back = np.empty(0, new.dtype)

    def carry(self, task: RechunkingTask) -> None:
        """Read, write and perhaps compare one box."""
        values, self._memory = _room(self._memory, self._old, task)
        read_task(task, self._old, values)
        if self._old.dtype != self._new.dtype:
            try:
                values = as_dtype(values, self._new.dtype)
            except ValueError as error:
                raise self._error(task, str(error)) from None
        write_task(task, self._old, self._new, values)
        if self._verify:
            found, self._read_back = _room(self._read_back, self._new, task)
            self._new.get_basic_selection(task.box, out=found)
            if why := difference(values, found):
                raise self._error(task, why)

    def _error(self, task: RechunkingTask, why: str) -> ElementsDifferError:
        bounds = tuple((part.start, part.stop) for part in task.box)
        return ElementsDifferError(f"{self._new.store} {self._new.name!r}", bounds, why)


def _room(memory: NDArray, array: Array, task: RechunkingTask) -> tuple[NDArray, NDArray]:
    """An array for the elements of a box, in memory that is kept if elements have one size."""
    if array.dtype.kind in "OT" or task.size > memory.size:
        memory = np.empty(task.size, array.dtype)
    return memory[: task.size].reshape(task.shape), memory
