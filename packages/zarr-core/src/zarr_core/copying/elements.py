"""Elements of an array stored in another by this process, in memory that is limited.

Whole stored objects are written, in any order: which are there is told by a listing, as it is
for carriers.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from zarr_core.formats.detect import format_named
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.create import create_array
from zarr_core.hierarchy.from_metadata import node
from zarr_core.rechunking.moving import (
    may_have_pieces,
    missing_stay_missing,
    read_task,
    tasks_of,
    write_task,
)
from zarr_core.rechunking.note import beside
from zarr_core.rechunking.stages import Budget, Chunking, plan_stages
from zarr_core.stores.memory import MemoryStore
from zarr_core.threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.interfaces.progress import Reporter
    from zarr_core.rechunking.stages import Stage

    Coordinates = tuple[int, ...]

_BUFFER = 1 << 26
"""Bytes of elements that are held at a time, unless a stored object has more."""


def move_elements(
    old: Array, new: Array, there: frozenset[Coordinates], reporter: Reporter
) -> None:
    """Store all elements of an array in another.

    Parameters
    ----------
    old, new : Array
        What is read, what is written; nothing is stored of it but what is there.
    there : frozenset of tuple of int
        Grid coordinates of the stored objects that hold what they are to hold.
    reporter : Reporter
        Is told how many elements are there.
    """
    source, dest = (Chunking.of(array, thread_count()) for array in (old, new))
    budget = Budget(_BUFFER, between=may_have_pieces(old, new.store), firm=False)
    plan = plan_stages(source, dest, budget)
    reporter.begin(new.path, old.size * len(plan.stages), "elements")
    if not old.size:
        return
    if plan.between is None:
        _move(plan.stages[0], old, new, there, reporter.advance)
        return
    pieces = _array_of_pieces(old, new, plan.between)
    pieces.store.erase_prefix(f"{pieces.path}/")
    first, last = plan.stages
    _move(first, old, pieces, frozenset(), reporter.advance)
    _move(last, pieces, new, there, reporter.advance)
    pieces.store.erase_prefix(f"{pieces.path}/")


def _move(
    stage: Stage,
    old: Array,
    new: Array,
    there: frozenset[Coordinates],
    done: Callable[[int], object],
) -> None:
    # What lay where a chunk of fill values is to be cannot be removed by every store.
    only_stored = new.store.supports_erasing and missing_stay_missing(old, new)
    memory = np.empty(0, old.dtype)
    for task in tasks_of(stage, old, only_stored=only_stored):
        if not (there and all(at in there for at in product(*stage.objects_in(task)))):
            if task.size > memory.size or old.dtype.kind in "OT":
                memory = np.empty(task.size, old.dtype)
            values = memory[: task.size].reshape(task.shape)
            read_task(task, old, values)
            write_task(task, old, new, values)
        done(task.size)


def _array_of_pieces(old: Array, new: Array, shape: tuple[int, ...]) -> Array:
    """An array beside the chunks of another, whose document is never stored."""
    made = create_array(
        MemoryStore(), shape=old.shape, dtype=old.dtype, chunks=shape, fill_value=old.fill_value
    )
    found = node(new.store, beside(new, "-pieces"), format_named(3), made.metadata, read_only=False)
    assert isinstance(found, Array), "the metadata are those of an array"
    return found
