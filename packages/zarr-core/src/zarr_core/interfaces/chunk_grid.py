"""Chunk grid: how an array is divided into chunks.

Specification: v3.1, "Chunk grids".  Grids are separable, as ``regular`` and ``rectilinear``:
the chunk edges along one dimension do not depend on the others.
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
        Number of chunks that contain elements of the array.
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
        """Encoded length of a chunk, in elements; can extend beyond the array."""

    @abstractmethod
    def chunk_of(self, element: int) -> int:
        """The chunk of an element (``0 <= element < size``)."""

    @abstractmethod
    def chunks_of(self, elements: np.ndarray[Any, np.dtype[np.intp]]) -> np.ndarray[Any, Any]:
        """The chunks of an integer array of elements."""

    def runs(self) -> Iterable[tuple[int, int]]:
        """Lengths of all chunks in order, as pairs of length and number of consecutive chunks."""
        if self.uniform is not None:
            return ((self.uniform, self.count),)
        return ((self.length(chunk), 1) for chunk in range(self.count))

    def sizes(self) -> tuple[int, ...]:
        """Lengths of all chunks, limited to the array."""
        sizes: list[int] = []
        for length, count in self.runs():
            sizes += [length] * count
        if sizes:
            sizes[-1] = self.size - self.start(self.count - 1)
        return tuple(sizes)


class ChunkGrid(ABC):
    """A chunk grid with its configuration; immutable, compared by value.

    A field of a data class cannot have the name of a method, such as ``chunk_shape``.
    """

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ChunkGrid:
        """Create a grid from a definition, which was validated with its schema."""

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition for new metadata."""

    @abstractmethod
    def axes(self, shape: tuple[int, ...]) -> tuple[ChunkAxis, ...]:
        """The chunks along each dimension of an array.

        Raises
        ------
        ValueError
            If the number of dimensions differs, or the chunks do not cover the shape.
        """

    def chunk_shape(self, axes: tuple[ChunkAxis, ...], chunk: tuple[int, ...]) -> tuple[int, ...]:
        """Encoded shape of the chunk at coordinates ``chunk``; ``axes`` is from :meth:`axes`."""
        return tuple(axis.length(number) for axis, number in zip(axes, chunk, strict=True))

    def resized(self, shape: tuple[int, ...]) -> ChunkGrid:
        """The grid of the array after it is resized to ``shape``; by default the same.

        Chunks with elements of both arrays must not change, and new lengths must be multiples of
        the common divisor of the present ones, because a chunk can be a shard.  If the last chunk
        ends with the array, resizing is possible only if no such chunk changes.

        Raises
        ------
        ValueError
            If there is no such grid; the array does not change.
        """
        return self
