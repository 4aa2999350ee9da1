"""The documents of a node as they are stored, whether they are valid or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import installed_extensions
from zarr_core.extension import ExtensionError, MetadataError, format_named, read_node

if TYPE_CHECKING:
    from zarr_core import Store
    from zarr_core.extension import Format

# A node that has documents of several formats is of the first of these.
_PREFERENCE = ("v3", "v2", "draft", "draft-2021", "n5", "v1")


def format_of(store: Store, path: str, zarr_format: int | str | None = None) -> Format:
    """The format of a node, also if its document is damaged.

    Raises
    ------
    NodeNotFoundError
        If there is no node.
    """
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
    """The documents of a node by their keys, byte for byte."""
    found = {key: store.get(key) for key in format_.documents(path)}
    return {key: bytes(value) for key, value in found.items() if value is not None}


def _formats() -> list[Format]:
    installed = {item.name for item in installed_extensions(load=False) if item.kind == "format"}
    known = [name for name in _PREFERENCE if name in installed]
    formats = []
    for name in (*known, *sorted(installed.difference(known))):
        try:
            formats.append(format_named(name))
        except ExtensionError:  # broken or in conflict: of no concern to others
            continue
    return formats
