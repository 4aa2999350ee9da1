"""Normalised selections, the only ones that the engine and codecs handle.

Each dimension has a slice with a positive step or an array of indices, within bounds.

Selections do not change.  Their classes are not frozen: Python then takes three times as long to
create an object, and there is one for each chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Indices: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]


def slice_length(part: slice) -> int:
    """Count the elements of a normalised slice (``0 <= start <= stop``, ``step >= 1``)."""
    length: int = part.stop - part.start
    return length if part.step == 1 else (length + part.step - 1) // part.step


@dataclass
class BasicIndexer:
    """A slice in each dimension.

    Parameters
    ----------
    index : tuple of slice
        Start, stop and step are integers, ``0 <= start <= stop``, ``step >= 1``.
    """

    index: tuple[slice, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the selection."""
        return tuple(slice_length(part) for part in self.index)


@dataclass
class OrthogonalIndexer:
    """The outer product of a slice or indices in each dimension.

    Parameters
    ----------
    index : tuple of slice or ndarray
        Normalised slices, or one-dimensional arrays of indices in any order, with or without
        repetitions; at least one array.
    """

    index: tuple[slice | Indices, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the selection."""
        return tuple(
            slice_length(part) if isinstance(part, slice) else len(part) for part in self.index
        )


@dataclass
class CoordinateIndexer:
    """Single elements.

    Parameters
    ----------
    index : tuple of ndarray
        One-dimensional arrays of indices, one per dimension, of equal length.
    """

    index: tuple[Indices, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the selection: one dimension."""
        return (len(self.index[0]),) if self.index else (1,)

    def flat_index(self, shape: Sequence[int]) -> Indices:
        """Return the positions of the elements in an array of this shape, in C order."""
        flat = self.index[0]  # numpy.ravel_multi_index takes longer
        for part, length in zip(self.index[1:], shape[1:], strict=True):
            flat = flat * length
            flat += part
        return flat


@dataclass
class MaskIndexer:
    """The elements where a mask is true; codecs receive them as a :class:`CoordinateIndexer`.

    Parameters
    ----------
    mask : ndarray of bool
        Has the shape of the array, or of the part of a chunk inside the array.
    """

    mask: np.ndarray[Any, np.dtype[np.bool_]]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the selection: one dimension."""
        return (int(self.mask.sum()),)

    def to_coordinates(self) -> CoordinateIndexer:
        """Return the same elements as coordinates."""
        return CoordinateIndexer(self.mask.nonzero())


Selection: TypeAlias = BasicIndexer | OrthogonalIndexer | CoordinateIndexer
"""A selection as codecs receive it."""

AnySelection: TypeAlias = Selection | MaskIndexer
"""A selection as the engine handles it."""
