"""Decoding the chunks of an array, to encode them as those of another."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from zarr_core.extension import ZarrError

from zarr_formats.conversion.chunk_keys import ChunkKeys
from zarr_formats.conversion.elements import as_dtype, difference
from zarr_formats.conversion.errors import ElementsDifferError
from zarr_formats.conversion.laying_out import same_fill_value
from zarr_formats.conversion.memory import axes, intervals, opened
from zarr_formats.conversion.pieces import pieces, place
from zarr_formats.conversion.regions import all_boxes, boxes_of
from zarr_formats.conversion.resuming import NAME, Journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core import Array
    from zarr_core.extension import Carrier, ProgressReporter

    from zarr_formats.conversion.regions import Box, Intervals
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
        dest.store.erase_values(_leftovers(dest, step, new))
        reporter.begin(step.path, old.size, "elements")
        workers.elements(old, new, frozenset(), reporter.advance)
        reporter.end()
        return
    stages = _stages(old, new, dest, step, memory)
    journal = Journal(source, dest, step, [stage.cut for stage in stages], verify=verify)
    first = journal.begin()
    if first is None:
        first = 0
        dest.store.erase_values(_leftovers(dest, step, new))
    reporter.begin(step.path, old.size * len(stages), "elements")
    reporter.advance(old.size * first)
    try:
        for number in range(first, len(stages)):
            stage = stages[number]
            carrier = _Carrier(stage.old, stage.new, verify=verify)
            boxes = _boxes(source, step.path, old, stage) if old.size else ()
            for done, box in journal.left(number, boxes):
                if not done:
                    carrier.carry(box)
                    journal.done(box)
                reporter.advance(prod(part.stop - part.start for part in box))
    except BaseException:
        with suppress(ZarrError):  # what stopped the work says more
            journal.write()
        raise
    if len(stages) > 1:
        dest.store.erase_prefix(f"{place(dest, step.path)}/")
    journal.end()
    reporter.end()


class _Stage(NamedTuple):
    """All elements taken from one array to another."""

    old: Array
    new: Array
    cut: Sequence[Intervals]


def _stages(old: Array, new: Array, dest: Side, step: Step, memory: Memory) -> list[_Stage]:
    """The way from one array to the other: at once, or by way of pieces."""
    last = intervals(old, new, memory)
    cut = pieces(old, new, dest, memory)
    if cut is None:
        return [_Stage(old, new, last)]
    middle = cut.array(old, dest, step.path)
    return [_Stage(old, middle, cut.boxes), _Stage(middle, new, last)]


def _leftovers(dest: Side, step: Step, new: Array) -> list[str]:
    """Keys that would be taken for chunks; notes and pieces of conversions that were stopped."""
    if not dest.store.supports_listing:
        return []
    keys = ChunkKeys.of(dest, step.path, new.metadata)
    beside = keys.prefix + NAME
    listed = dest.store.list_prefix(keys.prefix)
    return [key for key in listed if keys.chunk_of(key) is not None or key.startswith(beside)]


def _boxes(source: Side, path: str, old: Array, stage: _Stage) -> Iterable[Box]:
    """Where there is something to be read; everywhere if missing chunks change their meaning."""
    keys = ChunkKeys.of(source, path, old.metadata)
    if keys.verbatim or not source.store.supports_listing:
        return all_boxes(stage.cut)
    undefined = stage.new.metadata.fill_value_undefined
    if undefined or not same_fill_value(old, stage.new, undefined=True):
        return all_boxes(stage.cut)
    return boxes_of((chunk for chunk, _ in keys.stored()), axes(old.metadata), stage.cut)


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

    def carry(self, box: Box) -> None:
        """Read, write and perhaps compare one box."""
        values, self._memory = _room(self._memory, self._old, box)
        self._old.get_basic_selection(box, out=values)
        if self._old.dtype != self._new.dtype:
            try:
                values = as_dtype(values, self._new.dtype)
            except ValueError as error:
                raise self._error(box, str(error)) from None
        self._new.set_basic_selection(box, values)
        if self._verify:
            found, self._read_back = _room(self._read_back, self._new, box)
            self._new.get_basic_selection(box, out=found)
            if why := difference(values, found):
                raise self._error(box, why)

    def _error(self, box: Box, why: str) -> ElementsDifferError:
        bounds = tuple((part.start, part.stop) for part in box)
        return ElementsDifferError(f"{self._new.store} {self._new.name!r}", bounds, why)


def _room(memory: NDArray, array: Array, box: Box) -> tuple[NDArray, NDArray]:
    """An array for the elements of a box, in memory that is kept if elements have one size."""
    shape = tuple(part.stop - part.start for part in box)
    if array.dtype.kind in "OT" or prod(shape) > memory.size:
        memory = np.empty(prod(shape), array.dtype)
    return memory[: prod(shape)].reshape(shape), memory
