"""Chunk key encoding: the key of a chunk, from its coordinates.

Specification: v3.1, "Chunk key encoding".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition


class ChunkKeyEncoding(ABC):
    """A chunk key encoding with its configuration; immutable, compared by value."""

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ChunkKeyEncoding:
        """Create an encoding from a definition, which was validated with its schema."""

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition for new metadata."""

    @abstractmethod
    def encode(self, chunk: tuple[int, ...]) -> str:
        """The key of a chunk, relative to its array, such as ``"c/0/1"``.

        ``chunk`` has the chunk coordinates; it is empty for an array without dimensions.
        """

    @abstractmethod
    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """The chunk coordinates of a key relative to the array; None if it is not a chunk key."""

    def check(self, counts: tuple[int, ...]) -> None:
        """Raise an error for arrays whose chunks would not have unique keys; by default, never.

        Parameters
        ----------
        counts : tuple of int
            Number of chunks along each dimension of the array.

        Raises
        ------
        ValueError
            If chunks would not have unique keys; the message has the reason.
        """
        return

    def affixes(self, ndim: int) -> tuple[str, str] | None:
        """Prefix and separator, if these define the keys; else None.

        With ``("c/", "/")`` the key of chunk ``(0, 1)`` is ``"c/0/1"``; the engine then does not
        call :meth:`encode` for each key.
        """
        return None
