"""Chunk key encoding: from grid coordinates to the key of a chunk.

Specification: v3.1, "Chunk key encoding".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition


class ChunkKeyEncoding(ABC):
    """A chunk key encoding bound to its configuration; immutable, compared by value."""

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> ChunkKeyEncoding:
        """Make the encoding that a definition describes; its schema was checked before."""

    @abstractmethod
    def to_definition(self) -> ExtensionDefinition:
        """The definition to write into new metadata."""

    @abstractmethod
    def encode(self, chunk: tuple[int, ...]) -> str:
        """The key of a chunk, relative to its array, such as ``"c/0/1"``.

        Parameters
        ----------
        chunk : tuple of int
            Grid coordinates; empty for an array without dimensions.
        """

    @abstractmethod
    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        """The grid coordinates that a key stands for, or None if it is no chunk's key.

        Parameters
        ----------
        key : str
            A key relative to the array.
        ndim : int
            Number of dimensions of the array.
        """

    def check(self, counts: tuple[int, ...]) -> None:
        """Refuse an array whose chunks cannot have keys of their own; accepts all by default.

        Parameters
        ----------
        counts : tuple of int
            Number of chunks along each dimension of the array.

        Raises
        ------
        ValueError
            If it does not fit; says why.
        """
        return

    def affixes(self, ndim: int) -> tuple[str, str] | None:
        """How keys are put together, if that is by joining: ``(before, between)``.

        With ``("c/", "/")`` the key of chunk ``(0, 1)`` is ``"c/0/1"``.  The
        engine then makes keys without calling :meth:`encode` for each.  None
        where keys are made in any other way.
        """
        return None
