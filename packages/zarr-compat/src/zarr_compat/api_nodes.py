"""Create and open nodes for metadata: the module ``zarr.core.sync_group``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.extension import update_additional_fields

from zarr_compat.adapt import adapt, resolve_store
from zarr_compat.arguments import settings_of_array
from zarr_compat.errors import ContainsNodeError
from zarr_compat.group_metadata import GroupMetadata, ImplicitGroupMarker
from zarr_compat.metadata import metadata_of_document
from zarr_compat.open_nodes import create_group, open, open_group
from zarr_compat.storage import StorePath, join_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["create_hierarchy", "create_nodes", "create_rooted_hierarchy", "get_node"]


def get_node(store: Any, path: str, zarr_format: int) -> Any:
    """Open the array or group at a path."""
    mode = "r" if getattr(store, "read_only", False) else "r+"
    return open(store, mode=mode, path=path, zarr_format=zarr_format)


def create_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> Iterator[tuple[str, Any]]:
    """Create nodes for metadata by path, and the groups above them; yield paths and nodes.

    Parameters
    ----------
    store : store-like
        The store.
    nodes : mapping
        ``GroupMetadata``, ``ArrayV3Metadata`` or ``ArrayV2Metadata`` by path.
    overwrite : bool
        Whether existing nodes at these paths are replaced.

    Raises
    ------
    ValueError
        If the nodes have several formats, or an array is above another node.
    ContainsArrayError
        If a node exists and is not replaced.
    """
    whole = _with_ancestors(nodes)
    consolidated = [path for path, metadata in whole.items() if _is_consolidated(metadata)]
    if not overwrite:
        for path, metadata in whole.items():
            if not isinstance(metadata, ImplicitGroupMarker):
                _require_missing(store, path, metadata.zarr_format)
    for path, metadata in whole.items():
        implicit = isinstance(metadata, ImplicitGroupMarker)
        if not (implicit and _existing(store, path, metadata.zarr_format)):
            node = _create(store, path, metadata, overwrite)
            if consolidated and path == [*whole][-1]:  # all exist
                for above in consolidated:
                    zarr_core.consolidate_metadata(
                        get_node(store, above, node.core.zarr_format).core
                    )
            yield path, node


create_nodes = create_hierarchy


def create_rooted_hierarchy(
    *, store: Any, nodes: Mapping[str, Any], overwrite: bool = False
) -> Any:
    """Create nodes as :func:`create_hierarchy` does, and return the topmost."""
    paths = sorted((join_paths(path) for path in nodes), key=lambda path: path.count("/"))
    root = paths[0] if paths else ""
    if any(path != root and not path.startswith(f"{root}/" if root else "") for path in paths):
        raise ValueError("The input does not specify a root node. Add metadata at a common path.")
    if len(paths) > 1 and [path for path in paths if "/" not in path and path] == paths:
        raise ValueError("The input does not specify a root node. Add metadata at a common path.")
    return dict(create_hierarchy(store=store, nodes=nodes, overwrite=overwrite))[root]


def create_nodes_below(
    group: Any, nodes: Mapping[str, Any], overwrite: bool
) -> Iterator[tuple[str, Any]]:
    """Create nodes below a group; see :func:`create_hierarchy`."""
    base = group.core.path
    if any(not join_paths(path) for path in nodes):
        raise ValueError(
            "It is an error to use this method to create a root node. Remove the empty path, and "
            "use create_hierarchy of the module for a whole hierarchy."
        )
    placed = {join_paths(base, path): metadata for path, metadata in nodes.items()}
    for path, metadata in placed.items():
        if metadata.zarr_format != group.core.zarr_format:
            raise ValueError(
                "The zarr_format of the nodes must be the same as the parent group. The node "
                f"{path!r} has zarr_format {metadata.zarr_format}, the group {group.core.zarr_format}."
            )
    for path, node in create_hierarchy(store=group.store, nodes=placed, overwrite=overwrite):
        below = path.removeprefix(base).strip("/")
        if below:
            yield below, node


def _with_ancestors(nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata by normalized path with that of missing groups above, parents first."""
    all_nodes = {join_paths(path): metadata for path, metadata in nodes.items()}
    if len(all_nodes) < len(nodes):
        raise ValueError(f"The input has several keys for one path: {sorted(nodes)}")
    formats = {metadata.zarr_format for metadata in all_nodes.values()}
    if len(formats) > 1:
        keys = {
            number: [path for path in nodes if nodes[path].zarr_format == number]
            for number in (2, 3)
        }
        raise ValueError(
            "Got data with both Zarr v2 and Zarr v3 nodes, which is invalid. "
            f"The following keys map to Zarr v2 nodes: {keys[2]}. "
            f"The following keys map to Zarr v3 nodes: {keys[3]}."
            "Ensure that all nodes have the same Zarr format."
        )
    for path in list(all_nodes):
        parts = path.split("/") if path else []
        for count in range(len(parts)):
            above = "/".join(parts[:count])
            metadata = all_nodes.setdefault(above, ImplicitGroupMarker({}, *formats))
            if not isinstance(metadata, GroupMetadata):
                raise ValueError(
                    f"The node at {above!r} is an array, but a node was found at {path!r}. "
                    "Only Zarr groups can contain other nodes."
                )
    return dict(sorted(all_nodes.items(), key=lambda item: (item[0].count("/"), item[0])))


def _existing(store: Any, path: str, zarr_format: int) -> Any:
    """Return the node at a path, or None."""
    try:
        return get_node(store, path, zarr_format)
    except FileNotFoundError:
        return None


def _require_missing(store: Any, path: str, zarr_format: int) -> None:
    existing = _existing(store, path, zarr_format)
    if existing is not None:
        kind = "group" if isinstance(existing.metadata, GroupMetadata) else "array"
        raise ContainsNodeError(
            f"{kind} exists in store {store!r} at path {path!r}. Pass overwrite=True to replace it"
        )


def _create(store: Any, path: str, metadata: Any, overwrite: bool) -> Any:
    target = StorePath(store, path)
    if isinstance(metadata, ImplicitGroupMarker):
        return open_group(target, mode="a", zarr_format=metadata.zarr_format)
    if isinstance(metadata, GroupMetadata):
        group = create_group(
            target,
            zarr_format=metadata.zarr_format,
            attributes=metadata.attributes,
            overwrite=overwrite,
        )
        if metadata.extra_fields:
            update_additional_fields(group.core, metadata.extra_fields)
        return group
    zarr_format = metadata.zarr_format
    options: dict[str, Any] = {"zarr_format": zarr_format, "overwrite": overwrite}
    if zarr_format == 3:
        options = settings_of_array(options)
    location, options["path"], user_store = resolve_store(store, path)
    core_metadata = metadata_of_document(metadata.to_dict())
    return adapt(_create_array, user_store)(location, core_metadata, **options)


def _create_array(store: Any, metadata: Any, **options: Any) -> zarr_core.Array:
    """Create an array of complete metadata, which arguments of zarr-python would complete."""
    return zarr_core.create_array(store, metadata=metadata, **options)


def _is_consolidated(metadata: Any) -> bool:
    return getattr(metadata, "consolidated_metadata", None) is not None
