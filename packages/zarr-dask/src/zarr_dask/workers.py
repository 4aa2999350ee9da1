"""Run the tasks of copies with the workers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core import resolve_store_path
from zarr_transfer import Budget, CopyExecutor

from zarr_dask import _dask
from zarr_dask.run_tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_core import Store

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

    def run(
        self,
        work: Callable[[Any], Any],
        tasks: Iterator[Any],
        done: Callable[[Any, Any], object],
    ) -> None:
        run_tasks(self.client, work, tasks, done, self.retries)

    def budget(self) -> Budget:
        memory = _dask.parse_nbytes(self.max_memory)
        return Budget(memory, tasks=_MIN_TASKS, box=_MIN_REGION_NBYTES)

    def intermediate_location(self) -> tuple[Store, str] | None:
        if self.temp_store is None and not self.temp_storage_options:
            return None
        return resolve_store_path(self.temp_store, storage_options=self.temp_storage_options)
