"""The chunk key encoding ``default``: keys such as ``c/1/23/45``.

Specification: v3.1, "Default chunk key encoding".
Configuration: ``{"separator": "/"}``, which is the default, or ``{"separator": "."}``
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.chunk_key_encodings._coordinates import check_separator, read_coordinates
from zarr_core.definition import ExtensionDefinition
from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding

if TYPE_CHECKING:
    from typing import Literal


@dataclass(frozen=True, slots=True)
class DefaultEncoding(ChunkKeyEncoding):
    """The letter ``c``, then the grid coordinates.

    Parameters
    ----------
    separator : {"/", "."}
        What stands before each coordinate.
    """

    separator: Literal["/", "."] = "/"

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> DefaultEncoding:
        return cls(check_separator(definition, "/"))

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("default", {"separator": self.separator})

    def encode(self, chunk: tuple[int, ...]) -> str:
        return self.separator.join(["c", *map(str, chunk)])

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        first, *parts = key.split(self.separator)
        return read_coordinates(parts) if first == "c" and len(parts) == ndim else None

    def affixes(self, ndim: int) -> tuple[str, str]:
        return (f"c{self.separator}" if ndim else "c", self.separator)
