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
    ValidationProblem,
)

NAME = "v3_draft"

# Canonical decimal numbers of at most 19 digits.
_COORDINATE = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class DraftEncoding(ChunkKeyEncoding):
    """The letter ``c``, followed by the grid coordinates.

    Parameters
    ----------
    separator : {"/", "."}
        Separator of the coordinates.
    scalar : {"c", "c0"}
        The key of the only chunk of an array without dimensions.
    """

    separator: Literal["/", "."] = "/"
    scalar: Literal["c", "c0"] = "c"

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> DraftEncoding:
        """Create the encoding.

        Raises
        ------
        ExtensionConfigurationError
            If the separator or the key of a scalar is invalid.
        """
        members: dict[str, Any] = {"separator": "/", "scalar": "c", **definition.configuration}
        problems = [
            ValidationProblem(
                f"/configuration/{member}", f"must be {' or '.join(allowed)}, not {value!r}"
            )
            for member, allowed in (("separator", ("/", ".")), ("scalar", ("c", "c0")))
            if (value := members[member]) not in allowed
        ]
        if problems:
            raise ExtensionConfigurationError("chunk_key_encoding", definition.name, "", problems)
        return cls(members["separator"], members["scalar"])

    def to_definition(self) -> ExtensionDefinition:
        """Return the definition."""
        return encoding(self.separator, self.scalar)

    def encode(self, chunk: tuple[int, ...]) -> str:
        """Return the key of a chunk."""
        return f"c{self.separator.join(map(str, chunk))}" if chunk else self.scalar

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """Return the grid coordinates of a key, or None if it is not the key of a chunk."""
        if not ndim:
            return () if key == self.scalar else None
        parts = key[1:].split(self.separator)
        if key[:1] != "c" or len(parts) != ndim or not all(map(_COORDINATE, parts)):
            return None
        return tuple(map(int, parts))

    def affixes(self, ndim: int) -> tuple[str, str]:
        """Return the prefix and the separator of keys."""
        return ("c" if ndim else self.scalar, self.separator)


def encoding(separator: str, scalar: str) -> ExtensionDefinition:
    """Return the definition of the encoding."""
    return ExtensionDefinition(NAME, {"separator": separator, "scalar": scalar})
