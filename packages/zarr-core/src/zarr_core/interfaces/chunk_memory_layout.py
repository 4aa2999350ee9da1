"""Chunk memory layout: the order in which the elements of a chunk are stored.

Specification: draft of December 2022, "Chunk memory layout".  Version 3.0 left
the concept out: there, the same is said by an array to array codec such as
``transpose``.  A format that still has it puts that codec at the head of the
chain, so that arrays know codecs only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition
    from zarr_core.interfaces.codec import ArrayToArrayCodec


class ChunkMemoryLayout(ABC):
    """A memory layout bound to its configuration; immutable, compared by value."""

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ChunkMemoryLayout:
        """Make the layout that a definition describes; its schema was checked before."""

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition to write into new metadata."""

    @abstractmethod
    def codec(self, ndim: int) -> ArrayToArrayCodec | None:
        """The codec that arranges the elements of a chunk in this order.

        Parameters
        ----------
        ndim : int
            Number of dimensions of the array.

        Returns
        -------
        ArrayToArrayCodec or None
            None if the order is that of C, which needs no codec.
        """
