"""Nodes as they are stored: their location and metadata, without the user interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr_core.errors import NodeNotFoundError, NodeTypeError, StoreReadOnlyError
from zarr_core.interfaces.store import READ_ONLY
from zarr_core.location import Location
from zarr_core.metadata.group import GroupMetadata
from zarr_core.registry import overrides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store
    from zarr_core.registry.overrides import Extensions

M = TypeVar("M", bound="NodeMetadata")


@dataclass(eq=False, repr=False)
class StoredNode(ABC, Generic[M]):
    """A node as it is stored, without the user interface.

    Attributes
    ----------
    store : Store
        The store that the user opened.
    path : str
        Path in the store, without leading slash; empty for the root.
    format : Format
        The format that the node is stored in.
    metadata : ArrayMetadata or GroupMetadata
        Its metadata, as of opening or the last change.
    consolidated : zarr_formats.consolidated_view.IndexedView or None
        The consolidated metadata through which the node was reached.
    extensions : mapping
        The extensions that :func:`zarr_core.override_extensions` had set when the node was opened.
    ignored_extensions : tuple of ExtensionDefinition
        Unknown extensions with must_understand false; they make the node read-only.
    read_only : bool
        Whether the node was opened for reading only, its store is read-only, or extensions are
        ignored.
    fixed : bool
        Whether the metadata are assumed: the stored ones are neither read nor written.
    """

    store: Store
    path: str
    format: Format
    metadata: M
    _: KW_ONLY
    read_only: bool = False
    consolidated: Any = None
    extensions: Extensions = field(default_factory=overrides.current)
    fixed: bool = False
    ignored_extensions: tuple[ExtensionDefinition, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        self.read_only = self.read_only or self.store.read_only

    @property
    def name(self) -> str:
        """Path with a leading slash, as in ``/foo/bar``."""
        return f"/{self.path}"

    @property
    def location(self) -> Location:
        """Location of the node, for messages."""
        return Location(self.store, self.path)

    def check_writable(self) -> None:
        """Raise a StoreReadOnlyError if :attr:`read_only`."""
        if not self.read_only:
            return
        if self.ignored_extensions:
            names = ", ".join(definition.name for definition in self.ignored_extensions)
            reason = f"is read-only because the extensions {names} are not installed; install them"
        elif self.store.read_only:
            reason = READ_ONLY
        else:
            reason = 'opened for reading only; open it with mode="r+"'
        raise StoreReadOnlyError(reason, self.location)

    def check_not_fixed(self) -> None:
        """Raise a StoreReadOnlyError if the stored metadata must not be accessed."""
        if self.fixed:
            reason = (
                "the metadata of this array are assumed (fixed=True), and stored metadata are "
                "neither read nor written; open the array with open_array to read or change them"
            )
            raise StoreReadOnlyError(reason, self.location)

    @abstractmethod
    def with_metadata(self, metadata: M) -> Self:
        """The same node with other metadata; nothing is stored."""

    def read_again(self) -> Self:
        """The same node with the metadata that is stored now.

        Raises NodeNotFoundError if it has been removed, NodeTypeError if its type has changed.
        """
        metadata = self.format.read(self.store, self.path)
        if metadata is None:
            raise NodeNotFoundError(self.location, "the node has been removed")
        return self.with_metadata(self.same_type(metadata))

    def same_type(self, metadata: NodeMetadata) -> M:
        """Return metadata of this node; raise a NodeTypeError if they are of the other type."""
        if not isinstance(metadata, type(self.metadata)):
            raise NodeTypeError(self.location, "has become a node of the other type")
        return metadata

    def record(self, *, removed: Sequence[str] = (), changed: Sequence[str] = ()) -> None:
        """Update the consolidated metadata through which the node was reached, if any.

        Parameters
        ----------
        removed, changed : sequence of str
            Paths of nodes that were removed with everything below them; of new or changed nodes.
        """
        if self.consolidated is not None:
            self.consolidated.record(removed=removed, changed=changed)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.location}>"


@dataclass(eq=False, repr=False)
class StoredGroup(StoredNode[GroupMetadata]):
    """A group as it is stored, perhaps with members from consolidated metadata.

    All paths are paths in the store, as :attr:`path` is.  Members are opened with ``extensions``.
    """

    @property
    def uses_consolidated(self) -> bool:
        """Whether members are looked up in consolidated metadata."""
        return self.consolidated is not None and self.consolidated.lookup

    def find(self, path: str) -> NodeMetadata | None:
        """Metadata of the group or a node below it; None if there is none."""
        consolidated = self.consolidated
        if consolidated is not None and consolidated.is_current and path != self.path:
            node: NodeMetadata | None = consolidated.node(path)
            return node
        return self.format.read(self.store, path)

    def children(self, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name."""
        if self.consolidated is not None and self.consolidated.is_current:
            children: Iterator[tuple[str, NodeMetadata]] = self.consolidated.children(path)
            return children
        return self.format.children(self.store, path)

    def child_names(self, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted; also of those with damaged metadata."""
        if self.consolidated is not None and self.consolidated.is_current:
            names: Iterator[str] = self.consolidated.child_names(path)
            return names
        return self.format.child_names(self.store, path)

    def with_metadata(self, metadata: GroupMetadata) -> Self:
        """The same group with other metadata, whose consolidated metadata replace the old ones."""
        view = self.consolidated
        if view is not None and view.path == self.path:
            if metadata.consolidated is None:
                view = None
            else:
                view.metadata = metadata.consolidated
        return replace(self, metadata=metadata, consolidated=view)
