"""The chunk key encoding ``v2``: keys such as ``1.23.45``.

Specification: v3.1, "v2 chunk key encoding".
Configuration: ``{"separator": "."}``, which is the default, or ``{"separator": "/"}``
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
class V2Encoding(ChunkKeyEncoding):
    """The grid coordinates alone, so that data of version 2 need not be renamed.

    Parameters
    ----------
    separator : {"/", "."}
        What stands between coordinates.
    """

    separator: Literal["/", "."] = "."

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> V2Encoding:
        return cls(check_separator(definition, "."))

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("v2", {"separator": self.separator})

    def encode(self, chunk: tuple[int, ...]) -> str:
        # "For chunk grids with 0 dimensions, the single chunk has the key "0"."
        return self.separator.join(map(str, chunk)) if chunk else "0"

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        if ndim == 0:
            return () if key == "0" else None
        parts = key.split(self.separator)
        return read_coordinates(parts) if len(parts) == ndim else None

    def affixes(self, ndim: int) -> tuple[str, str]:
        return ("" if ndim else "0", self.separator)
