"""Chunk memory layout of the draft of 2022: Morton order, by the codec."""

from __future__ import annotations

from dataclasses import dataclass

from zarr_core.extension import ChunkMemoryLayout, ExtensionDefinition

from acme_morton import MortonCodec

URI = "https://acme.example/layouts/morton/1.0"


@dataclass(frozen=True, slots=True)
class MortonLayout(ChunkMemoryLayout):
    """A ``chunk_memory_layout`` of the draft, which is the first codec in version 3."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> MortonLayout:
        # In the draft, members are next to the URI; only the type is required.
        if definition.configuration != {"type": "morton"}:
            raise ValueError('must have the type "morton" and nothing else')
        return cls()

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition(URI, {"type": "morton"})

    def codec(self, ndim: int) -> MortonCodec | None:
        return MortonCodec() if ndim > 1 else None  # one dimension has one order
