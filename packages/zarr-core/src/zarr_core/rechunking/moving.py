"""Elements of a box taken from one array to another, where there are any."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.engine.fill import fill_test
from zarr_core.rechunking.boxes import box_at, common, reached, tasks_with, within
from zarr_core.rechunking.stages import cuts_of
from zarr_core.threads import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from zarr_core.hierarchy.array import Array
    from zarr_core.interfaces.store import Store
    from zarr_core.rechunking.boxes import Coordinates, Task
    from zarr_core.rechunking.stages import Stage

    NDArray = np.ndarray[Any, Any]

_FEW = 16  # stored objects of which one is asked for each sooner than for a listing


def tasks_of(stage: Stage, source: Array, *, only_stored: bool) -> Iterator[Task]:
    """The tasks of a stage.

    Parameters
    ----------
    stage : Stage
        The boxes.
    source : Array
        What is read.
    only_stored : bool
        Whether a box can be left out if nothing of it is stored.

    Notes
    -----
    The store is listed, if it can be, and boxes with nothing in them are left out.
    """
    if (
        not only_stored
        or not source.store.supports_listing
        or source.metadata.storage_transformers
        or source._missing_is_error
        or prod(source.cdata_shape) <= _FEW
    ):
        return stage.tasks()
    stored = (chunk for chunk, _ in source.stored_chunks())
    return tasks_with(stored, cuts_of(source), stage.cuts)


def may_have_pieces(source: Array, store: Store) -> bool:
    """Whether an array in between can be kept in a store, and removed again.

    What elements of variable size take is not known well enough.
    """
    return store.supports_erasing and store.supports_listing and source.dtype.kind not in "OT"


def missing_stay_missing(source: Array, dest: Array) -> bool:
    """Whether what is not stored of one array need not be stored of the other.

    It need not if both are read as the same there, bit by bit.
    """
    if dest.metadata.fill_value_undefined:  # then every chunk is stored
        return False
    one, other = source._binding.fill_value, dest._binding.fill_value
    return one.dtype == other.dtype and fill_test(one)(other)


def read_task(task: Task, source: Array, out: NDArray) -> None:
    """Read the elements of a box; what is known not to be there is not asked for.

    Parameters
    ----------
    task : Task
        The box.
    source : Array
        What is read.
    out : ndarray
        Receives them; of the shape of the box.
    """
    if task.stored is None:
        source.get_basic_selection(task.box, out=out)
        return
    out[...] = source._binding.fill_value
    cuts = cuts_of(source)

    def part(chunk: Coordinates) -> None:
        box = common(box_at(cuts, chunk), task.box)
        source.get_basic_selection(box, out=out[within(box, task.box)])

    requests = source.store.requests
    run(task.stored, part, True if requests else None, requests)


def write_task(task: Task, source: Array, dest: Array, values: NDArray) -> None:
    """Write the elements of a box, of which nothing is stored yet.

    Parameters
    ----------
    task : Task
        The box.
    source : Array
        What was read.
    dest : Array
        What is written.
    values : ndarray
        The elements, of the shape of the box.
    """
    if task.stored is None:
        dest.set_basic_selection(task.box, values)
        return
    cuts, there = cuts_of(dest), cuts_of(source)
    boxes = (common(box_at(there, chunk), task.box) for chunk in task.stored)
    objects = {at for box in boxes for at in product(*reached(cuts, box))}

    def part(at: Coordinates) -> None:
        box = box_at(cuts, at)
        dest.set_basic_selection(box, values[within(box, task.box)])

    requests = dest.store.requests
    run(sorted(objects), part, True if requests else None, requests)
