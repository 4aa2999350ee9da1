"""Metadata of arrays under the names of its format."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import zarr.codecs  # noqa: F401 - registers the codecs
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr_core.extension import Location, strictjson
from zarr_core.registry.resolve import format_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    import zarr_core

__all__ = ["MetadataView"]

_ONLY_IN_3 = ("dimension_names", "codecs", "chunk_key_encoding", "storage_transformers")


def document_of(node: zarr_core.Array | zarr_core.Group) -> dict[str, Any]:
    """Return the metadata document of a node, including its attributes."""
    # zarr-python changes documents; a copy of read-only metadata can be changed.
    document: Any = deepcopy(format_named(node.zarr_format).to_json(node.metadata))
    if node.zarr_format == 3:
        return dict(document)
    main = next(content for name, content in document.items() if name != ".zattrs")
    return {**main, "attributes": document.get(".zattrs", {})}


def metadata_of_document(document: Mapping[str, Any]) -> Any:
    """Return the metadata of the core for a document of an array with its attributes."""
    members: Any = strictjson.plain(strictjson.keep_nonfinite(document))
    attributes = members.pop("attributes", None) or {}
    parts: Any = {".zarray": members, ".zattrs": attributes}
    if document["zarr_format"] == 3:
        parts = {**members, "attributes": attributes}
    return format_named(document["zarr_format"]).from_json(parts, Location("metadata document"))


def array_metadata_of(document: Mapping[str, Any]) -> Any:
    """Return the metadata, of zarr-python's class, for a document of an array."""
    cls: Any = ArrayV3Metadata if document["zarr_format"] == 3 else ArrayV2Metadata
    try:
        return cls.from_dict(dict(document))
    except Exception as error:  # depends on the version of zarr-python
        raise ValueError(f"{type(error).__name__}: {error}") from error


def metadata_of_array(array: zarr_core.Array, attributes: dict[str, Any]) -> Any:
    """Return the metadata of an array: of zarr-python's class if it supports the array."""
    if array.zarr_format in (2, 3):
        try:
            metadata = array_metadata_of(document_of(array))
        except ValueError:  # an extension that zarr-python does not have
            pass
        else:
            object.__setattr__(metadata, "attributes", attributes)  # frozen
            return metadata
    return MetadataView(array, attributes)


class MetadataView:
    """The metadata of an array that zarr-python does not support.

    Version 2 lacks the attributes that only version 3 has, as programs distinguish them by
    ``dimension_names``.

    Parameters
    ----------
    node : zarr_core.Array
        The array.
    attributes : dict
        Its attributes.
    """

    def __init__(self, node: zarr_core.Array, attributes: dict[str, Any]) -> None:
        self._node = node
        self.attributes = attributes

    @property
    def zarr_format(self) -> int:
        """Version of the format."""
        return self._node.zarr_format

    @property
    def node_type(self) -> str:
        """Always ``"array"``."""
        return "array"

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata document, including the attributes."""
        return {**document_of(self._node), "attributes": self.attributes}

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
