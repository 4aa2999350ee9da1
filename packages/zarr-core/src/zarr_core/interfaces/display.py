"""Display: representations of nodes other than text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from zarr_core.display.info import Info
    from zarr_core.display.tree import Tree
    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.attributes import Attributes
    from zarr_core.hierarchy.group import Group

Displayed: TypeAlias = "Array | Group | Attributes | Info | Tree"
"""Objects with an HTML representation."""


class Display(ABC):
    """Shows nodes as HTML, with the library rich, and as chunk maps.

    The entry point ``default`` of group ``zarr_core.display`` provides it.  Without it,
    nodes are shown as text.  An instance is created for every use, without arguments.
    """

    @abstractmethod
    def html(self, shown: Displayed) -> str:
        """HTML for a notebook.

        Parameters
        ----------
        shown : Array, Group, Attributes, Info or Tree
            The object.
        """

    @abstractmethod
    def rich(self, shown: Info | Tree) -> RenderableType:
        """The representation for the library rich.

        Parameters
        ----------
        shown : Info or Tree
            The object.
        """

    @abstractmethod
    def chunk_map(
        self,
        array: Array,
        dims: Sequence[int | str] | None,
        at: Mapping[int | str, int] | None,
        *,
        sizes: bool,
        inner: bool,
        cells: int,
        most: int,
    ) -> Any:
        """The chunk map of an array.

        Parameters
        ----------
        array : Array
            The array.
        dims, at, sizes, inner, cells, most
            As for :meth:`zarr_core.Array.chunk_map`.
        """
