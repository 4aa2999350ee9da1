"""Interface of copy executors, which run the tasks of a copy, such as the workers of a cluster.

The calling process computes the plan and writes metadata.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_transfer.rechunk import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.extension import Store


class KeyPair(NamedTuple):
    """A source key and a destination key."""

    source: str
    """The source key."""
    target: str
    """The destination key."""
    exists: bool = False
    """Whether the destination key may exist; an equal value is kept."""
    owner: int = -1
    """Number of the node that the key belongs to."""


class CopyResult(NamedTuple):
    """Numbers of copied values."""

    copied: int
    """Number of copied values."""
    skipped: int
    """Number of values that existed already."""
    nbytes: int
    """Bytes that were stored."""


class CopyExecutor(ABC):
    """Runs the tasks of a copy; an argument of :func:`zarr_core.copy`.

    Tasks can be repeated, also at the same time: each value is stored atomically, and is the same
    each time.
    """

    @abstractmethod
    def run(
        self,
        work: Callable[[Any], Any],
        tasks: Iterator[Any],
        done: Callable[[Any, Any], object],
    ) -> None:
        """Run all tasks, in any order.

        Parameters
        ----------
        work : callable
            Runs a task.  Can be pickled if the stores can.
        tasks : iterator
            The tasks; there may be millions.
        done : callable
            Must be called in the calling thread with each task and the result of ``work``.
        """

    def budget(self) -> Budget:
        """Return the limits of the tasks that decode and encode elements."""
        return Budget(1 << 28, tasks=64, box=1 << 24)

    def intermediate_location(self) -> tuple[Store, str] | None:
        """Return the location of intermediate arrays; None for next to the destination."""
        return None
