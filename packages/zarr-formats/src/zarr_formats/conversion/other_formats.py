"""Which formats other than one have a node at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import installed_extensions
from zarr_core.extension import ExtensionError, MetadataError, format_named

from zarr_formats.conversion.steps import Side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import Format


def formats_without(name: str) -> Iterator[Format]:
    """The installed formats but one."""
    for line in installed_extensions(load=False):
        if line.kind == "format" and line.name != name:
            try:
                yield format_named(line.name)
            except ExtensionError:  # broken: no other is affected
                continue


def has_node(format_: Format, side: Side, path: str = "") -> bool:
    """Whether there is a node of a format, damaged or not."""
    try:
        return Side(side.store, side.at(path), format_).read("") is not None
    except (MetadataError, ExtensionError):
        return True
