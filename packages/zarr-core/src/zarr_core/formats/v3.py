"""Zarr version 3: one ``zarr.json`` at every node.

Specification: v3.1, "Stored representation".
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from zarr_core.errors import MetadataError, NodeNotFoundError
from zarr_core.formats.members import understanding
from zarr_core.interfaces.format import Format
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.node import parse_node
from zarr_core.names import is_node_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Pieces, Store, ValueReader

# Chunk keys of the "default" encoding.
_CHUNK = re.compile(r"(?:.*/)?c(?:(?:/[0-9]+)+|(?:\.[0-9]+)+)", re.DOTALL).fullmatch

# Documents that were checked before, so that opening an array again, or one like
# it, costs no more than reading its document.
_MOST_KNOWN = 512
_LARGEST_KNOWN = 1 << 16  # bytes
_known: dict[bytes, NodeMetadata] = {}


class V3(Format):
    """The final version 3 (3.0 and 3.1)."""

    name: ClassVar[str] = "v3"
    zarr_format: ClassVar[int] = 3
    marks: ClassVar[tuple[str, ...]] = ("zarr.json",)

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read ``zarr.json``; documents that were read before are not checked again."""
        key = metadata_key(path)
        data = store.get(key)
        if data is None:
            return None
        document = bytes(data)
        known = _known.get(document)
        return known or _remember(document, self.parse(document, f"{store} {key!r}"))

    def parse(self, document: bytes, where: str) -> NodeMetadata:
        """Parse the bytes of a ``zarr.json``."""
        return understanding(lambda understood: parse_node(document, where, understood))

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write ``zarr.json``."""
        store.set(metadata_key(path), metadata.to_bytes())

    def create(self, store: Store, path: str, metadata: NodeMetadata) -> bool:
        """Write ``zarr.json`` if there is none, under the lock of its key."""
        created = False

        def change(reader: ValueReader | None) -> Pieces:
            nonlocal created
            created = reader is None
            return metadata.to_bytes() if reader is None else reader.read(0, reader.size)

        key = metadata_key(path)
        if not store.exists(key):
            store.update(key, change)
        return created

    def update(
        self, store: Store, path: str, change: Callable[[NodeMetadata], NodeMetadata]
    ) -> NodeMetadata:
        """Read and write ``zarr.json`` under the lock of its key."""
        key = metadata_key(path)
        where = f"{store} {key!r}"
        changed: NodeMetadata | None = None

        def change_document(reader: ValueReader | None) -> Pieces:
            nonlocal changed
            if reader is None:
                raise NodeNotFoundError(where, "the node has been removed")
            changed = change(self.parse(bytes(reader.read(0, reader.size)), where))
            return changed.to_bytes()

        store.update(key, change_document)
        assert changed is not None
        return changed

    def child_names(self, store: Store, path: str) -> Iterator[str]:
        """Nodes are the prefixes that hold a ``zarr.json`` and have a node's name."""
        prefix = self.node_prefix(path)
        return (
            name
            for name in self._prefixes(store, prefix)
            if store.exists(metadata_key(f"{prefix}{name}"))
        )

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Read every document there may be, without asking first whether it is there."""
        prefix = self.node_prefix(path)
        for name in self._prefixes(store, prefix):
            metadata = self.read(store, f"{prefix}{name}")
            if metadata is not None:
                yield name, metadata

    def _prefixes(self, store: Store, prefix: str) -> Iterator[str]:
        """Names directly below a prefix that may be nodes.

        v3.1, "Node names": some names are reserved, such as ``__...``.
        """
        _, prefixes = store.list_dir(prefix)
        return filter(is_node_name, (child[len(prefix) : -1] for child in sorted(prefixes)))

    def node_prefix(self, path: str) -> str:
        """The path as a prefix."""
        return f"{path}/" if path else ""

    def chunk_prefix(self, path: str) -> str:
        """The path as a prefix."""
        return f"{path}/" if path else ""

    def foreign_key(self, store: Store, path: str) -> str | None:
        """A key that is no ``zarr.json``, does not lie below an array, and names no chunk.

        Chunks without a document are left where removing an array was interrupted.
        """
        others: list[str] = []
        arrays: set[str] = set()
        for key in store.list_prefix(self.node_prefix(path)):
            node, _, name = f"/{key}".rpartition("/")
            if name != "zarr.json":
                if not _CHUNK(key):
                    others.append(key)
            elif _is_array(store, key):
                arrays.add(node)
        for key in others:
            ancestors = accumulate(f"/{key}".split("/")[1:-1], "{}/{}".format, initial="")
            if arrays.isdisjoint(ancestors):
                return key
        return None

    def erase(self, store: Store, path: str) -> None:
        """Remove a node with everything below it, its own document first."""
        store.erase(metadata_key(path))
        store.erase_prefix(self.node_prefix(path))


def _remember(document: bytes, metadata: NodeMetadata) -> NodeMetadata:
    if len(document) <= _LARGEST_KNOWN:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[document] = metadata
    return metadata


def _is_array(store: Store, key: str) -> bool:
    """Whether a document is an array's; one that is damaged counts, as it shall be removed."""
    try:
        return not isinstance(parse_node(store.get(key) or b"", key), GroupMetadata)
    except MetadataError:
        return True


def metadata_key(path: str) -> str:
    """The key of the metadata document of a node."""
    return f"{path}/zarr.json" if path else "zarr.json"
