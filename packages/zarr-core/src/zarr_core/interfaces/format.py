"""Format: how a hierarchy is laid out in a store.

A format defines the keys of metadata and chunks, and converts metadata documents to and from
the common metadata model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeVar

from zarr_core.interfaces.store import SetIfMissing
from zarr_core.names import is_path_part
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.interfaces.store import Buffers, Store
    from zarr_core.location import Location
    from zarr_core.metadata.array import ArrayMetadata
    from zarr_core.metadata.group import GroupMetadata

    NodeMetadata: TypeAlias = ArrayMetadata | GroupMetadata

M = TypeVar("M", "ArrayMetadata", "GroupMetadata")
T = TypeVar("T")


class Format(ABC):
    """An on-disk format.

    Paths are normalised: no leading or trailing ``/``, empty for the root.
    """

    name: ClassVar[str]
    """The name of the format, such as ``"v3"``."""

    zarr_format: ClassVar[int]
    """The number of the version, for users."""

    detection_keys: ClassVar[tuple[str, ...]]
    """Names of keys of which every node has one."""

    metadata_keys: ClassVar[tuple[str, ...]]
    """Names of all metadata documents that a node may have; detection keys first."""

    detection_priority: ClassVar[int] = 0
    """Formats with a higher priority are tried first.

    Version 3 is tried before all others, formats of other projects after those of this one.
    """

    conflicting_formats: ClassVar[tuple[str, ...]] = ()
    """Formats of which a node may have metadata documents, too, and which are preferred.

    Such a node is opened with a warning.  If version 3 is among them, its nodes may overwrite those
    of this format.
    """

    implicit_groups: ClassVar[bool] = False
    """Whether parent groups exist implicitly, so that they are not created."""

    undefined_fill_values: ClassVar[bool] = False
    """Whether the fill value of an array may be undefined."""

    chunk_key_encoding: ClassVar[ExtensionDefinition]
    """The default chunk key encoding of new arrays."""

    compressors: ClassVar[tuple[ExtensionDefinition, ...] | None] = None
    """The default compressors of new arrays; None for those of the core."""

    @abstractmethod
    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """The metadata of a node, or None if this format has no node at the path.

        Raises
        ------
        MetadataError
            If the metadata is invalid.
        """

    @abstractmethod
    def from_json(self, document: JSON, location: Location) -> NodeMetadata:
        """Parse the metadata documents of a node.

        ``document`` is one metadata document, or an object with several by their names; it is not
        copied.  ``location`` is the location, for errors.

        Raises
        ------
        MetadataError
            If it is invalid.
        """

    @abstractmethod
    def to_json(self, metadata: NodeMetadata) -> JSON:
        """Return the metadata documents, as :meth:`from_json` reads them.

        Unchanged metadata is returned as it was read.

        Raises
        ------
        MetadataValidationError
            If the format cannot represent it; each problem has the pointer of the version 3 member.
        """

    def to_format(self, metadata: M, location: Location) -> M:
        """Convert metadata that was not read in this format; ``location`` is the node, for errors.

        Raises
        ------
        MetadataValidationError
            As for :meth:`to_json`.
        """
        converted = self.from_json(self.to_json(metadata.replace(document=None)), location)
        assert isinstance(converted, type(metadata)), "an array stays an array"
        return converted

    def filters_and_compressors(
        self, metadata: ArrayMetadata
    ) -> tuple[Sequence[ExtensionDefinition], Sequence[ExtensionDefinition]] | None:
        """The codecs that the metadata calls filters, and those that it calls compressors.

        None, the default, if the format does not distinguish them: filters are then the array ->
        array codecs, compressors the bytes -> bytes codecs.
        """
        return None

    def is_valid_name(self, name: str) -> bool:
        """Whether a node may have a name; prefixes with other names are not nodes."""
        return is_path_part(name)

    def is_reserved(self, name: str) -> bool:
        """Whether the format reserves a name: existing nodes may have it, new ones should not.

        By default, False.
        """
        return False

    def check_path(self, path: str) -> None:
        """Raise if a new node may not have a path; reserved names are checked elsewhere.

        Raises
        ------
        NodeNameError
            If one of its names is invalid.
        """
        return

    @abstractmethod
    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Store the metadata of a node, new or changed."""

    @abstractmethod
    def create(
        self, store: Store, path: str, metadata: NodeMetadata, *, known_empty: bool = False
    ) -> bool:
        """Store the metadata of a node unless a node exists; return whether it was stored.

        Only one of several concurrent calls succeeds.  ``known_empty`` means that the caller has
        just seen that no key is below the path, which may save the requests that read.
        """

    @abstractmethod
    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read, change and store the metadata of a node, excluding other such changes.

        Raises
        ------
        NodeNotFoundError
            If the node has been removed.
        """

    def child_candidates(self, store: Store, path: str) -> Iterator[str]:
        """Names of possible nodes directly below a group, sorted; by default, of the prefixes."""
        prefix = _prefix(path)
        _, prefixes = store.list_dir(prefix)
        return filter(self.is_valid_name, (child[len(prefix) : -1] for child in sorted(prefixes)))

    def has_node(self, store: Store, path: str) -> bool:
        """Whether a node exists, determined by its keys; its metadata is not read.

        Called for the paths of :meth:`child_candidates`.
        """
        prefix = _prefix(path)
        return any(store.exists(prefix + key) for key in self.detection_keys)

    def child_names(self, store: Store, path: str) -> Iterator[str]:
        """Names of the nodes directly below a group, sorted; their metadata is not read."""
        nodes = self._each_child(store, path, lambda child: self.has_node(store, child) or None)
        return (name for name, _ in nodes)

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Names and metadata of the nodes directly below a group, sorted by name.

        By default reads the metadata of all possible children.

        Raises
        ------
        MetadataError
            If metadata is invalid.
        """
        return self._each_child(store, path, lambda child: self.read(store, child))

    def _each_child(
        self, store: Store, path: str, read: Callable[[str], T | None]
    ) -> Iterator[tuple[str, T]]:
        names, prefix = self.child_candidates(store, path), _prefix(path)
        values = concurrent_map(names, lambda name: read(prefix + name), store.max_concurrency)
        return ((name, value) for name, value in values if value is not None)

    def documents(self, path: str) -> tuple[str, ...]:
        """Keys of the metadata documents that a node may have; detection keys first.

        When a hierarchy is copied, moved or removed, these keys are written after all others and
        removed before them; :attr:`detection_keys` determine their order.
        """
        prefix = _prefix(path)
        return tuple(prefix + name for name in self.metadata_keys)

    def prefixes(self, path: str) -> tuple[str, ...]:
        """Prefixes of all other keys of a node, including the keys of its members."""
        return (_prefix(path),)

    def chunk_prefix(self, path: str) -> str:
        """The prefix of the chunk keys of an array; empty or ending in ``/``."""
        return _prefix(path)

    @abstractmethod
    def find_unmanaged_key(self, store: Store, path: str) -> str | None:
        """A key below a path that belongs to no node, or None.

        Called before a node is overwritten, so that nothing else is removed.
        """

    def unmanaged_keys(self, store: Store, keys: Iterable[str]) -> list[str]:
        """The keys that belong to no node of this format; by default all.

        Called for formats with :attr:`conflicting_formats`.
        """
        return list(keys)


def _prefix(path: str) -> str:
    return f"{path}/" if path else ""


def store_new(
    store: Store, key: str, value: Callable[[], Buffers], known_missing: bool = False
) -> bool:
    """Store a value unless one exists, under its lock, as :class:`SetIfMissing`; return whether."""
    change = SetIfMissing(value, known_missing)
    store.update(key, change)
    return change.stored
