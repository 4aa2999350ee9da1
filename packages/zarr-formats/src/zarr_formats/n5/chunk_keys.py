"""The chunk key encoding ``n5``: keys such as ``45/23/1`` for the chunk (1, 23, 45).

Specification: N5 file-system specification, item 5.  The dimensions of an N5 array stand
in the opposite order here, so its grid positions do as well.
Configuration: none
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from zarr_core.extension import ChunkKeyEncoding, ExtensionDefinition

# Canonical decimal numbers, as many digits as an index can have.
_COORDINATE = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class N5Encoding(ChunkKeyEncoding):
    """The grid coordinates, the last one first, with ``/`` between them."""

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> N5Encoding:
        """Make the encoding, which has no configuration."""
        return cls()

    def to_definition(self) -> ExtensionDefinition:
        """Return the definition, which has no configuration."""
        return ExtensionDefinition("n5")

    def encode(self, chunk: tuple[int, ...]) -> str:
        """Return the key of a chunk; ``"0"`` without dimensions, as all writers of N5 have it."""
        return "/".join(map(str, reversed(chunk))) if chunk else "0"

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """Return the grid coordinates of a key, or None if it is not the key of a chunk."""
        if not ndim:
            return () if key == "0" else None
        parts = key.split("/")
        if len(parts) != ndim or not all(map(_COORDINATE, parts)):
            return None
        return tuple(map(int, reversed(parts)))

    def affixes(self, ndim: int) -> tuple[str, str] | None:
        """Return what keys are joined with, where there is nothing to reverse."""
        return ("" if ndim else "0", "/") if ndim < 2 else None
