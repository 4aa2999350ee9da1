"""Chunk memory layout: the order in which the elements of a chunk are stored.

Specification: draft of December 2022, "Chunk memory layout".  Version 3.0 replaced it by
array -> array codecs such as ``transpose``.  Formats with a layout insert this codec at the
beginning of the chain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition
    from zarr_core.interfaces.codec import ArrayToArrayCodec


class ChunkMemoryLayout(ABC):
    """A memory layout with its configuration; immutable, compared by value."""

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ChunkMemoryLayout:
        """Create a layout from a definition, which was validated with its schema."""

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition for new metadata."""

    @abstractmethod
    def codec(self, ndim: int) -> ArrayToArrayCodec | None:
        """The codec that arranges the elements of a chunk in this order.

        None for C order, which needs no codec.  ``ndim`` is the number of dimensions of the array.
        """
