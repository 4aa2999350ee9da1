"""Copy chunks, or decode and encode them, with the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import resolve_store_path
from zarr_core.threads import in_one_thread
from zarr_transfer import (
    Budget,
    Chunking,
    CopyExecutor,
    keeps_missing_chunks,
    plan_stages,
    read_region,
    regions_of,
    supports_intermediate,
    write_region,
)

from zarr_dask import _dask
from zarr_dask.intermediate import IntermediateArray
from zarr_dask.run_tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zarr_core import Array
    from zarr_transfer import CopyResult, KeyPair, RechunkPlan, RechunkStage, Region

    Coordinates = tuple[int, ...]

_VALUES_PER_TASK = 32
_MIN_REGION_NBYTES = 1 << 24  # for smaller regions, the overhead of a task is larger
_MIN_TASKS = 64  # to use many workers


@dataclass(frozen=True, slots=True)
class Workers(CopyExecutor):
    """The workers of a cluster, or threads or processes, that execute a copy.

    Parameters
    ----------
    client : Client, Executor, str, optional
        A client of ``distributed``, an executor of ``concurrent.futures`` or the name of a
        scheduler of Dask.  By default the current client or, without one, the configured
        scheduler, which uses threads unless configured otherwise.
    max_memory : int or str
        The maximum memory of a task, in bytes, as far as it can be predicted.
    temp_store : store-like, optional
        The location of the intermediate array, if rechunking requires one.  By default next
        to the chunks of the destination.
    retries : int
        The number of retries of a task that failed or whose worker was lost.
    temp_storage_options : mapping, optional
        Further arguments for the store if ``temp_store`` is a URL.

    Notes
    -----
    A task writes whole stored objects, each atomically, so it can run several times, also at the
    same time.
    """

    client: Any = None
    max_memory: int | str = "256 MiB"
    temp_store: Any = None
    retries: int = 2
    temp_storage_options: Mapping[str, Any] | None = None

    def copy_keys(
        self,
        pairs: Sequence[KeyPair],
        move: Callable[[Sequence[KeyPair]], CopyResult],
        done: Callable[[Sequence[KeyPair], CopyResult], object],
    ) -> None:
        self._run(move, _batches(pairs), done)

    def copy_elements(
        self,
        source: Array,
        dest: Array,
        existing: frozenset[Coordinates],
        done: Callable[[int], object],
    ) -> None:
        """Copy all elements of an array to another, in one or two stages.

        Raises
        ------
        ValueError
            If a single stored object needs more memory than ``max_memory``.
        """
        if not dest.size:
            return
        store, path = dest.store, ""
        if self.temp_store is not None or self.temp_storage_options:
            store, path = resolve_store_path(
                self.temp_store, storage_options=self.temp_storage_options
            )
        plan = plan_rechunk(
            source, dest, self.max_memory, between=supports_intermediate(source, store)
        )
        if plan.between is None:
            self._move(source, dest, plan.stages[0], existing, done)
            return
        middle = IntermediateArray.open_or_create(source, dest, plan.between, store, path)
        # Each stage is half of the work.
        if middle.is_complete:
            done(source.size // 2)
        else:
            half = HalfCounter(done)
            self._move(source, middle.array, plan.stages[0], middle.stored_chunks(), half)
            middle.mark_complete()
        half = HalfCounter(done, source.size % 2)
        self._move(middle.array, dest, plan.stages[1], existing, half)
        middle.remove()

    def _move(
        self,
        source: Array,
        dest: Array,
        stage: RechunkStage,
        existing: frozenset[Coordinates],
        done: Callable[[int], object],
    ) -> None:
        counted = 0

        def count(task: Region) -> None:
            nonlocal counted
            counted += task.size
            done(task.size)

        def left() -> Iterator[Region]:
            for task in regions_of(stage, source, only_stored=keeps_missing_chunks(source, dest)):
                if existing and all(at in existing for at in product(*stage.objects_in(task))):
                    count(task)
                else:
                    yield task

        self._run(CopyRegion(source, dest), left(), lambda task, _: count(task))
        done(source.size - counted)  # regions without stored chunks

    def _run(
        self,
        work: Callable[[Any], Any],
        tasks: Iterator[Any],
        done: Callable[[Any, Any], object],
    ) -> None:
        run_tasks(self.client, work, tasks, done, self.retries)


def plan_rechunk(
    source: Array, dest: Array, max_memory: int | str, *, between: bool = True
) -> RechunkPlan:
    """Plan how many workers copy the elements of an array to another.

    Raises ValueError if a single stored object needs more memory than ``max_memory``.
    """
    budget = Budget(
        _dask.parse_nbytes(max_memory), tasks=_MIN_TASKS, box=_MIN_REGION_NBYTES, between=between
    )
    return plan_stages(Chunking.of(source), Chunking.of(dest), budget)


class CopyRegion:
    """Copies a region of an array to another array; can be pickled."""

    def __init__(self, source: Array, dest: Array) -> None:
        self._source = source
        self._dest = dest

    def __call__(self, task: Region) -> None:
        values = np.empty(task.shape, self._source.dtype)
        with in_one_thread():
            read_region(task, self._source, values)
            write_region(task, self._source, self._dest, values)


class HalfCounter:
    """Counts each element as one half, since each stage is half of the work.

    ``left`` is the initial number of halves.
    """

    def __init__(self, done: Callable[[int], object], left: int = 0) -> None:
        self._done = done
        self._left = left

    def __call__(self, count: int) -> None:
        whole, self._left = divmod(self._left + count, 2)
        self._done(whole)


def _batches(pairs: Sequence[KeyPair]) -> Iterator[Sequence[KeyPair]]:
    left = iter(pairs)
    while batch := list(islice(left, _VALUES_PER_TASK)):
        yield batch
