"""fanout chunk key encoding: keys such as ``c/1/001/234``, with a limit of entries per directory.

Name:           fanout
Specification:  zarr-extensions, pull request 31 (a proposal), chunk-key-encodings/fanout
Configuration:  {"max_children": 1000}, which is the default
Schema:         schemas/chunk_key_encoding/fanout.json
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from zarr_core.extension import (
    ChunkKeyEncoding,
    ExtensionConfigurationError,
    ExtensionDefinition,
    ValidationProblem,
)

_LEAST = 100
_DIGITS = re.compile(r"[0-9]+", re.ASCII).fullmatch
_LONGEST = 19  # digits of the largest index


@dataclass(frozen=True, slots=True)
class FanoutEncoding(ChunkKeyEncoding):
    """Keys with the digits of each coordinate in groups, after the number of groups minus one.

    Parameters
    ----------
    width : int
        Number of digits in a group; at least 2.
    """

    width: int = 3

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> FanoutEncoding:
        most = definition.configuration.get("max_children", 1000)
        if type(most) is not int or most < _LEAST:
            # "If a value smaller than 100 is provided, the implementation MUST raise an error."
            raise ExtensionConfigurationError(
                "chunk_key_encoding",
                definition.name,
                "",
                [
                    ValidationProblem(
                        "/configuration/max_children", f"must be an integer of at least {_LEAST}"
                    )
                ],
            )
        # Rounded down to a power of 10, see the table of effective values.
        return cls(len(str(most)) - 1)

    def to_definition(self) -> ExtensionDefinition:
        """Return the definition with the effective value, which needs no rounding."""
        return ExtensionDefinition("fanout", {"max_children": 10**self.width})

    def encode(self, chunk: tuple[int, ...]) -> str:
        width = self.width
        parts = ["c"]
        for number in chunk:
            digits = str(number)
            groups = -(-len(digits) // width)
            digits = digits.zfill(groups * width)
            parts.append(str(groups - 1))
            parts += [digits[at : at + width] for at in range(0, len(digits), width)]
        return "/".join(parts)

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        first, *parts = key.split("/")
        if first != "c" or not all(map(_DIGITS, parts)):
            return None
        chunk = []
        while parts:
            more = parts.pop(0)
            groups, parts = parts[: int(more[:2]) + 1], parts[int(more[:2]) + 1 :]
            digits = "".join(groups).lstrip("0") or "0"
            if len(digits) > _LONGEST:
                return None
            chunk.append(int(digits))
        coords = tuple(chunk)
        # Only the canonical form is a chunk key.
        return coords if len(coords) == ndim and self.encode(coords) == key else None
