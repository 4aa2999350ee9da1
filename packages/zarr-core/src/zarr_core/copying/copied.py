"""What is copied, between which places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import NodeExistsError, NodeNotFoundError
from zarr_core.formats.detect import format_of_new, rival
from zarr_core.hierarchy.group import Group
from zarr_core.metadata.group import GroupMetadata
from zarr_core.names import located
from zarr_core.transfer.ends import Ends
from zarr_core.transfer.source import chosen, nodes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.copying.asked import Asked
    from zarr_core.hierarchy.array import Array
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


def read_source(source: Array | Group) -> NodeMetadata:
    """The metadata of what is copied, as it is stored now.

    Raises
    ------
    NodeNotFoundError
        If it is gone.
    """
    metadata = source._format.read(source.store, source.path)
    if metadata is None:
        raise NodeNotFoundError(source._where(), "the node to copy has been removed")
    return metadata


def ends_of(
    source: Array | Group,
    store: Store,
    path: str,
    format_: Format | None,
    layout: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> Ends:
    """Where a copy goes, in which format.

    Parameters
    ----------
    source : Array or Group
        What is copied.
    store, path
        Where to.
    format_ : Format or None
        That of the group which the copy becomes a member of, if it is known.
    layout : mapping
        Not empty if arrays are decoded, so that formats may differ.
    overwrite : bool
        Whether a node at the path itself does not matter.

    Raises
    ------
    NodeExistsError
        If they differ.
    """
    own = source._format
    if layout:
        asked = layout.get("zarr_format", format_.name if format_ is not None else None)
        return Ends(own, source.store, source.path, format_of_new(store, path, asked), store, path)
    other = format_ if format_ is not None and format_.name != own.name else None
    parent = path.rpartition("/")[0]
    for place in dict.fromkeys((parent, "") if overwrite else (path, parent, "")):
        if other is None and (path or not overwrite) and own.read(store, place) is None:
            other = rival(store, place, own)
    if other is not None:
        raise NodeExistsError(
            located(store, path),
            f"{source._where()} is of the format {own.name}, which does not go into a hierarchy of "
            f"{other.name} as it is stored: bring it there with zarr_formats.conversion.convert "
            "(pip install zarr-formats), or say how chunks are to be stored, as in "
            'chunks="auto", serializer="auto", to have them decoded',
        )
    return Ends(own, source.store, source.path, own, store, path)


def copied_nodes(
    ends: Ends,
    source: Array | Group,
    metadata: NodeMetadata,
    asked: Asked,
    *,
    members_only: bool = False,
) -> list[tuple[str, NodeMetadata]]:
    """Paths of what is copied, parents first, each with the metadata of its copy.

    Parameters
    ----------
    ends : Ends
        From where, where to.
    source, metadata
        The node, and what is stored of it now.
    asked : Asked
        What is left out.
    members_only : bool
        Without the node itself.
    """
    # Without listing, consolidated metadata are all that says what there is.
    listed = ends.source.supports_listing or not isinstance(source, Group)
    children = None if listed else source._children  # type: ignore[union-attr]  # it is a group
    nodes = nodes_of(
        ends, metadata, members_only=members_only, shallow=asked.shallow, children=children
    )
    if asked.only is not None:
        nodes = chosen(nodes, ends.source_path, asked.only)
    return [(path, _of_copy(ends, path, found, asked)) for path, found in nodes]


def _of_copy(ends: Ends, path: str, metadata: NodeMetadata, asked: Asked) -> NodeMetadata:
    if asked.without_attrs:
        metadata = metadata.replace(attributes={})
    if not isinstance(metadata, GroupMetadata):
        return metadata
    if ends.format_.name != ends.dest_format.name:
        where = located(ends.dest, ends.target(path))
        return ends.dest_format.express(GroupMetadata(attributes=metadata.attributes), where)
    # Copies of documents that are not copied, or not as they are, would be wrong.
    if asked.is_partial or asked.without_attrs or asked.layout:
        return metadata.replace(consolidated=None)
    return metadata
