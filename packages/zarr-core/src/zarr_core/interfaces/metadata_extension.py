"""Metadata extension: a member of a metadata document that the specification does not define.

Specification: v3.1, "Additional fields"; draft of December 2022, ``extensions``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.metadata.problem import Problem


class MetadataExtension(ABC):
    """What a further member means to the node whose document has it.

    Its name is the name of the member or, in the draft, that of an entry of
    ``extensions``.  Being there is what makes the member understood; the code
    may then object to the document.
    """

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> MetadataExtension:
        """Make the extension that a definition describes; its schema was checked before."""

    @abstractmethod
    def check(self, document: Mapping[str, JSON]) -> list[Problem]:
        """What is wrong with a node's document, given this extension.

        Parameters
        ----------
        document : mapping
            The whole document; must not be changed.
        """
