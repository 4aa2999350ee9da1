"""Display: representations of nodes other than text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType


class Display(ABC):
    """Shows nodes as HTML, with the library rich, and as chunk maps.

    The entry point ``default`` of group ``zarr_core.display`` provides it; without it, nodes are
    shown as text.  An instance is created for every use, without arguments.
    """

    @abstractmethod
    def html(self, shown: object) -> str:
        """HTML for a notebook, from a StoredArray, StoredGroup, Attributes, Info or Tree.

        For an array or group, ``shown`` is its attribute ``stored``.
        """

    @abstractmethod
    def rich(self, shown: object) -> RenderableType:
        """The representation of an Info or Tree for the library rich."""

    @abstractmethod
    def chunk_map(
        self,
        array: Any,
        dims: Sequence[int | str] | None,
        at: Mapping[int | str, int] | None,
        *,
        sizes: bool,
        inner: bool,
        cells: int,
        most: int,
    ) -> Any:
        """The chunk map of a StoredArray; arguments as for :meth:`zarr_core.Array.chunk_map`."""
