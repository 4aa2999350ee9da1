"""Carrier: who moves what a copy consists of, such as the workers of a cluster.

What is copied is decided without it: which nodes, in which layout, what is there already.
Documents are written without it as well, each once everything that it shows is there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.hierarchy.array import Array


class Pair(NamedTuple):
    """A value and where it goes."""

    source: str
    """Its key."""
    target: str
    """The key that it gets."""
    there: bool = False
    """Whether there may be a value already, which is left if it is the same."""
    owner: int = -1
    """Number of the node that it belongs to, for whoever asks."""


class Moved(NamedTuple):
    """What became of some values."""

    copied: int
    """How many were copied."""
    skipped: int
    """How many were not, as they were there already."""
    nbytes: int
    """Bytes that were stored."""


class Carrier(ABC):
    """Moves values or elements from one place to another; :func:`zarr_core.copy` takes one.

    Whatever is moved may be moved again, by several at a time: it is stored as a whole,
    and the same each time.
    """

    @abstractmethod
    def values(
        self,
        pairs: Sequence[Pair],
        move: Callable[[Sequence[Pair]], Moved],
        done: Callable[[Sequence[Pair], Moved], object],
    ) -> None:
        """Move values as they are stored.

        Parameters
        ----------
        pairs : sequence of Pair
            What to move, in any order.
        move : callable
            Moves some of them.  Pickles, as long as the stores do.
        done : callable
            To be told of each batch, with what ``move`` gave, from the caller's thread.
        """

    @abstractmethod
    def elements(
        self,
        source: Array,
        dest: Array,
        there: frozenset[tuple[int, ...]],
        done: Callable[[int], object],
    ) -> None:
        """Store all elements of an array in another of the same shape.

        Parameters
        ----------
        source, dest : Array
            From where, where to; the document of the second is not stored yet.  Both
            pickle, as long as their stores do.
        there : frozenset of tuple of int
            Grid coordinates of the destination's stored objects that hold what they are to
            hold, from a copy that was interrupted.
        done : callable
            To be told how many elements are there, from the caller's thread.
        """
