"""Storage transformer: a store in front of a store, for one array.

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
    """Alters the keys and values of an array before they reach the store.

    The first transformer of the list is nearest to the array, the last nearest
    to the store.
    """

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: ExtensionDefinition) -> StorageTransformer:
        """Make the transformer that a definition describes; its schema was checked before."""

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse arrays that the transformer does not fit; called once for each document.

        Parameters
        ----------
        shape : tuple of int
            Shape of the array, in elements.

        Raises
        ------
        ValueError
            If the array has, for instance, another number of dimensions.
        """
        return

    def as_codecs(self, metadata: ArrayMetadata) -> ArrayMetadata | None:
        """The same array, stored by the same bytes under the same keys, said by codecs alone.

        A store sees one chunk at a time; codecs see all that is read or written at
        once.  So the engine asks for this, and transforms the store only where there
        is no such description.

        Parameters
        ----------
        metadata : ArrayMetadata
            An array of which this is the first transformer.

        Returns
        -------
        ArrayMetadata or None
            The array without its first transformer, or None if that cannot be said.
        """
        return None

    @abstractmethod
    def transform(self, store: Store, prefix: str) -> Store:
        """The store that the array sees.

        Parameters
        ----------
        store : Store
            The store behind this transformer.
        prefix : str
            Key prefix of the array's chunks; empty or ending in ``/``.
        """
