"""Decoding the chunks of an array, to encode them as those of another."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ZarrError

from zarr_formats.conversion.chunk_keys import ChunkKeys
from zarr_formats.conversion.elements import as_dtype, difference
from zarr_formats.conversion.errors import ElementsDifferError
from zarr_formats.conversion.laying_out import same_fill_value
from zarr_formats.conversion.memory import axes, intervals, opened
from zarr_formats.conversion.regions import all_boxes, boxes_of
from zarr_formats.conversion.resuming import Journal

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
        dest.store.erase_values(list(ChunkKeys.of(dest, step.path, new.metadata).others()))
        reporter.begin(step.path, old.size, "elements")
        workers.elements(old, new, frozenset(), reporter.advance)
        reporter.end()
        return
    cut = intervals(old, new, memory)
    journal = Journal(source, dest, step, cut)
    if not journal.begin():
        assert step.metadata is not None
        keys = ChunkKeys.of(dest, step.path, new.metadata)
        dest.store.erase_values(list(keys.others()))
    reporter.begin(step.path, old.size, "elements")
    boxes = _boxes(source, step.path, old, new, cut) if old.size else ()
    carrier = _Carrier(old, new, verify=verify)
    try:
        for done, box in journal.left(boxes):
            if not done:
                carrier.carry(box)
                journal.done(box)
            reporter.advance(prod(part.stop - part.start for part in box))
    except BaseException:
        with suppress(ZarrError):  # what stopped the work says more
            journal.write()
        raise
    journal.end()
    reporter.end()


def _boxes(
    source: Side, path: str, old: Array, new: Array, cut: Sequence[Intervals]
) -> Iterable[Box]:
    """Where there is something to be read; everywhere if missing chunks change their meaning."""
    keys = ChunkKeys.of(source, path, old.metadata)
    if keys.verbatim or not source.store.supports_listing:
        return all_boxes(cut)
    undefined = new.metadata.fill_value_undefined
    if undefined or not same_fill_value(old, new, undefined=True):
        return all_boxes(cut)
    return boxes_of((chunk for chunk, _ in keys.stored()), axes(old.metadata), cut)


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
