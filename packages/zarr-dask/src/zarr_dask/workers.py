"""Copies whose chunks are moved, or decoded to be encoded anew, by the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import locate
from zarr_core.extension import (
    Budget,
    Carrier,
    Chunking,
    in_one_thread,
    may_have_pieces,
    missing_stay_missing,
    plan_stages,
    read_task,
    tasks_of,
    write_task,
)

from zarr_dask import _dask, running
from zarr_dask.between import Between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zarr_core import Array
    from zarr_core.extension import Moved, Pair, RechunkingPlan, RechunkingStage, RechunkingTask

    Coordinates = tuple[int, ...]

_TOGETHER = 32  # values that one task moves
_SMALL = 1 << 24  # bytes of a box below which a task costs more than what it does
_FEW = 64  # tasks that give many workers something to do


@dataclass(frozen=True, slots=True)
class Workers(Carrier):
    """The workers of a cluster, or other threads or processes, as carriers of a copy.

    Parameters
    ----------
    client : Client, Executor, str, optional
        A client of ``distributed``, an executor of ``concurrent.futures`` or the name of one of
        Dask's schedulers.  By default the client that is in use, if there is one, else what
        Dask is set to: threads.
    max_memory : int or str
        Bytes that a task may take, as far as they can be told beforehand.
    work : store-like, optional
        Where an intermediate array is kept while chunks of adverse shapes are rechunked.  By
        default beside the destination.
    retries : int
        How often a task that failed, or whose worker was lost, is tried again.

    Notes
    -----
    A task writes whole stored objects, each of which is replaced as a whole, and may run
    several times, at the same time, too: nothing is ever half there.
    """

    client: Any = None
    max_memory: int | str = "256 MiB"
    work: Any = None
    retries: int = 2

    def values(
        self,
        pairs: Sequence[Pair],
        move: Callable[[Sequence[Pair]], Moved],
        done: Callable[[Sequence[Pair], Moved], object],
    ) -> None:
        self._run(move, _batches(pairs), done)

    def elements(
        self,
        source: Array,
        dest: Array,
        there: frozenset[Coordinates],
        done: Callable[[int], object],
    ) -> None:
        """Store all elements of an array in another, in one stage or two.

        Raises
        ------
        ValueError
            If a stored object takes more memory than a task may take.
        """
        if not dest.size:
            return
        place = dest.store if self.work is None else locate(self.work)[0]
        plan = planned(source, dest, self.max_memory, between=may_have_pieces(source, place))
        if plan.between is None:
            self._move(source, dest, plan.stages[0], there, done)
            return
        between = Between.of(source, dest, plan.between, self.work)
        # Each stage is half of the work.
        if between.is_complete:
            done(source.size // 2)
        else:
            half = Half(done)
            self._move(source, between.array, plan.stages[0], between.there(), half)
            between.complete()
        half = Half(done, source.size % 2)
        self._move(between.array, dest, plan.stages[1], there, half)
        between.remove()

    def _move(
        self,
        source: Array,
        dest: Array,
        stage: RechunkingStage,
        there: frozenset[Coordinates],
        done: Callable[[int], object],
    ) -> None:
        counted = 0

        def count(task: RechunkingTask) -> None:
            nonlocal counted
            counted += task.size
            done(task.size)

        def left() -> Iterator[RechunkingTask]:
            for task in tasks_of(stage, source, only_stored=missing_stay_missing(source, dest)):
                if there and all(at in there for at in product(*stage.objects_in(task))):
                    count(task)
                else:
                    yield task

        self._run(MoveBox(source, dest), left(), lambda task, _: count(task))
        done(source.size - counted)  # where nothing is stored

    def _run(
        self,
        work: Callable[[Any], Any],
        tasks: Iterator[Any],
        done: Callable[[Any, Any], object],
    ) -> None:
        running.run(self.client, work, tasks, done, self.retries)


def planned(
    source: Array, dest: Array, max_memory: int | str, *, between: bool = True
) -> RechunkingPlan:
    """How the elements of an array are stored in another by many workers.

    Raises
    ------
    ValueError
        If a stored object takes more memory than a task may take.
    """
    budget = Budget(_dask.bytes_of(max_memory), tasks=_FEW, box=_SMALL, between=between)
    return plan_stages(Chunking.of(source), Chunking.of(dest), budget)


class MoveBox:
    """Stores a box of one array in another, wherever it is called.

    Parameters
    ----------
    source, dest : Array
        The arrays.
    """

    def __init__(self, source: Array, dest: Array) -> None:
        self._source = source
        self._dest = dest

    def __call__(self, task: RechunkingTask) -> None:
        values = np.empty(task.shape, self._source.dtype)
        with in_one_thread():
            read_task(task, self._source, values)
            write_task(task, self._source, self._dest, values)


class Half:
    """Counts elements as halves.

    Parameters
    ----------
    done : callable
        Is told how many wholes there are.
    left : int
        Halves that are there already.
    """

    def __init__(self, done: Callable[[int], object], left: int = 0) -> None:
        self._done = done
        self._left = left

    def __call__(self, count: int) -> None:
        whole, self._left = divmod(self._left + count, 2)
        self._done(whole)


def _batches(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    left = iter(pairs)
    while batch := list(islice(left, _TOGETHER)):
        yield batch
