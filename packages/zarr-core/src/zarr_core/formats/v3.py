"""Zarr version 3: one ``zarr.json`` at every node.

Specification: v3.1, "Stored representation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from zarr_core.errors import NodeNameError
from zarr_core.interfaces.format import Format
from zarr_core.metadata.node import parse_node
from zarr_core.names import check_node_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Store


class V3(Format):
    """The final version 3 (3.0 and 3.1)."""

    name: ClassVar[str] = "v3"
    zarr_format: ClassVar[int] = 3
    marks: ClassVar[tuple[str, ...]] = ("zarr.json",)

    def read(self, store: Store, path: str) -> NodeMetadata | None:
        """Read ``zarr.json``; documents that were read before are not checked again."""
        key = metadata_key(path)
        data = store.get(key)
        return None if data is None else parse_node(bytes(data), f"{store} {key!r}")

    def write(self, store: Store, path: str, metadata: NodeMetadata) -> None:
        """Write ``zarr.json``."""
        store.set(metadata_key(path), metadata.to_bytes())

    def children(self, store: Store, path: str) -> Iterator[tuple[str, NodeMetadata]]:
        """Nodes are the prefixes that hold a ``zarr.json`` and have a node's name."""
        prefix = self.node_prefix(path)
        _, prefixes = store.list_dir(prefix)
        for child in sorted(prefixes):
            name = child[len(prefix) : -1]
            try:
                check_node_name(name)
            except NodeNameError:
                continue  # v3.1, "Node names": such as the reserved "__..."
            metadata = self.read(store, child[:-1])
            if metadata is not None:
                yield name, metadata

    def node_prefix(self, path: str) -> str:
        """The path as a prefix."""
        return f"{path}/" if path else ""

    def chunk_prefix(self, path: str) -> str:
        """The path as a prefix."""
        return f"{path}/" if path else ""

    def erase(self, store: Store, path: str) -> None:
        """Remove a node with everything below it, its own document first."""
        store.erase(metadata_key(path))
        store.erase_prefix(self.node_prefix(path))


def metadata_key(path: str) -> str:
    """The key of the metadata document of a node."""
    return f"{path}/zarr.json" if path else "zarr.json"
