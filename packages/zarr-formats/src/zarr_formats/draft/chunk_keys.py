"""The chunk key encoding ``v3_draft``: keys such as ``c1/23/45``.

Specification: draft of December 2022, "Regular grids".
Configuration: ``{"separator": "/", "scalar": "c"}``.  ``scalar`` is the key of the only
chunk of an array without dimensions: ``c`` in the text, ``c0`` as zarr-python 2 writes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from zarr_core.extension import (
    ChunkKeyEncoding,
    ExtensionConfigurationError,
    ExtensionDefinition,
    Problem,
)

NAME = "v3_draft"

# Canonical decimal numbers, as many digits as an index can have.
_COORDINATE = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class DraftEncoding(ChunkKeyEncoding):
    """The letter ``c``, followed by the grid coordinates.

    Parameters
    ----------
    separator : {"/", "."}
        What stands between coordinates.
    scalar : {"c", "c0"}
        The key of the only chunk of an array without dimensions.
    """

    separator: Literal["/", "."] = "/"
    scalar: Literal["c", "c0"] = "c"

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> DraftEncoding:
        """Make the encoding.

        Raises
        ------
        ExtensionConfigurationError
            If the separator or the key of a scalar is another.
        """
        given: dict[str, Any] = {"separator": "/", "scalar": "c", **definition.configuration}
        problems = [
            Problem(f"/configuration/{member}", f"must be {' or '.join(allowed)}, not {value!r}")
            for member, allowed in (("separator", ("/", ".")), ("scalar", ("c", "c0")))
            if (value := given[member]) not in allowed
        ]
        if problems:
            raise ExtensionConfigurationError("chunk_key_encoding", definition.name, "", problems)
        return cls(given["separator"], given["scalar"])

    def to_definition(self) -> ExtensionDefinition:
        """Give the definition."""
        return encoding(self.separator, self.scalar)

    def encode(self, chunk: tuple[int, ...]) -> str:
        """Give the key of a chunk."""
        return f"c{self.separator.join(map(str, chunk))}" if chunk else self.scalar

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """Give the grid coordinates of a key, or None if it is no chunk's."""
        if not ndim:
            return () if key == self.scalar else None
        parts = key[1:].split(self.separator)
        if key[:1] != "c" or len(parts) != ndim or not all(map(_COORDINATE, parts)):
            return None
        return tuple(map(int, parts))

    def affixes(self, ndim: int) -> tuple[str, str]:
        """Give what keys are joined with."""
        return ("c" if ndim else self.scalar, self.separator)


def encoding(separator: str, scalar: str) -> ExtensionDefinition:
    """The definition of an encoding with this configuration."""
    return ExtensionDefinition(NAME, {"separator": separator, "scalar": scalar})
