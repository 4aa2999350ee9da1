"""Chunk grid: how an array is cut into chunks.

Specification: v3.1, "Chunk grids".  Grids here are separable: chunks are boxes,
and their edges along one dimension do not depend on the others.  That holds for
the ``regular`` and the ``rectilinear`` grid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from zarr_core.definition import ExtensionDefinition


class ChunkAxis(ABC):
    """The chunks along one dimension of an array.

    Attributes
    ----------
    size : int
        Length of the dimension, in elements.
    count : int
        Number of chunks that hold elements of the array.
    uniform : int or None
        The length of every chunk; None if lengths differ.
    """

    size: int
    count: int
    uniform: int | None = None

    @abstractmethod
    def start(self, chunk: int) -> int:
        """First element of a chunk, counted from the start of the dimension."""

    @abstractmethod
    def length(self, chunk: int) -> int:
        """Length of a chunk as it is encoded, in elements; may reach beyond the array."""

    @abstractmethod
    def chunk_of(self, element: int) -> int:
        """The chunk that holds an element (``0 <= element < size``)."""

    @abstractmethod
    def chunks_of(self, elements: np.ndarray[Any, np.dtype[np.intp]]) -> np.ndarray[Any, Any]:
        """The chunks that hold elements, vectorised over an integer array."""

    def runs(self) -> Iterable[tuple[int, int]]:
        """Lengths of all chunks in order, each with how many chunks in a row have it."""
        if self.uniform is not None:
            return ((self.uniform, self.count),)
        return ((self.length(chunk), 1) for chunk in range(self.count))


class ChunkGrid(ABC):
    """A chunk grid bound to its configuration; immutable, compared by value.

    Fields of a data class need other names than its methods: not ``chunk_shape``.
    """

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ChunkGrid:
        """Make the grid that a definition describes; its schema was checked before."""

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition to write into new metadata."""

    @abstractmethod
    def axes(self, shape: tuple[int, ...]) -> tuple[ChunkAxis, ...]:
        """Cut an array of this shape; one axis a dimension.

        Raises
        ------
        ValueError
            If the grid does not fit the shape: another number of dimensions, or
            chunks that do not cover it.
        """

    def chunk_shape(self, axes: tuple[ChunkAxis, ...], chunk: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one chunk as it is encoded.

        Parameters
        ----------
        axes : tuple of ChunkAxis
            What :meth:`axes` gave.
        chunk : tuple of int
            Grid coordinates of the chunk.
        """
        return tuple(axis.length(number) for axis, number in zip(axes, chunk, strict=True))

    def resized(self, shape: tuple[int, ...]) -> ChunkGrid:
        """The grid to write when the array is resized to ``shape``; the same by default.

        Chunks that hold elements of both arrays are to stay as they are, and lengths
        to be multiples of what all were multiples of: a chunk may be a shard, which
        holds whole chunks.  So a grid that cuts its last chunk at the end of the array
        can only be resized where no such chunk changes.

        Raises
        ------
        ValueError
            If there is no such grid; the array then stays as it is.
        """
        return self
