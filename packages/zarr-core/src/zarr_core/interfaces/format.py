"""Format: how a hierarchy is laid out in a store.

Formats name keys, read documents into the one metadata model and write them back.
Nothing else knows which format a node has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from zarr_core.interfaces.store import Store
    from zarr_core.metadata.array import ArrayMetadata
    from zarr_core.metadata.group import GroupMetadata

    NodeMetadata: TypeAlias = ArrayMetadata | GroupMetadata


class Format(ABC):
    """An on-disk format.

    Paths are normalised: no leading or trailing ``/``, empty for the root.
    """

    name: ClassVar[str]
    """The name of the format, such as ``"v3"``."""

    zarr_format: ClassVar[int]
    """The version that users know it by."""

    marks: ClassVar[tuple[str, ...]]
    """What is looked for at a node, for messages: names of keys."""

    @abstractmethod
    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """The metadata of a node, or None if there is none of this format.

        Raises
        ------
        MetadataError
            If there is a document and it is wrong.
        """

    @abstractmethod
    def parse(self, document: bytes, where: str) -> NodeMetadata:
        """The metadata that ``metadata.to_bytes()`` of a node of this format gave.

        Raises
        ------
        MetadataError
            If the document is wrong.
        """

    @abstractmethod
    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Store the metadata of a node, new or changed."""

    @abstractmethod
    def create(self, store: Store, path: str, metadata: NodeMetadata) -> bool:
        """Store the metadata of a node unless there is one; whether it was stored.

        Of several that create the same node at the same time, one succeeds.
        """

    @abstractmethod
    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read, change and store the metadata of a node, excluding other such changes.

        Raises
        ------
        NodeNotFoundError
            If the node is gone.
        """

    @abstractmethod
    def child_names(self, store: Store, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted; nobody reads their documents."""

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name.

        Raises
        ------
        MetadataError
            If a document is wrong.
        """
        for name in self.child_names(store, path):
            metadata = self.read(store, f"{path}/{name}" if path else name)
            if metadata is not None:
                yield name, metadata

    @abstractmethod
    def node_prefix(self, path: str) -> str:
        """The prefix below which everything of a node lies, its children included."""

    @abstractmethod
    def chunk_prefix(self, path: str) -> str:
        """What stands before the chunk keys of an array; empty or ending in ``/``."""

    @abstractmethod
    def foreign_key(self, store: Store, path: str) -> str | None:
        """A key below a path that belongs to no node, if there is one.

        Asked before a node is overwritten, lest something else be removed with it.
        """

    def erase(self, store: Store, path: str) -> None:
        """Remove a node with everything below it; metadata first, so that it is gone at once."""
        store.erase_prefix(self.node_prefix(path))
