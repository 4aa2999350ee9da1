"""Copies of all elements of an array, region by region, in limited memory."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from zarr_core import array_from_metadata
from zarr_core.extension import ZarrError
from zarr_core.names import CHECKPOINT_NAME, join
from zarr_core.threads import in_one_thread, parallel_for, thread_count

from zarr_transfer.checkpoint import Checkpoint, erase_interrupted, sidecar_key
from zarr_transfer.elements import as_dtype, difference, same_fill_value
from zarr_transfer.errors import ElementsDifferError
from zarr_transfer.rechunk import Budget, Chunking, edges_of, plan_stages
from zarr_transfer.regions import box_at, common, reached, regions_with, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core import Array
    from zarr_core.extension import Store
    from zarr_core.optional import Reporter

    from zarr_transfer.copy_executor import CopyExecutor
    from zarr_transfer.rechunk import RechunkPlan, RechunkStage
    from zarr_transfer.regions import Coordinates, Region

    NDArray = np.ndarray[Any, Any]


BUFFER = 1 << 26
"""Default size of a region in bytes; a larger chunk or shard is one region."""
_FEW = 16  # stored objects that are requested one by one, and copied without a checkpoint
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
    old: Array,
    new: Array,
    max_memory: int | None = None,
    *,
    verify: bool = False,
    executor: CopyExecutor | None = None,
) -> RechunkPlan:
    """Return how the elements of an array are copied to another.

    Parameters
    ----------
    old, new : Array
        The source and the destination.
    max_memory : int, optional
        Maximum memory in bytes; the default depends on the chunks.  An executor has its own limit.
    verify : bool
        Whether elements are read back and compared.
    executor : CopyExecutor, optional
        Runs the tasks.

    Raises
    ------
    ValueError
        If a chunk or shard needs more memory.
    """
    copies = 1 + verify + (old.dtype != new.dtype)  # of the elements of a region
    store = new.store
    if executor is not None:
        threads, budget = 1, executor.budget()
        if location := executor.intermediate_location():
            store, _ = location
    elif max_memory is not None:
        threads, budget = thread_count(), Budget(max_memory)
    else:
        threads, budget = thread_count(), Budget(copies * BUFFER, firm=False)
    between = budget.between and _supports_intermediate(old, store)
    budget = replace(budget, copies=copies, between=between)
    return plan_stages(Chunking.of(old, threads), Chunking.of(new, threads), budget)


def regions_of(stage: RechunkStage, source: Array, *, only_stored: bool) -> Iterator[Region]:
    """Return the regions of a stage, without those that have no stored chunks if ``only_stored``."""
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


def _supports_intermediate(source: Array, store: Store) -> bool:
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


def _intermediate_array(
    old: Array, new: Array, shape: tuple[int, ...], location: tuple[Store, str]
) -> Array:
    """Create the intermediate array with a chunk shape; its metadata document is not stored."""
    store, path = location
    for compressors in _COMPRESSORS:
        with suppress(ZarrError):
            return array_from_metadata(
                store, path=path, shape=old.shape, dtype=old.dtype, chunks=shape,
                fill_value=old.fill_value, compressors=compressors,
            )  # fmt: skip
    raise AssertionError("arrays without compressors need no extension")


def keeps_missing_chunks(source: Array, dest: Array) -> bool:
    """Whether missing chunks read as the same value in both arrays, bit by bit."""
    if dest.metadata.fill_value_undefined:  # every chunk is stored
        return False
    return same_fill_value(source.stored.resolved.fill_value, dest.stored.resolved.fill_value)


def read_region(task: Region, source: Array, out: NDArray) -> None:
    """Read the elements of a region, without requests for missing chunks."""
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
    """Write elements read from the source, without requests for chunks that are missing there."""
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

    The caller must end the returned checkpoint after it stores the metadata.  Regions that an
    earlier call with the same arguments has stored are kept; other chunks are removed first, since
    they may have another layout.  Raises NodeExistsError if there are keys that are neither chunks
    nor from an interrupted copy, and ElementsDifferError if elements do not fit into the data type
    or are not read back as they were.
    """
    plan = plan_rechunk(old, new, max_memory, verify=verify, executor=executor)
    checkpoint = Checkpoint(old, new, None if plan.between is None else [*plan.between])
    stages = _stages(old, new, plan, _intermediate_location(new, checkpoint, executor))
    few = len(stages) == 1 and prod(new.cdata_shape) <= _FEW
    first: Any = None if few else checkpoint.begin()
    resumes = first is not None
    if first is None:
        first = 0
        erase_interrupted(new)
        if executor is not None and len(stages) > 1:
            _erase(stages[0].new)
        if not few:
            checkpoint.write(first)
    reporter.begin(path, old.size * len(stages), "elements")
    reporter.advance(old.size * first)
    for number, stage in enumerate(stages[first:], first):
        copier = RegionCopier(stage.old, stage.new, verify=verify, is_shared=executor is not None)
        existing = _stored_chunks(stage.new) if resumes else frozenset()
        tasks = _tasks(stage, existing, verify, reporter)
        _run(executor, copier, tasks, lambda region, _: reporter.advance(region.size))
        if number + 1 < len(stages):
            checkpoint.write(number + 1)
    if len(stages) > 1:
        _erase(stages[0].new)
    reporter.end()
    return checkpoint


def _run(
    executor: CopyExecutor | None,
    copier: RegionCopier,
    tasks: Iterator[Region],
    done: Callable[[Region, None], object],
) -> None:
    if executor is not None:
        executor.run(copier, tasks, done)
        return
    for region in tasks:
        copier(region)
        done(region, None)


class _Stage(NamedTuple):
    """All elements copied from one array to another."""

    old: Array
    new: Array
    plan: RechunkStage


def _intermediate_location(
    new: Array, checkpoint: Checkpoint, executor: CopyExecutor | None
) -> tuple[Store, str]:
    """Return the location of the intermediate array, by default next to the new chunks."""
    location = None if executor is None else executor.intermediate_location()
    if location is None:
        return new.store, sidecar_key(new, _PIECES)
    store, path = location
    return store, join(path, f"{CHECKPOINT_NAME}-{checkpoint.work[:16]}")


def _stages(
    old: Array, new: Array, plan: RechunkPlan, intermediate: tuple[Store, str]
) -> list[_Stage]:
    """Return one stage, or two with an intermediate array."""
    if plan.between is None:
        return [_Stage(old, new, plan.stages[0])]
    middle = _intermediate_array(old, new, plan.between, intermediate)
    first, last = plan.stages
    return [_Stage(old, middle, first), _Stage(middle, new, last)]


def _erase(array: Array) -> None:
    """Remove the intermediate array."""
    array.store.erase_prefix(f"{array.path}/")


def _tasks(
    stage: _Stage, existing: frozenset[Coordinates], verify: bool, reporter: Reporter
) -> Iterator[Region]:
    """Iterate over the regions to copy, and report those that an interrupted copy has stored."""
    for region in _regions(stage):
        objects = product(*stage.plan.objects_in(region))
        if verify or not existing or not all(at in existing for at in objects):
            yield region
        else:
            reporter.advance(region.size)


def _regions(stage: _Stage) -> Iterator[Region]:
    """Return regions with stored chunks; all regions if missing chunks read as another value."""
    if not stage.old.size:
        return iter(())
    # Without erasing, a stored chunk cannot be replaced by a missing one.
    erasing = stage.new.store.traits.supports_erasing
    only_stored = erasing and keeps_missing_chunks(stage.old, stage.new)
    return regions_of(stage.plan, stage.old, only_stored=only_stored)


def _stored_chunks(array: Array) -> frozenset[Coordinates]:
    """Return the coordinates of the chunks that an interrupted copy has stored."""
    if not array.store.supports_listing:
        return frozenset()
    return frozenset(at for at, _ in array.stored.stored_chunks())


class RegionCopier:
    """Copies regions from one array to another, and verifies them if requested; can be pickled.

    If threads or processes share it, each task allocates its memory and runs in one thread.
    """

    def __init__(
        self, old: Array, new: Array, *, verify: bool = False, is_shared: bool = False
    ) -> None:
        self._old = old
        self._new = new
        self._verify = verify
        self._is_shared = is_shared
        self._memory: dict[str, NDArray] = {}  # each region reuses the memory of the one before

    def __call__(self, region: Region) -> None:
        """Copy one region."""
        with in_one_thread() if self._is_shared else nullcontext():
            self._copy(region)

    def _copy(self, region: Region) -> None:
        values = self._elements(region, self._old.dtype, "read")
        read_region(region, self._old, values)
        if self._old.dtype != self._new.dtype:
            try:
                values = as_dtype(values, self._new.dtype)
            except ValueError as error:
                raise self._error(region, str(error)) from None
        write_region(region, self._old, self._new, values)
        if self._verify:
            stored = self._elements(region, self._new.dtype, "read back")
            self._new.get_basic_selection(region.box, out=stored)
            if why := difference(values, stored):
                raise self._error(region, why)

    def _elements(self, region: Region, dtype: np.dtype[Any], use: str) -> NDArray:
        """Return an array for the elements of a region."""
        memory = self._memory.get(use)
        if memory is None or dtype.kind in "OT" or region.size > memory.size:
            memory = np.empty(region.size, dtype)
            if not self._is_shared:
                self._memory[use] = memory
        return memory[: region.size].reshape(region.shape)

    def _error(self, region: Region, why: str) -> ElementsDifferError:
        bounds = tuple((part.start, part.stop) for part in region.box)
        return ElementsDifferError(self._new.stored.location, bounds, why)
