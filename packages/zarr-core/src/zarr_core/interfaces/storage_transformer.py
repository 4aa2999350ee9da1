"""Storage transformer: a layer between the codecs and the store of an array.

Specification: v3.1, "Storage transformers".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition
    from zarr_core.interfaces.store import Store
    from zarr_core.metadata.array import ArrayMetadata


class StorageTransformer(ABC):
    """Changes the keys and values of an array before they are stored.

    The first transformer in the metadata is next to the array, the last next to the store.
    """

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> StorageTransformer:
        """Create a transformer from a definition, which was validated with its schema."""

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise a ValueError for an unsupported array; called once for each metadata document."""
        return

    def as_codecs(self, metadata: ArrayMetadata) -> ArrayMetadata | None:
        """Equivalent metadata with codecs instead of this transformer; None if not possible.

        The stored keys and values must be the same.  This transformer is the first of ``metadata``.
        The engine prefers codecs, because a store handles one chunk at a time.
        """
        return None

    @abstractmethod
    def transform(self, store: Store, prefix: str) -> Store:
        """The store that the array uses, which reads and writes ``store``.

        ``prefix`` is the key prefix of the chunks; empty or ending in ``/``.
        """
