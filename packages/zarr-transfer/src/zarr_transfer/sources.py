"""Sources and destinations of copies."""

from __future__ import annotations

from os import PathLike
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

from zarr_core import Group
from zarr_core.errors import NodeExistsError, NodeTypeError
from zarr_core.extension import GroupMetadata, Location, NodeNotFoundError, Store
from zarr_core.tools import Node, StoreSnapshot, conflicting_format, format_of_new

from zarr_transfer.source_keys import chosen, nodes_of
from zarr_transfer.spec import CopySpec, NodeLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Array
    from zarr_core.extension import Format
    from zarr_core.tools import NodeMetadata

    from zarr_transfer.spec import CopyOptions


def check_source(source: object) -> None:
    """Raise NodeTypeError if the source is not an array or group, but, for example, a path."""
    if not isinstance(source, Node):
        given = brief(source)
        unopened = isinstance(source, str | PathLike | Store)
        advice = f"pass zarr_core.open({given})" if unopened else "pass what zarr_core.open returns"
        raise NodeTypeError(given, f"the source must be an array or a group; {advice}")


def read_source(source: Array | Group) -> NodeMetadata:
    """Return the stored metadata of the source; raise NodeNotFoundError if it was removed."""
    metadata = source.stored.format.read(source.store, source.path)
    if metadata is None:
        raise NodeNotFoundError(source.stored.location, "the node to copy has been removed")
    return metadata


def spec_of(
    source: Array | Group,
    store: Store,
    path: str,
    format_: Format | None,
    layout: Mapping[str, Any],
    *,
    overwrite: bool = False,
    snapshot: bool = False,
) -> CopySpec:
    """Return the specification of a copy.

    ``format_`` is the format of the parent group of the copy, if known.  ``overwrite`` ignores an
    existing node at the path.  ``snapshot`` reads the destination once for all checks.  Raises
    NodeExistsError if the source and the destination differ in their format and ``layout`` is empty.
    """
    own = source.stored.format
    origin = NodeLocation(source.store, source.path, own)
    seen = StoreSnapshot.before_creation(store, path, own, of_node=True) if snapshot else store
    if layout:
        name = layout.get("zarr_format", format_.name if format_ is not None else None)
        return CopySpec(origin, NodeLocation(store, path, format_of_new(seen, path, name), seen))
    other = format_ if format_ is not None and format_.name != own.name else None
    parent = path.rpartition("/")[0]
    for candidate in dict.fromkeys((parent, "") if overwrite else (path, parent, "")):
        if other is None and (path or not overwrite) and own.read(seen, candidate) is None:
            other = conflicting_format(seen, candidate, own)
    if other is not None:
        raise NodeExistsError(
            Location(store, path),
            f"{source.stored.location} is of the format {own.name}, which does not go into a hierarchy of "
            f"{other.name} as it is stored: bring it there with zarr_transfer.convert, "
            "or say how chunks are to be stored, as in "
            'chunks="auto", serializer="auto", to have them decoded',
        )
    return CopySpec(origin, NodeLocation(store, path, own, seen))


def copied_nodes(
    spec: CopySpec,
    source: Array | Group,
    metadata: NodeMetadata,
    options: CopyOptions,
    *,
    members_only: bool = False,
) -> list[tuple[str, NodeMetadata]]:
    """Return the paths of the copied nodes, parents first, each with the metadata of its copy."""
    # Without listing, members are known from consolidated metadata only.
    children = None
    if isinstance(source, Group) and not spec.source.store.supports_listing:
        children = source.stored.children
    nodes = nodes_of(
        spec, metadata, members_only=members_only, shallow=options.shallow, children=children
    )
    if options.only is not None:
        nodes = chosen(nodes, spec.source.path, options.only)
    return [(path, _of_copy(spec, path, node, options)) for path, node in nodes]


def _of_copy(
    spec: CopySpec, path: str, metadata: NodeMetadata, options: CopyOptions
) -> NodeMetadata:
    if metadata.nonstandard:
        metadata = metadata.replace(nonstandard=())
    if options.without_attrs:
        metadata = metadata.replace(attributes={})
    if not isinstance(metadata, GroupMetadata):
        return metadata
    if not spec.same_format:
        location = Location(spec.dest.store, spec.target(path))
        return spec.dest.format_.to_format(GroupMetadata(attributes=metadata.attributes), location)
    # Consolidated metadata would differ from the copied metadata, or the store needs none.
    differs = options.is_partial or options.without_attrs or options.layout
    if differs or not spec.dest.store.traits.supports_consolidated_metadata:
        return metadata.replace(consolidated=None)
    return metadata
