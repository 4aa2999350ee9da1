"""All functions of Dask that this package uses; most of them have no type annotations."""

from __future__ import annotations

import pickle
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
import dask.array as _array
from dask.base import tokenize as _tokenize
from dask.core import flatten
from dask.delayed import Delayed as _Delayed
from dask.highlevelgraph import HighLevelGraph as _Graph
from dask.utils import parse_bytes as _parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dask.array import Array as DaskArray

_untyped: Any = _array

from_array: Callable[..., DaskArray] = _untyped.from_array
store: Callable[..., Any] = _untyped.store
asarray: Callable[..., DaskArray] = _untyped.asarray
normalize_chunks: Callable[..., tuple[tuple[int, ...], ...]] = _untyped.core.normalize_chunks
tokenize: Callable[..., str] = _tokenize
_flatten: Callable[..., Iterable[Any]] = flatten


class DelayedBlocks(_Delayed):
    """A ``Delayed`` whose graph is optimized as that of an array; Dask does not fuse its tasks."""

    __slots__ = ()

    @staticmethod
    def __dask_optimize__(graph: Any, keys: Any, **options: Any) -> Any:
        """Optimize a graph."""
        return _untyped.Array.__dask_optimize__(graph, keys, **options)


def gather(x: Any, function: Callable[[list[Any]], Any]) -> Any:
    """Return a ``Delayed`` that computes all blocks of an array and passes them to a function.

    It adds one layer for any number of blocks.  Dask merges and sorts graphs by layers, so a
    layer per block would cost the square of their number.
    """
    name = f"gather-{x.name}"
    task = (function, list(_flatten(x.__dask_keys__())))
    create: Any = DelayedBlocks
    return create(name, _Graph.from_collections(name, {name: task}, dependencies=[x]))


BATCH = 64
"""The number of tasks per call of a scheduler other than ``distributed``."""


def compute(work: Callable[[Any], Any], tasks: Iterable[Any], scheduler: str | None) -> Any:
    """Call ``work`` for each task with a scheduler of Dask and return the results."""
    delayed: Any = dask.delayed  # type: ignore[attr-defined]  # not declared
    jobs = [delayed(partial(work, task), pure=False, traverse=False)() for task in tasks]
    some: Any = dask.compute  # type: ignore[attr-defined]  # as above
    return some(*jobs, **({} if scheduler is None else {"scheduler": scheduler}))


def as_completed(client: Any) -> Any:
    """Return an iterator over futures as they complete; futures can be added."""
    import distributed  # optional dependency

    untyped: Any = distributed
    return untyped.as_completed(loop=client.loop)


def was_lost(future: Any) -> bool:
    """Whether a task failed because its worker was lost or restarted."""
    from distributed import KilledWorker  # optional dependency

    if future.status == "error":
        return isinstance(future.exception(), KilledWorker)
    return bool(future.status != "finished")


def check_picklable(work: object) -> None:
    """Raise the error of pickling, which is more specific than that of a scheduler.

    It is a StoreError if another process cannot use the store.
    """
    pickle.dumps(work)


def parse_nbytes(amount: int | str) -> int:
    """Return the number of bytes of an amount such as ``"512 MiB"``."""
    parse: Any = _parse_bytes
    return int(parse(amount))


def target_block_nbytes() -> int:
    """Return the block size of Dask's configuration, in bytes."""
    return parse_nbytes(dask.config.get("array.chunk-size"))


def current_client() -> Any:
    """Return the current client of ``distributed``, or None."""
    if "distributed" not in sys.modules:
        return None
    import distributed  # optional dependency

    untyped: Any = distributed
    try:
        return untyped.default_client()
    except ValueError:
        return None


def is_client(scheduler: Any) -> bool:
    """Whether an object is a client of ``distributed``."""
    if "distributed" not in sys.modules:
        return False
    from distributed import Client  # optional dependency

    return isinstance(scheduler, Client)
