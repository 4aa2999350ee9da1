"""Metadata extension: the meaning of an additional field.

Specification: v3.1, "Additional fields"; draft of December 2022, ``extensions``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.errors import ValidationProblem


class MetadataExtension(ABC):
    """The meaning of an additional field for its node.

    It has the name of the field or, in the draft, of an entry of ``extensions``.  A field with an
    installed extension is understood; the extension can reject the metadata.
    """

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> MetadataExtension:
        """Create an extension from a definition, which was validated with its schema."""

    @abstractmethod
    def check(self, document: Mapping[str, JSON]) -> list[ValidationProblem]:
        """Return the problems of the metadata document of a node, which must not be changed."""
