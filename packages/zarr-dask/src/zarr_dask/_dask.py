"""The only door to Dask, few of whose functions have types."""

from __future__ import annotations

import pickle
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
import dask.array as _array
from dask.base import tokenize as _tokenize
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


def all_of(x: Any) -> Any:
    """Something delayed that computes all blocks of an array, and gives None."""
    delayed: Any = dask.delayed  # type: ignore[attr-defined]  # is found there, and not declared
    return delayed(_none)(x.to_delayed().ravel().tolist())


def each_of(x: Any, **options: Any) -> Any:
    """What every block of an array is when it is computed; they are not put together."""
    some: Any = dask.compute  # type: ignore[attr-defined]  # is found there, and not declared
    return some(*x.to_delayed().ravel().tolist(), **options)


def _none(_blocks: object) -> None:
    return


BATCH = 64
"""How many tasks a scheduler that is not ``distributed`` gets at a time."""


def compute(work: Callable[[Any], Any], tasks: Iterable[Any], scheduler: str | None) -> Any:
    """What ``work`` gives for each task, by one of Dask's schedulers."""
    delayed: Any = dask.delayed  # type: ignore[attr-defined]  # is found there, and not declared
    jobs = [delayed(partial(work, task), pure=False, traverse=False)() for task in tasks]
    some: Any = dask.compute  # type: ignore[attr-defined]  # as above
    return some(*jobs, **({} if scheduler is None else {"scheduler": scheduler}))


def as_completed(client: Any) -> Any:
    """Futures of a cluster, as they are done; more may be added."""
    import distributed  # noqa: PLC0415 - an extra

    untyped: Any = distributed
    return untyped.as_completed(loop=client.loop)


def was_lost(future: Any) -> bool:
    """Whether a task has no result because its worker was lost, or all were restarted."""
    from distributed import KilledWorker  # noqa: PLC0415 - an extra

    if future.status == "error":
        return isinstance(future.exception(), KilledWorker)
    return bool(future.status != "finished")


def check_travels(work: object) -> None:
    """Raise what pickling raises: a scheduler would only say that something is wrong.

    Raises
    ------
    StoreError
        If the store is one that cannot be used by another process.
    """
    pickle.dumps(work)


def bytes_of(amount: int | str) -> int:
    """How many bytes an amount such as ``"512 MiB"`` is."""
    parse: Any = _parse_bytes
    return int(parse(amount))


def block_bytes() -> int:
    """How many bytes Dask wants a block to have, by its settings."""
    return bytes_of(dask.config.get("array.chunk-size"))


def current_client() -> Any:
    """The client of ``distributed`` that is in use here, or None."""
    if "distributed" not in sys.modules:
        return None
    import distributed  # noqa: PLC0415 - an extra

    untyped: Any = distributed
    try:
        return untyped.default_client()
    except ValueError:
        return None


def is_client(given: Any) -> bool:
    """Whether something is a client of ``distributed``."""
    if "distributed" not in sys.modules:
        return False
    from distributed import Client  # noqa: PLC0415 - an extra

    return isinstance(given, Client)
