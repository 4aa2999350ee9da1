"""The chunk key encodings of the core specification.

Name:           default: keys such as ``c/1/23/45``
Specification:  v3.1, "Default chunk key encoding".
Configuration:  ``{"separator": "/"}`` (default) or ``{"separator": "."}``

Name:           v2: keys such as ``1.23.45``
Specification:  v3.1, "v2 chunk key encoding".
Configuration:  ``{"separator": "."}`` (default) or ``{"separator": "/"}``
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from zarr_core.definition import ExtensionDefinition
from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding

Separator: TypeAlias = Literal["/", "."]


@dataclass(frozen=True, slots=True)
class DefaultEncoding(ChunkKeyEncoding):
    """The encoding ``default``: ``c``, then the chunk coordinates, as in ``c/1/23/45``."""

    separator: Separator = "/"

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> DefaultEncoding:
        separator: Any = definition.configuration.get("separator", "/")
        return cls(separator)

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("default", {"separator": self.separator})

    def encode(self, chunk: tuple[int, ...]) -> str:
        return self.separator.join(["c", *map(str, chunk)])

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        first, *parts = key.split(self.separator)
        return _parse_coordinates(parts) if first == "c" and len(parts) == ndim else None

    def affixes(self, ndim: int) -> tuple[str, str]:
        return (f"c{self.separator}" if ndim else "c", self.separator)


@dataclass(frozen=True, slots=True)
class V2Encoding(ChunkKeyEncoding):
    """The encoding ``v2``, used by version 2: the chunk coordinates, as in ``1.23.45``."""

    separator: Separator = "."

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> V2Encoding:
        separator: Any = definition.configuration.get("separator", ".")
        return cls(separator)

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("v2", {"separator": self.separator})

    def encode(self, chunk: tuple[int, ...]) -> str:
        # "For chunk grids with 0 dimensions, the single chunk has the key "0"."
        return self.separator.join(map(str, chunk)) if chunk else "0"

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        if ndim == 0:
            return () if key == "0" else None
        parts = key.split(self.separator)
        return _parse_coordinates(parts) if len(parts) == ndim else None

    def affixes(self, ndim: int) -> tuple[str, str]:
        return ("" if ndim else "0", self.separator)


# Canonical: no sign, no leading zeros, ASCII digits, at most as many as an index can have.
_COORDINATE = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch


def _parse_coordinates(parts: list[str]) -> tuple[int, ...] | None:
    """Return decimal strings as integers; None if one is not canonical."""
    return tuple(map(int, parts)) if all(map(_COORDINATE, parts)) else None
