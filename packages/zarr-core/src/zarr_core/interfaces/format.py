"""Format: how a hierarchy is laid out in a store.

Formats name keys, read documents into the one metadata model and write them back.
Nothing else knows which format a node has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeVar

from zarr_core.names import is_path_part
from zarr_core.threads import in_flight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.interfaces.store import Pieces, Store
    from zarr_core.interfaces.value import ValueReader
    from zarr_core.metadata.array import ArrayMetadata
    from zarr_core.metadata.group import GroupMetadata

    NodeMetadata: TypeAlias = ArrayMetadata | GroupMetadata

M = TypeVar("M", "ArrayMetadata", "GroupMetadata")


class Format(ABC):
    """An on-disk format.

    Paths are normalised: no leading or trailing ``/``, empty for the root.
    """

    name: ClassVar[str]
    """The name of the format, such as ``"v3"``."""

    zarr_format: ClassVar[int]
    """The version that users know it by."""

    marks: ClassVar[tuple[str, ...]]
    """What is looked for at a node: names of keys, of which one is there."""

    document_names: ClassVar[tuple[str, ...]]
    """Names of all documents that a node may have, that which makes it a node first."""

    implicit_groups: ClassVar[bool] = False
    """Whether a node implies the groups that lead to it, so that none are made."""

    undefined_fill_values: ClassVar[bool] = False
    """Whether the document of an array may give no fill value."""

    chunk_key_encoding: ClassVar[ExtensionDefinition]
    """How new arrays name their chunks, if nothing else is asked for."""

    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = None
    """What compresses new arrays, if nothing else is asked for; None for what core chooses."""

    @abstractmethod
    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """The metadata of a node, or None if there is none of this format.

        Raises
        ------
        MetadataError
            If there is a document and it is wrong.
        """

    @abstractmethod
    def from_json(self, document: JSON, where: str) -> NodeMetadata:
        """Read what a node of this format has for documents.

        Parameters
        ----------
        document : JSON
            All that a node stores to describe itself, as one value: the document, or
            an object of several by their names.  It is kept.
        where : str
            What it is, for errors.

        Raises
        ------
        MetadataError
            If it is wrong.
        """

    @abstractmethod
    def to_json(self, metadata: NodeMetadata) -> JSON:
        """What :meth:`from_json` reads.

        What was read and not changed comes back as it was.

        Raises
        ------
        MetadataValidationError
            If the format has no words for it; names each problem by the pointer of the
            version 3 member.
        """

    def express(self, metadata: M, where: str) -> M:
        """New metadata as this format has them.

        Parameters
        ----------
        metadata : ArrayMetadata or GroupMetadata
            Metadata that was not read from a document of this format.
        where : str
            The node, for errors.

        Raises
        ------
        MetadataValidationError
            As for :meth:`to_json`.
        """
        found = self.from_json(self.to_json(metadata.replace(document=None)), where)
        assert isinstance(found, type(metadata)), "what was an array is one"
        return found

    def may_be_named(self, name: str) -> bool:
        """Whether a node below a group may have a name; what has another is no node."""
        return is_path_part(name)

    def check_path(self, path: str) -> None:
        """Refuse a path that no new node of this format may have.

        Raises
        ------
        NodeNameError
            If one of its names is against the format's grammar.
        """
        return

    @abstractmethod
    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Store the metadata of a node, new or changed."""

    def write_new(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Store the metadata of a node where nothing is, nor can be: the caller has looked.

        So that no operation is spent on what might be left of another node.
        """
        self.write(store, path, metadata)

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

    def possible_children(self, store: Store, path: str) -> Iterator[str]:
        """Names of all that may be nodes directly below a group, sorted.

        By default those of the prefixes there.
        """
        prefix = _below(path)
        _, prefixes = store.list_dir(prefix)
        return filter(self.may_be_named, (child[len(prefix) : -1] for child in sorted(prefixes)))

    def has_node(self, store: Store, path: str) -> bool:
        """Whether there is a node, told by its keys; nobody reads its document.

        Asked of the paths of :meth:`possible_children`.
        """
        prefix = _below(path)
        return any(store.exists(prefix + mark) for mark in self.marks)

    def child_names(self, store: Store, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted; nobody reads their documents."""
        prefix = _below(path)
        found = in_flight(
            self.possible_children(store, path),
            lambda name: self.has_node(store, prefix + name),
            store.requests,
        )
        return (name for name, is_node in found if is_node)

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name.

        By default every document that there may be is read; nobody asks first.

        Raises
        ------
        MetadataError
            If a document is wrong.
        """
        prefix = _below(path)
        found = in_flight(
            self.possible_children(store, path),
            lambda name: self.read(store, prefix + name),
            store.requests,
        )
        return ((name, metadata) for name, metadata in found if metadata is not None)

    def documents(self, path: str) -> tuple[str, ...]:
        """Keys of the documents that a node may have, that which makes it a node first."""
        prefix = _below(path)
        return tuple(prefix + name for name in self.document_names)

    def prefixes(self, path: str) -> tuple[str, ...]:
        """Prefixes below which all else of a node lies, its children included."""
        return (_below(path),)

    def chunk_prefix(self, path: str) -> str:
        """What stands before the chunk keys of an array; empty or ending in ``/``."""
        return _below(path)

    @abstractmethod
    def foreign_key(self, store: Store, path: str) -> str | None:
        """A key below a path that belongs to no node, if there is one.

        Asked before a node is overwritten, lest something else be removed with it.
        """

    def erase(self, store: Store, path: str) -> None:
        """Remove a node with everything below it; documents first, so that it is gone at once."""
        for key in self.documents(path):
            store.erase(key)
        for prefix in self.prefixes(path):
            store.erase_prefix(prefix)


def _below(path: str) -> str:
    return f"{path}/" if path else ""


def store_new(store: Store, key: str, value: Callable[[], Pieces]) -> bool:
    """Store a value where there is none, under the lock of its key; whether it was stored.

    Parameters
    ----------
    store : Store
        Where.
    key : str
        The key.
    value : callable
        Gives the value, if there is none; it may be called again.
    """
    stored = False

    def change(reader: ValueReader | None) -> Pieces | ValueReader:
        nonlocal stored
        stored = reader is None
        return value() if reader is None else reader

    store.update(key, change)
    return stored
