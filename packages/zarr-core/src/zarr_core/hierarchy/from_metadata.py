"""Create the objects of arrays and groups from metadata, which need not be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from zarr_core import names
from zarr_core.cache import Cache
from zarr_core.config import config as settings
from zarr_core.engine.resolved_metadata import resolve_cached
from zarr_core.engine.stored_array import StoredArray
from zarr_core.engine.stored_node import StoredGroup
from zarr_core.errors import NodeTypeError
from zarr_core.formats.lookup import format_named
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.node import validate_node
from zarr_core.hierarchy.store_path import resolve_store_path
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.names import located
from zarr_core.printable import listed
from zarr_core.registry.scope import override_extensions
from zarr_core.user_warning import warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.definition import JSON
    from zarr_core.engine.consolidated_view import ConsolidatedView
    from zarr_core.engine.resolved_metadata import ResolvedMetadata
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store

_warned: Cache[tuple[str, str], ResolvedMetadata] = Cache(256)


def node(
    store: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata,
    *,
    read_only: bool,
    use_consolidated: bool | None = None,
    config: Mapping[str, Any] | None = None,
    consolidated: ConsolidatedView | None = None,
) -> Array | Group:
    """Create the object for a node from its metadata."""
    validate_node(store, path, metadata)
    if isinstance(metadata, ArrayMetadata):
        write_empty_chunks, missing_is_error, order = array_settings(config)
        resolved = resolve_cached(metadata, store, path, write_empty_chunks)
        if resolved.may_be_misread:
            warn_of_wrong_values(metadata, resolved, store, path)
        stored = StoredArray(
            store, path, format_, metadata, resolved,
            missing_is_error=missing_is_error, consolidated=consolidated,
        )  # fmt: skip
        return Array(stored, read_only=read_only, result_order=order)
    if consolidated is None and (metadata.consolidated is not None or use_consolidated):
        from zarr_core.engine.consolidated_view import consolidated_view

        lookup = use_consolidated
        if lookup is None:
            lookup = read_only or store.read_only
        consolidated = consolidated_view(
            store, path, format_, metadata, lookup, required=bool(use_consolidated)
        )
    group = StoredGroup(store, path, format_, metadata, consolidated=consolidated)
    return Group(group, read_only=read_only)


def warn_of_wrong_values(
    metadata: ArrayMetadata, resolved: ResolvedMetadata, store: Store, path: str
) -> None:
    """Warn, once for each location, of an array whose values may be wrong."""
    location = (store.url, path)
    if _warned.get(location) is resolved:
        return
    _warned.keep(location, resolved)
    # For a fallback of the data type, there is a warning of its own.
    ignored = [
        definition for definition in resolved.skipped if definition is not metadata.data_type
    ]
    if ignored:
        names_ = listed([definition.name for definition in ignored])
        warn(
            f"{located(store, path)}: unknown extensions {names_} are ignored (must_understand is "
            "false); the array is read-only and its values may be wrong"
        )
    if resolved.fill_value_assumed:
        warn(
            f"{located(store, path)}: the fill value is null, which the data type "
            f"{metadata.data_type.name!r} does not permit; missing chunks are read as "
            f"{resolved.fill_value}, and other readers may reject the array"
        )


def member(group: Group, path: str, metadata: NodeMetadata) -> Array | Group:
    """Create the object for a node below a group.

    Parameters
    ----------
    group : Group
        The group.
    path : str
        Path of the node in the store.
    metadata : ArrayMetadata or GroupMetadata
        Its metadata.
    """
    stored = group.stored
    with override_extensions(stored.extensions):
        return node(
            stored.store, path, stored.format, metadata,
            read_only=group.read_only, consolidated=stored.consolidated,
        )  # fmt: skip


def stored_member(group: Group, name: str) -> Array | Group | None:
    """The stored member of a name; consolidated metadata is not used."""
    stored = group.stored
    path = names.join(stored.path, name)
    metadata = stored.format.read(stored.store, path)
    return None if metadata is None else member(group, path, metadata)


def array_settings(
    config: Mapping[str, Any] | None,
) -> tuple[bool, bool, Literal["C", "F"] | None]:
    """The settings of one array.

    Returns
    -------
    write_empty_chunks, missing_is_error : bool
        Whether to keep empty chunks, and whether missing ones are errors.
    order : {"C", "F"}, optional
        The order of results in memory; None for that of the chunks.

    Raises
    ------
    TypeError
        If a setting is unknown.
    ValueError
        If the value of a setting is invalid.
    """
    known = settings.settings
    if not config:
        return known.write_empty_chunks, known.missing_chunks == "error", None
    options = dict(config)
    write_empty_chunks = options.pop("write_empty_chunks", known.write_empty_chunks)
    missing = options.pop("missing_chunks", known.missing_chunks)
    order = options.pop("order", None)
    if options:
        raise TypeError(
            f"an array has no setting {', '.join(sorted(options))}; "
            "there are write_empty_chunks, missing_chunks, order"
        )
    if order not in ("C", "F", None):
        raise ValueError(f'the setting order must be "C" or "F", not {order!r}')
    if missing not in ("fill", "error"):
        raise ValueError(f'missing_chunks must be "fill" or "error", not {missing!r}')
    return bool(write_empty_chunks), missing == "error", order


def reopen(
    store: Store,
    path: str,
    zarr_format: str,
    document: JSON,
    read_only: bool,
    config: dict[str, Any],
    extensions: Mapping[str, Mapping[str, Any]],
    use_consolidated: bool = False,
) -> Array | Group:
    """Create a node from its pickled state; does not access the store."""
    with override_extensions(extensions):
        format_ = format_named(zarr_format)
        return node(
            store, path, format_, format_.from_json(document, located(store, path)),
            read_only=read_only, use_consolidated=use_consolidated, config=config,
        )  # fmt: skip


def array_from_metadata(
    store: StoreLike,
    metadata: ArrayMetadata,
    *,
    path: str | None = None,
    zarr_format: int | str = 3,
    read_only: bool = False,
    config: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
) -> Array:
    """Create an array object from metadata; does not access the store.

    For example to convert or repair arrays whose metadata is not stored, or differs.

    Parameters
    ----------
    store : store-like
        Where the chunks are: a path, a URL, a store, a mapping, an array or group.
    metadata : ArrayMetadata
        The metadata; it is neither compared nor stored.
    path : str, optional
        Path of the array in the store.
    zarr_format : int or str
        The format, which determines where chunks are stored.
    read_only : bool
        Whether the array is read-only.
    config, extensions : mapping, optional
        As for :func:`zarr_core.open`.

    Raises
    ------
    ExtensionError, MetadataValidationError, CodecChainError
        If the metadata is invalid or names unknown extensions.
    NodeTypeError
        If it is the metadata of a group.
    """
    with override_extensions(extensions):
        place, below = resolve_store_path(store, path, read_only=read_only)
        format_ = format_named(zarr_format)
        found = node(place, below, format_, metadata, read_only=read_only, config=config)
        if not isinstance(found, Array):
            raise NodeTypeError(located(place, below), "the metadata is that of a group")
        return found
