"""Chunk memory layout of the draft of 2022: Morton order, as the codec has it."""

from __future__ import annotations

from dataclasses import dataclass

from zarr_core.extension import ChunkMemoryLayout, ExtensionDefinition

from acme_morton import MortonCodec

URI = "https://acme.example/layouts/morton/1.0"


@dataclass(frozen=True, slots=True)
class MortonLayout(ChunkMemoryLayout):
    """What ``chunk_memory_layout`` names in the draft is a codec, the first, in version 3."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> MortonLayout:
        # In the draft, members stand beside the URI; a type is demanded, the rest is ours.
        if definition.configuration != {"type": "morton"}:
            raise ValueError('must have the type "morton" and nothing else')
        return cls()

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition(URI, {"type": "morton"})

    def codec(self, ndim: int) -> MortonCodec | None:
        return MortonCodec() if ndim > 1 else None  # of one dimension, nothing moves
