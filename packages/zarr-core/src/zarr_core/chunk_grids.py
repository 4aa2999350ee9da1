"""The chunk grid of the core specification.

Name:          regular: all chunks have the same shape
Specification: v3.1, "Regular chunk grid".
Configuration: ``{"chunk_shape": [1000, 100]}``
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.interfaces.chunk_grid import ChunkAxis, ChunkGrid

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class RegularAxis(ChunkAxis):
    """Chunks of equal length; the last one may extend beyond the array.

    ``size`` and ``uniform``, the length of a chunk, are in elements; ``count`` is the number of
    chunks.
    """

    size: int
    count: int
    uniform: int

    def start(self, chunk: int) -> int:
        return chunk * self.uniform

    def length(self, chunk: int) -> int:
        return self.uniform

    def chunk_of(self, element: int) -> int:
        return element // self.uniform

    def chunks_of(self, elements: np.ndarray[Any, np.dtype[np.intp]]) -> np.ndarray[Any, Any]:
        if self.uniform > self.size:  # the chunk length may exceed NumPy's integers
            return elements * 0
        return elements // self.uniform


@dataclass(frozen=True, slots=True)
class RegularGrid(ChunkGrid):
    """A regular grid, aligned with the origin of the array.

    ``lengths`` has the length of a chunk along each dimension, in elements; at least 1.
    """

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        # "Chunk sizes must be greater than zero."
        if any(length < 1 for length in self.lengths):
            raise ValueError(
                f"chunks must have a length of at least 1 in each dimension, not {self.lengths}"
            )

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> RegularGrid:
        lengths: Any = definition.configuration["chunk_shape"]
        return cls(tuple(lengths))

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("regular", {"chunk_shape": list(self.lengths)})

    def axes(self, shape: tuple[int, ...]) -> tuple[RegularAxis, ...]:
        if len(shape) != len(self.lengths):
            raise ValueError(
                f"chunks of shape {self.lengths} do not fit an array of shape {shape}: "
                f"{len(self.lengths)} dimensions are not {len(shape)}"
            )
        return tuple(
            RegularAxis(size, -(-size // chunk), chunk)
            for size, chunk in zip(shape, self.lengths, strict=True)
        )
