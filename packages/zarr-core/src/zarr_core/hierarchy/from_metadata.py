"""Arrays or groups from their metadata, whether or not the document is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.config import config as settings
from zarr_core.errors import NodeTypeError
from zarr_core.formats.detect import format_named
from zarr_core.hierarchy import cached
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.location import locate
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.names import located
from zarr_core.nodes.checking import check
from zarr_core.registry.scope import extensions as scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.consolidation import Consolidation
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


def node(
    store: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata,
    *,
    read_only: bool,
    use_consolidated: bool | None = None,
    config: Mapping[str, Any] | None = None,
    consolidation: Consolidation | None = None,
) -> Array | Group:
    """Make the object for a node whose metadata was read."""
    check(store, path, metadata)
    if isinstance(metadata, ArrayMetadata):
        keep_empty, missing_is_error = array_settings(config)
        return Array(
            store,
            path,
            format_,
            cached.binding(metadata, store, path, keep_empty),
            read_only=read_only,
            missing_is_error=missing_is_error,
            consolidation=consolidation,
        )
    group = Group(store, path, format_, metadata, read_only=read_only, consolidation=consolidation)
    if consolidation is None:
        group._consolidate_lookups(use_consolidated)
    return group


def array_settings(config: Mapping[str, Any] | None) -> tuple[bool, bool]:
    """Whether to keep empty chunks, and whether missing ones are errors, for one array.

    Raises
    ------
    TypeError
        If there is no such setting.
    """
    known = settings.settings
    if not config:
        return known.write_empty_chunks, known.missing_chunks == "error"
    options = dict(config)
    keep_empty = options.pop("write_empty_chunks", known.write_empty_chunks)
    missing = options.pop("missing_chunks", known.missing_chunks)
    options.pop("order", None)  # zarr-python's memory order of results; they are in C order here
    if options:
        raise TypeError(
            f"no setting of an array called {', '.join(sorted(options))}; "
            "there are write_empty_chunks, missing_chunks"
        )
    if missing not in ("fill", "error"):
        raise ValueError(f'missing_chunks must be "fill" or "error", not {missing!r}')
    return bool(keep_empty), missing == "error"


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
    """Make a node again from what was pickled of it; does not touch the store."""
    with scope(extensions):
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
    """The array that metadata describe at a place; the store is not asked.

    For those who read or write chunks whose document is not there yet, or is
    another one: to convert arrays, to repair them.

    Parameters
    ----------
    store : store-like
        Where the chunks are: a path, a URL, a store, a mapping, an array or group.
    metadata : ArrayMetadata
        What the array is taken to be; it is neither compared nor stored.
    path : str, optional
        Path of the array in the store.
    zarr_format : int or str
        The format that says where the chunks of an array lie.
    read_only : bool
        Whether changes through the array are refused.
    config, extensions : mapping, optional
        As for :func:`zarr_core.open`.

    Raises
    ------
    ExtensionError, MetadataValidationError, CodecChainError
        If the metadata cannot be understood.
    NodeTypeError
        If they are those of a group.
    """
    if extensions:
        with scope(extensions):
            return array_from_metadata(
                store, metadata, path=path, zarr_format=zarr_format, read_only=read_only,
                config=config,
            )  # fmt: skip
    place, below = locate(store, path, read_only=read_only)
    format_ = format_named(zarr_format)
    found = node(place, below, format_, metadata, read_only=read_only, config=config)
    if not isinstance(found, Array):
        raise NodeTypeError(located(place, below), "the metadata are those of a group")
    return found
