"""Chunk key encoding ``acme.hashed``: keys that begin with a digest, such as ``23/c/0/1``."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from zarr_core.extension import ChunkKeyEncoding, ExtensionDefinition

_LONGEST = 19  # digits of the largest index


@dataclass(frozen=True, slots=True)
class Hashed(ChunkKeyEncoding):
    """The keys of the ``default`` encoding, below prefixes from their SHA-256.

    Parameters
    ----------
    digits : int
        Number of hexadecimal digits of the digest: 2 give 256 prefixes.
    """

    digits: int = 2

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Hashed:
        digits: Any = definition.configuration.get("digits", 2)
        return cls(digits)

    def to_definition(self) -> ExtensionDefinition:
        return ExtensionDefinition("acme.hashed", {"digits": self.digits})

    def encode(self, chunk: tuple[int, ...]) -> str:
        # Not hash(): it depends on the process and on the version of Python.
        key = "/".join(["c", *map(str, chunk)])
        return f"{sha256(key.encode()).hexdigest()[: self.digits]}/{key}"

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        _, *numbers = key.split("/")[1:] or [""]
        if len(numbers) != ndim or not all(_is_number(number) for number in numbers):
            return None
        chunk = tuple(map(int, numbers))
        # A wrong digest, another letter than "c" and leading zeros are not chunk keys.
        return chunk if self.encode(chunk) == key else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST
