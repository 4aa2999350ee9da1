"""Copies of all elements of an array, region by region, in limited memory."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from zarr_core.extension import ZarrError

from zarr_transfer.checkpoint import Checkpoint, Journal, erase_interrupted, resumed_chunks
from zarr_transfer.copy_region import (
    Memory,
    intermediate_array,
    intermediate_path,
    keeps_missing_chunks,
    plan_rechunk,
    read_region,
    regions_of,
    write_region,
)
from zarr_transfer.elements import as_dtype, difference
from zarr_transfer.errors import ElementsDifferError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array
    from zarr_core.tools import Reporter

    from zarr_transfer.copy_executor import CopyExecutor
    from zarr_transfer.rechunk import RechunkPlan, RechunkStage
    from zarr_transfer.regions import Coordinates, Region

    NDArray = np.ndarray[Any, Any]

_FEW = 16  # with at most so many stored objects, there is no checkpoint


def copy_elements(
    old: Array,
    new: Array,
    reporter: Reporter,
    *,
    path: str,
    memory: Memory | None = None,
    executor: CopyExecutor | None = None,
    verify: bool = False,
) -> Checkpoint:
    """Copy all elements of an array to another, whose metadata document is not stored yet.

    The caller must end the returned checkpoint after it stores the metadata.  Chunks that an
    earlier call with the same arguments completed are kept; others are removed first, since they
    may have another layout.  An executor copies only elements that keep their data type.  Raises
    NodeExistsError if there are keys that are neither chunks nor from an interrupted copy, and
    ElementsDifferError if elements do not fit into the data type or are not read back as they were.
    """
    if executor is not None and old.dtype == new.dtype:
        checkpoint = Checkpoint(old, new)
        existing = resumed_chunks(checkpoint, new)
        reporter.begin(path, old.size, "elements")
        executor.copy_elements(old, new, existing, reporter.advance)
        reporter.end()
        return checkpoint
    plan = plan_rechunk(old, new, memory or Memory())
    stages = _stages(old, new, plan)
    edges: list[Any] = [
        [[along.size, along.length, along.starts and [*along.starts]] for along in stage.plan.cuts]
        for stage in stages
    ]
    checkpoint = Checkpoint(old, new, edges, verify)
    journal = Journal(checkpoint)
    few = len(stages) == 1 and prod(new.cdata_shape) <= _FEW
    first = None if few else journal.begin()
    resumes = first is not None and not verify  # stored chunks may not have been compared
    if first is None:
        first = 0
        erase_interrupted(new)
        if not few:
            journal.start()
    reporter.begin(path, old.size * len(stages), "elements")
    reporter.advance(old.size * first)
    try:
        for number in range(first, len(stages)):
            stage = stages[number]
            copier = RegionCopier(stage.old, stage.new, verify=verify)
            existing = _stored(stage) if resumes else frozenset()
            for done, region in journal.left(number, _regions(stage)):
                if not (done or _is_stored(stage, region, existing)):
                    copier.copy(region)
                    journal.done(region, write=not few)
                reporter.advance(region.size)
    except BaseException:
        if not few:
            with suppress(ZarrError):  # the first error is raised
                journal.write()
        raise
    if len(stages) > 1:
        new.store.erase_prefix(f"{intermediate_path(new)}/")
    reporter.end()
    return checkpoint


class _Stage(NamedTuple):
    """All elements copied from one array to another."""

    old: Array
    new: Array
    plan: RechunkStage


def _stages(old: Array, new: Array, plan: RechunkPlan) -> list[_Stage]:
    """Return one stage, or two with an intermediate array."""
    if plan.between is None:
        return [_Stage(old, new, plan.stages[0])]
    middle = intermediate_array(old, new, plan.between)
    first, last = plan.stages
    return [_Stage(old, middle, first), _Stage(middle, new, last)]


def _regions(stage: _Stage) -> Iterator[Region]:
    """Return regions with stored chunks; all regions if missing chunks read as another value."""
    if not stage.old.size:
        return iter(())
    # Without erasing, a stored chunk cannot be replaced by a missing one.
    erasing = stage.new.store.traits.supports_erasing
    only_stored = erasing and keeps_missing_chunks(stage.old, stage.new)
    return regions_of(stage.plan, stage.old, only_stored=only_stored)


def _stored(stage: _Stage) -> frozenset[Coordinates]:
    """Return the coordinates of the chunks that an interrupted copy has stored."""
    if not stage.new.store.supports_listing:
        return frozenset()
    return frozenset(at for at, _ in stage.new.stored.stored_chunks())


def _is_stored(stage: _Stage, region: Region, existing: frozenset[Coordinates]) -> bool:
    """Whether all chunks of a region are stored."""
    return bool(existing) and all(at in existing for at in product(*stage.plan.objects_in(region)))


class RegionCopier:
    """Copies regions from one array to another; reuses memory, and verifies them if requested."""

    def __init__(self, old: Array, new: Array, *, verify: bool = False) -> None:
        self._old = old
        self._new = new
        self._verify = verify
        self._memory = np.empty(0, old.dtype)
        self._read_back = np.empty(0, new.dtype)

    def copy(self, region: Region) -> None:
        """Copy one region."""
        values, self._memory = _buffer(self._memory, self._old, region)
        read_region(region, self._old, values)
        if self._old.dtype != self._new.dtype:
            try:
                values = as_dtype(values, self._new.dtype)
            except ValueError as error:
                raise self._error(region, str(error)) from None
        write_region(region, self._old, self._new, values)
        if self._verify:
            stored, self._read_back = _buffer(self._read_back, self._new, region)
            self._new.get_basic_selection(region.box, out=stored)
            if why := difference(values, stored):
                raise self._error(region, why)

    def _error(self, region: Region, why: str) -> ElementsDifferError:
        bounds = tuple((part.start, part.stop) for part in region.box)
        return ElementsDifferError(self._new.stored.location, bounds, why)


def _buffer(memory: NDArray, array: Array, region: Region) -> tuple[NDArray, NDArray]:
    """Return an array for the elements of a region, and the memory to reuse."""
    if array.dtype.kind in "OT" or region.size > memory.size:
        memory = np.empty(region.size, array.dtype)
    return memory[: region.size].reshape(region.shape), memory
