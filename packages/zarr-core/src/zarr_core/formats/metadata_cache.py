"""A cache of validated metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from zarr_core.interfaces.format import NodeMetadata

K = TypeVar("K")

_MOST = 512
_LARGEST = 1 << 16  # bytes


class MetadataCache(dict[K, "NodeMetadata"]):
    """Validated metadata by the content of its documents; cleared when it is full."""

    def keep(self, content: K, size: int, metadata: NodeMetadata) -> NodeMetadata:
        """Add metadata whose documents have a number of bytes, unless they are large; return it."""
        if size <= _LARGEST:
            if len(self) >= _MOST:
                self.clear()
            self[content] = metadata
        return metadata
