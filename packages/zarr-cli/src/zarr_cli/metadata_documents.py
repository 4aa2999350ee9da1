"""The stored metadata documents of a node, valid or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import installed_extensions
from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import read_metadata
from zarr_core.formats.detect import read_node
from zarr_core.formats.lookup import format_named

if TYPE_CHECKING:
    from zarr_core import Store
    from zarr_core.extension import Format

# The first of these formats wins if a node has metadata of several formats.
_PREFERENCE = ("v3", "v2", "draft", "draft-2021", "n5", "v1")


def format_of(store: Store, path: str, zarr_format: int | str | None = None) -> Format:
    """Return the format of a node, also if its metadata is damaged."""
    try:
        return read_node(store, path, zarr_format)[0]
    except (MetadataError, ExtensionError):
        if zarr_format is not None:
            return format_named(zarr_format)
        for format_ in _formats():
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


def _formats() -> list[Format]:
    installed = {
        item.name for item in installed_extensions(load=False) if item.extension_point == "format"
    }
    known = [name for name in _PREFERENCE if name in installed]
    formats = []
    for name in (*known, *sorted(installed.difference(known))):
        try:
            formats.append(format_named(name))
        except ExtensionError:  # a broken extension does not affect the other formats
            continue
    return formats
