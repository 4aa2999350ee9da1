"""Metadata under the names of its format."""

from __future__ import annotations

from typing import Any

import zarr_core
from zarr_core.tools import format_named

__all__ = ["MetadataView"]

_ONLY_IN_3 = ("dimension_names", "codecs", "chunk_key_encoding", "storage_transformers")


class MetadataView:
    """The metadata of a node.

    Version 2 lacks the attributes that only version 3 has, as programs distinguish them by
    ``dimension_names``.

    Parameters
    ----------
    node : zarr_core.Array or zarr_core.Group
        The node.
    """

    def __init__(self, node: zarr_core.Array | zarr_core.Group) -> None:
        self._node = node

    @property
    def zarr_format(self) -> int:
        """Version of the format."""
        return self._node.zarr_format

    @property
    def node_type(self) -> str:
        """Either ``"array"`` or ``"group"``."""
        return "array" if isinstance(self._node, zarr_core.Array) else "group"

    @property
    def consolidated_metadata(self) -> Any:
        """The consolidated metadata, or None."""
        return getattr(self._node.metadata, "consolidated", None)

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata document, including the attributes."""
        format_ = format_named(self.zarr_format)
        document: Any = format_.to_json(self._node.metadata)
        if self.zarr_format == 3:
            return dict(document)
        main = next(content for name, content in document.items() if name != ".zattrs")
        return {**main, "attributes": document.get(".zattrs", {})}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or (self.zarr_format < 3 and name in _ONLY_IN_3):
            raise AttributeError(f"the metadata of this format has no {name!r}")
        try:
            return getattr(self._node.metadata, name)
        except AttributeError:
            return getattr(self._node, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetadataView) and self._node.metadata == other._node.metadata

    __hash__ = None  # type: ignore[assignment]  # as what it shows

    def __repr__(self) -> str:
        return repr(self._node.metadata)
