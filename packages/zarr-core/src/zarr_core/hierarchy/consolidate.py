"""Create, remove and check consolidated metadata.

Specification: v3.1, "Additional fields".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.errors import NodeTypeError, StoreCapabilityError
from zarr_core.formats.walk import walk
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.node import update_metadata
from zarr_core.hierarchy.open import open_group
from zarr_core.hierarchy.progress import reporting
from zarr_core.metadata.consolidated import ConsolidatedMetadata
from zarr_core.metadata.group import GroupMetadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.progress import Progress
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.store import Store
    from zarr_core.metadata.consolidated import Difference


def consolidate_metadata(
    store: StoreLike,
    path: str | None = None,
    zarr_format: int | str | None = None,
    *,
    metadata_key: str | None = None,
    progress: Callable[[Progress], object] | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Copy the metadata of all nodes below a group into the metadata of the group.

    Opening the group for reading then takes one read for the whole hierarchy.

    Parameters
    ----------
    store : store-like
        Location of the group.
    path : str, optional
        Path of the group in the store.
    zarr_format : int or str, optional
        Accept this format only.
    metadata_key : str, optional
        In version 2, the name of the key for the consolidated metadata, by default ``.zmetadata``.
        :class:`zarr_stores.consolidated.ConsolidatedMetadataStore` reads other keys.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True draws a bar (zarr-transfer).
    storage_options : mapping, optional
        Further arguments for the store of a URL.

    Returns
    -------
    Group
        The group, with its consolidated metadata.

    Raises
    ------
    NodeTypeError
        If the node is an array.
    StoreCapabilityError
        If the store needs no consolidated metadata, such as a session of Icechunk.
    ValueError
        If ``metadata_key`` is not a name that the format leaves free, or the format stores
        consolidated metadata in the document of the group.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> root = zarr.create_group("remote.zarr")
    >>> _ = root.create_array("t", shape=5)
    >>> _ = zarr.consolidate_metadata("remote.zarr")
    >>> list(zarr.open_consolidated("remote.zarr"))
    ['t']
    """
    group = _opened(store, path, zarr_format, storage_options)
    require_consolidating(group.store)
    if metadata_key is not None:
        return _consolidate_at(metadata_key, group, progress)
    # The lock excludes concurrent updates of the consolidated metadata.
    update_metadata(
        group,
        lambda metadata: metadata.replace(
            consolidated=ConsolidatedMetadata.from_documents(_documents(group, progress))
        ),
    )
    return open_group(group.store, "r+", path=group.path, zarr_format=zarr_format)


def require_consolidating(store: Store) -> None:
    """Raise a StoreCapabilityError if a store needs no consolidated metadata."""
    if not store.traits.supports_consolidated_metadata:
        raise StoreCapabilityError(
            "the store reads all metadata fast and keeps its versions; consolidated metadata would "
            "hide nodes that are created later. Open the group without it", store
        )  # fmt: skip


def _consolidate_at(
    key: str, group: Group, progress: Callable[[Progress], object] | bool | None
) -> Group:
    """Store consolidated metadata under a key that the format does not know."""
    format_ = group.stored.format
    plain: Any = format_.to_json(group.metadata.replace(consolidated=None))
    consolidated = ConsolidatedMetadata.from_documents(_documents(group, progress))
    documents: Any = format_.to_json(group.metadata.replace(consolidated=consolidated))
    added = documents.keys() - plain.keys()
    if "zarr_format" in plain or len(added) != 1:
        raise ValueError(
            f"{group.stored.location}: metadata_key is not supported, because the format "
            f"{format_.name!r} stores consolidated metadata in the document of the group"
        )
    (usual,) = added
    if "/" in key or (key != usual and key in format_.metadata_keys):
        raise ValueError(
            f"{group.stored.location}: metadata_key must be a name without slashes that is not the "
            f"name of a metadata document, not {key!r}"
        )
    prefix = f"{group.path}/" if group.path else ""
    group.store.set(prefix + key, strictjson.encode(documents[usual]))
    return group


def unconsolidate_metadata(
    store: StoreLike,
    path: str | None = None,
    zarr_format: int | str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Remove the consolidated metadata of a group, if there is any.

    Parameters as for :func:`consolidate_metadata`.

    Returns
    -------
    Group
        The group; its members are looked up in the store.

    Raises
    ------
    NodeTypeError
        If the node is an array.
    """
    group = _opened(store, path, zarr_format, storage_options)
    if group.metadata.consolidated is not None:
        update_metadata(group, lambda metadata: metadata.replace(consolidated=None))
    return open_group(group.store, "r+", path=group.path, zarr_format=zarr_format)


def check_consolidated(
    group: Group | StoreLike,
    *,
    progress: Callable[[Progress], object] | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Difference:
    """Compare the consolidated metadata of a group with the stored metadata.

    ``group`` is a group or its location, the other arguments are as for
    :func:`consolidate_metadata`.

    Returns
    -------
    Difference
        False in a boolean context if nothing differs.

    Raises
    ------
    ValueError
        If the group has no consolidated metadata.
    """
    if storage_options or not isinstance(group, Group):
        group = open_group(group, "r", use_consolidated=False, storage_options=storage_options)
    # The metadata in memory may be older than the stored metadata.
    metadata = group.stored.format.read(group.store, group.path)
    if not isinstance(metadata, GroupMetadata) or metadata.consolidated is None:
        raise ValueError(f"{group.stored.location} has no consolidated metadata")
    return metadata.consolidated.compare(_documents(group, progress))


def _opened(
    store: StoreLike,
    path: str | None,
    zarr_format: int | str | None,
    storage_options: Mapping[str, Any] | None,
) -> Group:
    try:
        return open_group(
            store, "r+", path=path, zarr_format=zarr_format, use_consolidated=False,
            storage_options=storage_options,
        )  # fmt: skip
    except NodeTypeError as error:
        reason = "is an array; only groups have consolidated metadata"
        raise NodeTypeError(error.location, reason) from None


def _documents(
    group: Group, progress: Callable[[Progress], object] | bool | None
) -> dict[str, JSON]:
    """The metadata documents of all nodes below a group, by relative path."""
    prefix = len(group.path) + 1 if group.path else 0
    with reporting(progress, group.path, None, "nodes") as reporter:

        def children(path: str) -> Iterator[tuple[str, NodeMetadata]]:
            for child in group.stored.format.children(group.store, path):
                reporter.advance(1)
                yield child

        return {
            path[prefix:]: group.stored.format.to_json(metadata)
            for path, metadata in walk(group.stored.format, group.store, group.path, None, children)
        }
