"""What every node has: a place, a document, attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr_core.errors import NodeNotFoundError, NodeTypeError, StoreReadOnlyError
from zarr_core.hierarchy.attributes import Attributes
from zarr_core.interfaces.keylock import key_lock
from zarr_core.metadata.rules import ARRAY_MEMBERS, GROUP_MEMBERS
from zarr_core.nodes.checking import check
from zarr_core.registry import scope
from zarr_core.strictjson import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.consolidation import Consolidation
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

M = TypeVar("M", bound="NodeMetadata")


class Node(Generic[M]):
    """A node of a hierarchy.

    Attributes
    ----------
    store : Store
        Where the node lives.
    path : str
        Its path in the store, without leading slash; empty for the root.
    metadata : ArrayMetadata or GroupMetadata
        Its document, as of opening or the last change through this object.
    read_only : bool
        Whether changes through this object are refused.
    """

    def __init__(
        self,
        store: Store,
        path: str,
        format_: Format,
        metadata: M,
        *,
        read_only: bool = False,
        consolidation: Consolidation | None = None,
    ) -> None:
        self.store = store
        self.path = path
        self.metadata = metadata
        self.read_only = read_only or store.read_only
        self._format = format_
        self._consolidation = consolidation
        # What the call was given that opened the node holds for as long as the node.
        self._extensions = scope.current()

    @property
    def name(self) -> str:
        """Path with a leading slash, as in ``/foo/bar``."""
        return f"/{self.path}"

    @property
    def basename(self) -> str:
        """The last part of the path; empty for the root."""
        return self.path.rpartition("/")[2]

    @property
    def zarr_format(self) -> int:
        """Version of the format that the node is stored in."""
        return self._format.zarr_format

    @property
    def attrs(self) -> Attributes:
        """The attributes, to be read and changed like a dictionary."""
        return Attributes(self)

    @attrs.setter
    def attrs(self, attributes: Mapping[str, Any]) -> None:
        self.attrs.put(attributes)

    def update_attributes(self, attributes: Mapping[str, Any]) -> Self:
        """Set some attributes and keep the others; returns the node."""
        self.attrs.update(attributes)
        return self

    def update_additional_fields(self, fields: Mapping[str, JSON]) -> Self:
        """Set members of the document that the specification does not define; keep the others.

        For extensions of kind ``extension`` (v3.1, "Additional fields"), which may object.

        Parameters
        ----------
        fields : mapping
            Names, each with its value in JSON, mostly an object; None removes a member.  One
            that others need not understand has the member ``"must_understand": false``.

        Returns
        -------
        Node
            This one.

        Raises
        ------
        UnknownExtensionError
            If nobody understands a member that must be understood.
        ExtensionConfigurationError, MetadataValidationError
            If whoever understands it refuses it, the format has no such members, or a value
            has no JSON form.
        ValueError
            If the specification defines a member of that name.
        """
        if defined := sorted(fields.keys() & {*ARRAY_MEMBERS, *GROUP_MEMBERS}):
            raise ValueError(f"{', '.join(defined)}: a member that the specification defines")
        given: Any = plain(dict(fields), self._where())

        def change(metadata: Any) -> Any:
            members = {**metadata.additional_fields, **given}
            kept = {name: value for name, value in members.items() if value is not None}
            return metadata.replace(additional_fields=kept)

        self._rewrite(change)
        return self

    def refresh(self) -> None:
        """Read the document again, to see what others have changed.

        Raises
        ------
        NodeNotFoundError
            If the node is gone.
        NodeTypeError
            If it has become an array, or a group, which it was not.
        """
        with self._changing():
            metadata = self._format.read(self.store, self.path)
            if metadata is None:
                raise NodeNotFoundError(self._where(), "the node has been removed")
            self._adopt(self._of_this_kind(metadata))

    def _changing(self) -> AbstractContextManager[None]:
        """Exclude the other threads that share this object; safe after a fork."""
        return key_lock(id(self), self.path)

    def _where(self) -> str:
        return f"{self.store} {self.name!r}"

    def _check_writable(self) -> None:
        """Raise if the node was opened for reading."""
        if self.read_only:
            raise StoreReadOnlyError(self._why_read_only(), self._where())

    def _why_read_only(self) -> str:
        if self.store.read_only:
            return "the store is open for reading only"
        return 'opened for reading only; open it with mode="r+"'

    def _rewrite(self, change: Callable[[M], M]) -> None:
        """Change the stored document: what others have changed meanwhile is kept."""
        self._check_writable()

        def checked(metadata: NodeMetadata) -> M:
            changed = change(self._of_this_kind(metadata))
            check(self.store, self.path, changed)
            return changed

        # Threads that share this object shall see their changes in the order in
        # which they were stored.
        with self._changing():
            self._adopt(self._format.update(self.store, self.path, checked))
        self._record(there=[self.path])

    def _record(self, *, gone: Sequence[str] = (), there: Sequence[str] = ()) -> None:
        """Bring consolidated metadata, if the node was reached through some, in step.

        Parameters
        ----------
        gone, there : sequence of str
            Paths of nodes that were removed with all below them; that are new or changed.
        """
        if self._consolidation is not None:
            self._consolidation.record(gone=gone, there=there)

    def _of_this_kind(self, metadata: NodeMetadata) -> M:
        if not isinstance(metadata, type(self.metadata)):
            raise NodeTypeError(self._where(), "has become a node of the other type")
        return metadata

    def _adopt(self, metadata: Any) -> None:
        self.metadata = metadata

    def _attributes(self) -> dict[str, JSON]:
        return self.metadata.attributes

    def __eq__(self, other: object) -> bool:
        """Whether both are the same place; what is stored there is not compared."""
        # Not NotImplemented: NumPy would read the array to compare its elements.
        return (
            isinstance(other, Node)
            and type(other) is type(self)
            and bool(self.store == other.store)
            and self.path == other.path
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.path))  # equal stores may have different URLs
