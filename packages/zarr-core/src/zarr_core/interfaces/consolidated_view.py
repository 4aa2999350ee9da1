"""View of the consolidated metadata of a group, through which nodes are looked up and updated.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.metadata.group import ConsolidatedMetadata


class ConsolidatedView(ABC):
    """The consolidated metadata of one group, for the nodes that are reached through it.

    Paths are paths in the store.  zarr-formats implements it.

    Attributes
    ----------
    path : str
        Path of the group.
    metadata : ConsolidatedMetadata
        Its consolidated metadata.
    lookup : bool
        Whether nodes are looked up here.  Otherwise, the consolidated metadata is only updated.
    """

    path: str
    metadata: ConsolidatedMetadata
    lookup: bool

    @property
    @abstractmethod
    def is_current(self) -> bool:
        """Whether nodes can be looked up here; otherwise, the store is read."""

    @abstractmethod
    def node(self, path: str) -> NodeMetadata | None:
        """The metadata of a node; None if it has no entry."""

    @abstractmethod
    def children(self, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name."""

    @abstractmethod
    def child_names(self, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted."""

    @abstractmethod
    def batch(self) -> AbstractContextManager[None]:
        """Collect the changes that all threads record in the block, and write them when it ends.

        Nested blocks of one thread write when the outermost ends.
        """

    @abstractmethod
    def record(self, *, removed: Sequence[str] = (), changed: Sequence[str] = ()) -> None:
        """Update the entries of nodes from the store, in one write.

        ``removed`` are paths of nodes that were removed with everything below them, ``changed``
        those of new or changed nodes.
        """
