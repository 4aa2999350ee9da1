"""Display: representations of nodes other than text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


class Display(ABC):
    """Shows nodes as HTML and with the library rich.

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
