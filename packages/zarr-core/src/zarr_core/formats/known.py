"""Documents that were checked before, so that opening a node again costs no more than reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from zarr_core.interfaces.format import NodeMetadata

K = TypeVar("K")

_MOST = 512
_LARGEST = 1 << 16  # bytes


class KnownDocuments(dict[K, "NodeMetadata"]):
    """What documents say, by their content; forgets everything when there are too many."""

    def keep(self, content: K, size: int, metadata: NodeMetadata) -> NodeMetadata:
        """Remember what documents of so many bytes say, unless they are large; gives it back."""
        if size <= _LARGEST:
            if len(self) >= _MOST:
                self.clear()
            self[content] = metadata
        return metadata
