"""Interface of copy executors, which copy keys and elements, such as the workers of a cluster.

The calling process computes the plan and writes metadata.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core import Array


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
    """Copies values or elements; an argument of :func:`zarr_core.copy`.

    Copies can be repeated, also at the same time: each value is stored atomically, and is the same
    each time.
    """

    @abstractmethod
    def copy_keys(
        self,
        pairs: Sequence[KeyPair],
        move: Callable[[Sequence[KeyPair]], CopyResult],
        done: Callable[[Sequence[KeyPair], CopyResult], object],
    ) -> None:
        """Copy values without decoding them.

        Parameters
        ----------
        pairs : sequence of KeyPair
            The keys, in any order.
        move : callable
            Copies some of them.  Can be pickled if the stores can.
        done : callable
            Must be called in the calling thread after each batch, with the result of ``move``.
        """

    @abstractmethod
    def copy_elements(
        self,
        source: Array,
        dest: Array,
        existing: frozenset[tuple[int, ...]],
        done: Callable[[int], object],
    ) -> None:
        """Copy all elements of an array to another of the same shape.

        Parameters
        ----------
        source, dest : Array
            The source and the destination, whose metadata may not be stored yet.  Both can be
            pickled if their stores can.
        existing : frozenset of tuple of int
            Coordinates of chunks of the destination that an interrupted copy has completed.
        done : callable
            Must be called in the calling thread with the number of elements that were copied.
        """
