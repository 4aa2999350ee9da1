"""Copies of all elements of an array, region by region, in limited memory."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from zarr_core import array_from_metadata
from zarr_core.extension import ZarrError
from zarr_core.threads import parallel_for, thread_count

from zarr_transfer.checkpoint import (
    Checkpoint,
    Journal,
    erase_interrupted,
    resumed_chunks,
    sidecar_key,
)
from zarr_transfer.elements import as_dtype, difference, same_fill_value
from zarr_transfer.errors import ElementsDifferError
from zarr_transfer.rechunk import Budget, Chunking, edges_of, plan_stages
from zarr_transfer.regions import box_at, common, reached, regions_with, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array
    from zarr_core.extension import Store
    from zarr_core.optional import Reporter

    from zarr_transfer.copy_executor import CopyExecutor
    from zarr_transfer.rechunk import RechunkPlan, RechunkStage
    from zarr_transfer.regions import Coordinates, Region

    NDArray = np.ndarray[Any, Any]


BUFFER = 1 << 26
"""Default size of a region in bytes; a larger chunk or shard is one region."""
_FEW = 16  # stored objects below which single requests are faster than listing
_PIECES = "-pieces"  # suffix of the path of the intermediate array
_COMPRESSORS = (
    {
        "name": "blosc",
        "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0},
    },
    "auto",
    None,
)  # the first that is installed is used


def plan_rechunk(
    old: Array, new: Array, max_memory: int | None = None, *, verify: bool = False
) -> RechunkPlan:
    """Return the plan for copying an array; raise ValueError if a chunk needs more memory."""
    source, dest = (Chunking.of(array, thread_count()) for array in (old, new))
    copies = 1 + verify + (old.dtype != new.dtype)  # of the elements of a region
    most = copies * BUFFER if max_memory is None else max_memory
    between, firm = supports_intermediate(old, new.store), max_memory is not None
    return plan_stages(source, dest, Budget(most, copies, between=between, firm=firm))


def regions_of(stage: RechunkStage, source: Array, *, only_stored: bool) -> Iterator[Region]:
    """Return the regions of a stage.

    Parameters
    ----------
    stage : RechunkStage
        The stage.
    source : Array
        The array to read.
    only_stored : bool
        Whether to omit regions without stored chunks, if the store supports listing.
    """
    if (
        not only_stored
        or not source.store.supports_listing
        or source.metadata.storage_transformers
        or source.stored.missing_is_error
        or prod(source.cdata_shape) <= _FEW
    ):
        return stage.tasks()
    stored = (chunk for chunk, _ in source.stored.stored_chunks())
    return regions_with(stored, edges_of(source), stage.cuts)


def supports_intermediate(source: Array, store: Store) -> bool:
    """Whether an intermediate array can be stored and removed.

    It has no metadata, which some stores require before chunks, and its elements must have a
    fixed size.
    """
    return (
        store.traits.supports_erasing
        and store.supports_listing
        and not store.traits.metadata_first
        and source.dtype.kind not in "OT"
    )


def intermediate_path(new: Array) -> str:
    """Return the path of the intermediate array, next to the chunks of the destination."""
    return sidecar_key(new, _PIECES)


def intermediate_array(
    old: Array,
    new: Array,
    shape: tuple[int, ...],
    store: Store | None = None,
    path: str | None = None,
) -> Array:
    """Create the intermediate array; its metadata document is not stored.

    Parameters
    ----------
    old, new : Array
        The source and the destination.
    shape : tuple of int
        Shape of its chunks.
    store : Store, optional
        Its store; by default that of ``new``.
    path : str, optional
        Its path; by default next to the chunks of ``new``.
    """
    store = new.store if store is None else store
    path = intermediate_path(new) if path is None else path
    for compressors in _COMPRESSORS:
        with suppress(ZarrError):
            return array_from_metadata(
                store, path=path, shape=old.shape, dtype=old.dtype, chunks=shape,
                fill_value=old.fill_value, compressors=compressors,
            )  # fmt: skip
    raise AssertionError("arrays without compressors need no extension")


def keeps_missing_chunks(source: Array, dest: Array) -> bool:
    """Whether chunks that are missing in one array can be missing in the other.

    This is the case if both read as the same value, bit by bit.
    """
    if dest.metadata.fill_value_undefined:  # every chunk is stored
        return False
    return same_fill_value(source.stored.resolved.fill_value, dest.stored.resolved.fill_value)


def read_region(task: Region, source: Array, out: NDArray) -> None:
    """Read the elements of a region, without requests for missing chunks.

    Parameters
    ----------
    task : Region
        The region.
    source : Array
        The array to read.
    out : ndarray
        Receives the elements; has the shape of the region.
    """
    if task.stored is None:
        source.get_basic_selection(task.box, out=out)
        return
    out[...] = source.stored.resolved.fill_value
    cuts = edges_of(source)

    def part(chunk: Coordinates) -> None:
        box = common(box_at(cuts, chunk), task.box)
        source.get_basic_selection(box, out=out[within(box, task.box)])

    max_concurrency = source.store.max_concurrency
    parallel_for(task.stored, part, True if max_concurrency else None, max_concurrency)


def write_region(task: Region, source: Array, dest: Array, values: NDArray) -> None:
    """Write the elements of a region of which no chunk is stored.

    Parameters
    ----------
    task : Region
        The region.
    source : Array
        The array that was read.
    dest : Array
        The array to write.
    values : ndarray
        The elements, of the shape of the region.
    """
    if task.stored is None:
        dest.set_basic_selection(task.box, values)
        return
    cuts, source_edges = edges_of(dest), edges_of(source)
    boxes = (common(box_at(source_edges, chunk), task.box) for chunk in task.stored)
    objects = {at for box in boxes for at in product(*reached(cuts, box))}

    def part(at: Coordinates) -> None:
        box = box_at(cuts, at)
        dest.set_basic_selection(box, values[within(box, task.box)])

    max_concurrency = dest.store.max_concurrency
    parallel_for(sorted(objects), part, True if max_concurrency else None, max_concurrency)


_FEW = 16  # with at most so many stored objects, there is no checkpoint


def copy_elements(
    old: Array,
    new: Array,
    reporter: Reporter,
    *,
    path: str,
    max_memory: int | None = None,
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
    plan = plan_rechunk(old, new, max_memory, verify=verify)
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
