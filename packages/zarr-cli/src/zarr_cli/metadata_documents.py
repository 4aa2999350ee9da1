"""The stored metadata documents of a node, valid or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import read_metadata
from zarr_core.formats.detect import read_node
from zarr_core.registry.resolve import format_named, formats_without

if TYPE_CHECKING:
    from zarr_core import Store
    from zarr_core.extension import Format


def format_of(store: Store, path: str, zarr_format: int | str | None = None) -> Format:
    """Return the format of a node, also if its metadata is damaged."""
    try:
        return read_node(store, path, zarr_format)[0]
    except (MetadataError, ExtensionError):
        if zarr_format is not None:
            return format_named(zarr_format)
        # In the order in which formats are detected, if a node has metadata of several.
        for format_ in sorted(formats_without(""), key=lambda other: -other.detection_priority):
            try:
                if format_.read(store, path) is not None:
                    return format_
            except (MetadataError, ExtensionError):
                return format_
        raise


def stored_documents(store: Store, path: str, format_: Format) -> dict[str, bytes]:
    """Return the stored bytes of the metadata documents of a node by key."""
    documents = {key: read_metadata(store, key) for key in format_.documents(path)}
    return {key: value for key, value in documents.items() if value is not None}
